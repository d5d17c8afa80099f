// How runs are related: bundles by name, ancestors, and where two runs that come from one bundle begin to differ.
import type { RunDivergence } from '#shared/contract/replay.ts';
import { RpcError } from '#shared/contract/errors.ts';
import type { TransitionRow } from '#shared/contract/run.ts';
import type { RunId } from '#shared/domain/ids.ts';
import { firstDivergence } from '#shared/domain/replay-divergence.ts';
import type { BundlePlace, Store } from '#electron/store/api.ts';
import { noSuchRun } from '../runs/run-views.ts';

const minPrefix = 8;

/** `RUN/SEQ`, or the beginning of a bundle's id. Throws bad_input or not_found. */
export async function resolveBundle(
  store: Pick<Store, 'resolveBundle' | 'getBundle'>,
  resolveRun: (prefix: string) => Promise<RunId>,
  ref: string,
): Promise<BundlePlace> {
  const field = { field: 'ref' };
  const place = /^(.+)\/(\d{1,9})$/.exec(ref);
  if (place !== null) {
    const run = await resolveRun(place[1] ?? '');
    const seq = Number(place[2]);
    const found = await store.getBundle({ run, seq });
    if (found === null) throw new RpcError('not_found', `run ${run} has no bundle ${seq}`, field);
    return { run, seq, id: found.bundle.id };
  }
  const prefix = ref.toLowerCase();
  if (!/^[0-9a-f]{1,64}$/.test(prefix))
    throw new RpcError('bad_input', `${JSON.stringify(ref)} names no bundle; give RUN/SEQ or the beginning of its id`, field);
  if (prefix.length < minPrefix)
    throw new RpcError('bad_input', `${JSON.stringify(ref)} is too short: give at least ${minPrefix} characters of the bundle's id`, field);
  const [first, second] = await store.resolveBundle(prefix);
  if (first === undefined) throw new RpcError('not_found', `no bundle begins with ${JSON.stringify(ref)}`, field);
  if (second !== undefined)
    throw new RpcError(
      'bad_input',
      `more than one bundle begins with ${JSON.stringify(ref)} (${first.id}, ${second.id}); give more characters`,
      field,
    );
  return first;
}

/** A run as a path from its oldest ancestor: each run up to the bundle that the next one left it at; null = to its end. */
type Path = readonly { readonly run: RunId; readonly left: { readonly seq: number; readonly id: string } | null }[];

async function pathOf(store: Pick<Store, 'getRelatives' | 'getSummary'>, run: RunId): Promise<Path> {
  if ((await store.getSummary(run)) === null) throw noSuchRun(run);
  const path: Path[number][] = [{ run, left: null }];
  for (let at = run; ;) {
    const { parent } = await store.getRelatives(at);
    if (parent === null) return path.reverse();
    path.push({ run: parent.run, left: { seq: parent.seq, id: parent.id } });
    at = parent.run;
  }
}

type Attempt = TransitionRow & { readonly run: RunId };

const pageSize = 200;

// Attempts of a path after bundle `seq` of its run number `from`: those of that run which were tried on it or later, then its branches'.
async function* attemptsAfter(
  store: Pick<Store, 'pageTransitions'>,
  path: Path,
  from: number,
  seq: number,
): AsyncGenerator<Attempt, void, void> {
  for (const [i, { run, left }] of path.slice(from).entries()) {
    const first = i === 0 ? seq : 0;
    const last = left?.seq ?? Number.POSITIVE_INFINITY;
    for (let after = 0; ;) {
      const page = await store.pageTransitions({ run, after, limit: pageSize });
      for (const row of page) {
        // Those of the round that led to the bundle where the path leaves the run belong to the path.
        if (row.baseSeq >= first && row.baseSeq < last) yield { ...row, run };
        after = row.n;
      }
      if (page.length < pageSize || (page.at(-1)?.baseSeq ?? 0) >= last) break;
    }
  }
}

/** The last bundle that two runs both come from, and the first attempt after it in which they differ. Throws not_found. */
export async function findDivergence(
  store: Pick<Store, 'getRelatives' | 'getSummary' | 'pageTransitions' | 'getBundle'>,
  a: RunId,
  b: RunId,
): Promise<RunDivergence> {
  const [left, right] = await Promise.all([pathOf(store, a), pathOf(store, b)]);
  let shared = -1;
  while (left[shared + 1] !== undefined && left[shared + 1]?.run === right[shared + 1]?.run) {
    shared++;
    if (left[shared]?.left?.seq !== right[shared]?.left?.seq) break;
  }
  const run = left[shared]?.run;
  if (run === undefined) return { common: null, first: null };
  const seqs = [left[shared]?.left?.seq, right[shared]?.left?.seq].filter((seq) => seq !== undefined);
  // The same run twice: its head.
  const seq = seqs.length === 0 ? ((await store.getSummary(run))?.head?.seq ?? 0) : Math.min(...seqs);
  const common = await store.getBundle({ run, seq });
  if (common === null) throw new RpcError('not_found', `run ${run} has no bundle ${seq}`);
  const found = await firstDivergence(attemptsAfter(store, left, shared, seq), attemptsAfter(store, right, shared, seq));
  const side = (attempt: Attempt | null) => {
    if (attempt === null) return null;
    const { run: of, ...row } = attempt;
    return { run: of, row };
  };
  return {
    common: { run, seq, id: common.bundle.id },
    first: found === null ? null : { index: found.index, a: side(found.a), b: side(found.b), fields: [...found.fields] },
  };
}
