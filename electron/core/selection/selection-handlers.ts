// The procedures that choose among runs.
import type { selectionContract } from '#shared/contract/selection.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import { noSuchRun } from '../runs/run-views.ts';
import { selectRuns, type SelectionDeps } from './select-runs.ts';

export function createSelectionHandlers({
  closing,
  ...deps
}: SelectionDeps & {
  /** Aborted when the engine closes. */
  readonly closing: AbortSignal;
}): Handlers<typeof selectionContract> {
  return {
    'run.select': (input, { signal }) => selectRuns(deps, input, AbortSignal.any([signal, closing])),
    'run.selections': async ({ run }) => {
      if ((await deps.store.getSummary(run)) === null) throw noSuchRun(run);
      return deps.store.getSelections(run);
    },
  };
}
