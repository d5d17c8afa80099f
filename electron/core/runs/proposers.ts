// Which proposers this version has, and how one is made: from a task for a new run, from the header for a resumed one.
import { z } from 'zod';
import { RpcError } from '#shared/contract/errors.ts';
import type { ProposerKind, RunHeader } from '#shared/domain/header.ts';
import type { Proposer } from '#electron/proposers/proposer.ts';
import { createSearchProposer, SearchOperator, searchOperators } from '#electron/proposers/search.ts';

const known = z.enum(['search']);
type Known = z.infer<typeof known>;

const Operators = z.array(SearchOperator).min(1);

/** Throws bad_input for a kind that this version does not have. */
export function knownProposer(kind: ProposerKind): Known {
  const parsed = known.safeParse(kind);
  if (parsed.success) return parsed.data;
  throw new RpcError('bad_input', `the proposer "${kind}" does not exist in this version; it has: ${known.options.join(', ')}`, {
    field: 'proposer',
  });
}

/** The proposer of a new run. Throws bad_input for a task without operators, or with some that this version does not know. */
export function proposerFor(_kind: Known, task: { readonly path: string; readonly operators: readonly string[] }): Proposer {
  const operators = Operators.safeParse(task.operators);
  if (!operators.success) {
    const names = searchOperators.map(({ name }) => name).join(', ');
    throw new RpcError('bad_input', `the search needs at least one operator, of these: ${names}`, {
      file: `${task.path}/task.toml`,
      field: 'search.operators',
    });
  }
  return createSearchProposer({ operators: operators.data });
}

/** The proposer that a run's header names. Throws incompatible when this version would propose something else under that name. */
export function proposerOf({ proposer }: Pick<RunHeader, 'proposer'>): Proposer {
  const operators = z.strictObject({ operators: Operators }).safeParse(proposer.options);
  if (proposer.kind === 'search' && operators.success) {
    const made = createSearchProposer(operators.data);
    if (made.version === proposer.version) return made;
  }
  throw new RpcError(
    'incompatible',
    `the run was started with the proposer "${proposer.kind}" version ${proposer.version}, which this version of Pawl cannot go on with`,
  );
}
