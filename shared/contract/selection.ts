// Choosing among several finished runs of one task.
import { z } from 'zod';
import { Count, RunId } from '#shared/domain/ids.ts';
import { NamedSelection } from '#shared/domain/selection.ts';
import { query, stream } from './procedure.ts';

export const SelectionItem = z.discriminatedUnion('kind', [
  /** Of the cross-check: the tests of one run on one tree. */
  z.strictObject({ kind: z.literal('progress'), done: Count, of: Count }),
  z.strictObject({ kind: z.literal('selection'), selection: NamedSelection }),
]);
export type SelectionItem = z.infer<typeof SelectionItem>;

export const selectionContract = {
  /**
   * Orders finished runs by potential, rank in obligation order, cross-check, tree and their order here, and keeps the record. The
   * cross-check is made where several tie, the task declares one and `crosscheck` says so; otherwise the record says why there is none.
   * It changes no run. Fails with conflict for a run that is live, or runs of another contract or seed. Cancelled, it keeps nothing.
   */
  'run.select': stream(z.strictObject({ runs: z.array(RunId).min(1).max(1_000), crosscheck: z.boolean() }), SelectionItem),
  /** The choices that a run took part in, oldest first. */
  'run.selections': query(z.strictObject({ run: RunId }), z.array(NamedSelection)),
} as const;
