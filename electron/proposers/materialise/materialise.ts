// The text of an answer as a candidate tree, by the edit format that the run's header names.
import { z } from 'zod';
import type { TreeFile } from '#shared/domain/tree.ts';
import { assertNever } from '#shared/lib/assert.ts';
import type { Result } from '#shared/lib/result.ts';
import type { MaterialiseError } from '../proposer.ts';
import { applyFullFiles } from './full-files.ts';
import { applySearchReplace } from './search-replace.ts';
import { applyStructured } from './structured.ts';
import { edited } from './tree-edit.ts';
import { applyUnifiedDiff } from './unified-diff.ts';

export const EditFormat = z.enum(['files', 'diff', 'search-replace', 'json']);
export type EditFormat = z.infer<typeof EditFormat>;

/** Raised whenever an answer could give another tree than before; stands in the run's header. */
export const editVersion = 1;

/**
 * The tree that `answer` (without reasoning) makes of `base`. Pure. `no_candidate` where it names nothing to change, `apply_failed` where
 * it cannot be applied whole: then nothing of it counts.
 */
export function materialiseAnswer(
  format: EditFormat,
  answer: string,
  base: readonly TreeFile[],
): Result<readonly TreeFile[], MaterialiseError> {
  switch (format) {
    case 'files':
      return edited(base, 'the answer has no <file path="…"> block', (tree) => applyFullFiles(answer, tree));
    case 'diff':
      return edited(base, 'the answer has no diff', (tree) => applyUnifiedDiff(answer, tree));
    case 'search-replace':
      return edited(base, 'the answer has no SEARCH block', (tree) => applySearchReplace(answer, tree));
    case 'json':
      return edited(base, 'the answer changes nothing', (tree) => applyStructured(answer, tree));
    default:
      return assertNever(format, 'edit format');
  }
}
