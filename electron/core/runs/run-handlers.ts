// The procedures `run.*` of the contract.
import { RpcError } from '#shared/contract/errors.ts';
import { maxColumns, type runContract } from '#shared/contract/run.ts';
import { RunId } from '#shared/domain/ids.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import type { RunJobs } from './run-jobs.ts';
import { followTransitions, noSuchRun, overlay, type ViewDeps, watchRun } from './run-views.ts';

/** Characters of a run id that a prefix needs at least, `run_` not counted. */
const minPrefix = 8;

export function createRunHandlers(views: ViewDeps, jobs: RunJobs): Handlers<typeof runContract> {
  const { store } = views;
  const known = async (run: RunId): Promise<void> => {
    if ((await store.getSummary(run)) === null) throw noSuchRun(run);
  };
  return {
    'run.list': async (input) => {
      const { runs, more } = await store.listRuns(input);
      return { runs: runs.map((row) => overlay(views, row)), more };
    },
    'run.get': async ({ run }) => {
      const row = await store.getRun(run);
      if (row === null) throw noSuchRun(run);
      return overlay(views, row);
    },
    'run.resolve': async ({ prefix }) => ({ run: await resolveRun(views, prefix) }),
    'run.watch': ({ run }, { signal }) => watchRun(views, run, signal),
    'run.header': (input) => jobs.header(input),
    'run.start': (input, { signal }) => jobs.start(input, signal),
    'run.stop': ({ run }) => jobs.stop(run),
    'run.resume': ({ run, server }) => jobs.resume(run, server),
    'run.propose': (input) => jobs.propose(input),
    'run.transitions': (input, { signal }) => followTransitions(views, input, signal),
    'run.page': async (input) => {
      await known(input.run);
      return store.pageTransitions(input);
    },
    'run.transition': async ({ run, n }) => {
      const detail = await store.getTransition({ run, n });
      if (detail !== null) return detail;
      await known(run);
      throw new RpcError('not_found', `run ${run} has no transition ${n}`, { field: 'n' });
    },
    'run.columns': async (input) => {
      if (input.to < input.from) throw new RpcError('bad_input', `to (${input.to}) is before from (${input.from})`, { field: 'to' });
      const span = Math.ceil((input.to - input.from + 1) / input.resolution);
      if (span > maxColumns) {
        throw new RpcError(
          'bad_input',
          `${span} rows or buckets were asked for, at most ${maxColumns} are given at once; use a coarser resolution or a shorter range`,
          { field: 'to' },
        );
      }
      await known(input.run);
      return store.getColumns(input);
    },
    'run.chain': async ({ run }) => {
      await known(run);
      return store.getChain(run);
    },
    'run.bundle': async ({ run, seq }) => {
      const found = await store.getBundle({ run, seq });
      if (found !== null) return found;
      await known(run);
      throw new RpcError('not_found', `run ${run} has no bundle ${seq}`, { field: 'seq' });
    },
  };
}

const howToName = `give ${minPrefix} or more characters of the id, as "pawl runs" lists it`;

/** The run whose id begins so. Throws bad_input for a prefix that is too short or ambiguous, not_found where there is none. */
export async function resolveRun({ store }: Pick<ViewDeps, 'store'>, prefix: string): Promise<RunId> {
  const bare = (prefix.startsWith('run_') ? prefix.slice('run_'.length) : prefix).toLowerCase();
  if (!/^[0-9a-f-]+$/.test(bare)) throw new RpcError('bad_input', `${JSON.stringify(prefix)} is no beginning of a run id: ${howToName}`);
  if (bare.length < minPrefix) throw new RpcError('bad_input', `${JSON.stringify(prefix)} is too short: ${howToName}`);
  const found = await store.resolveRun(`run_${bare}`);
  const [first, second] = found;
  if (first === undefined) throw new RpcError('not_found', `no run begins with ${JSON.stringify(prefix)}; "pawl runs" lists what is there`);
  if (second !== undefined)
    throw new RpcError('bad_input', `more than one run begins with ${JSON.stringify(prefix)} (${first}, ${second}); give more characters`);
  return RunId.parse(first);
}
