// Replays and relations over the invented runs: what each run was told to find is found, and remembered as the engine would.
import { RpcError } from '#shared/contract/errors.ts';
import type { BundleReplay, DecisionReplayItem, replayContract } from '#shared/contract/replay.ts';
import type { TransitionRow } from '#shared/contract/run.ts';
import { firstDivergence } from '#shared/domain/replay-divergence.ts';
import { ensure } from '#shared/lib/assert.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import type { FakeJob } from './fake-job.ts';
import { fakeSha } from './fake-run.ts';

type Remembered = { readonly at: string; readonly transitions: number; readonly mismatches: number; readonly missing: number };
type Reverifications = Awaited<ReturnType<Handlers<typeof replayContract>['replay.reverifications']>>;
type Deps = {
  readonly jobs: () => readonly FakeJob[];
  readonly beforeReplay: (() => Promise<void>) | undefined;
  readonly beforeVerify: (() => Promise<void>) | undefined;
};

const slices = 4;
const at = '2031-05-12T10:30:00.000Z';

export function fakeReplays({ jobs, beforeReplay, beforeVerify }: Deps): Handlers<typeof replayContract> {
  const replayed = new Map<string, Remembered>();
  const executions = new Map<string, Reverifications>();
  const jobOf = (run: string): FakeJob => {
    const job = jobs().find(({ id }) => id === run);
    if (!job) throw new RpcError('not_found', `no run is called ${run}`);
    return job;
  };

  async function* decisions(run: string, signal: AbortSignal): AsyncGenerator<DecisionReplayItem, void, void> {
    const job = jobOf(run);
    const { transitions, rounds, counts } = job.summary();
    const { mismatches = [], missing = [] } = job.options;
    for (let i = 0; i <= slices; i++) {
      await beforeReplay?.();
      if (signal.aborted) throw new RpcError('cancelled', 'cancelled');
      if (i < slices) yield { kind: 'progress', transitions: Math.floor((transitions * i) / slices), of: transitions };
    }
    replayed.set(run, { at, transitions, mismatches: mismatches.length, missing: missing.length });
    yield {
      kind: 'report',
      report: {
        run,
        ok: mismatches.length + missing.length === 0,
        transitions,
        rounds,
        bundles: counts.commit + 1,
        events: transitions + rounds + 3,
        verdicts: transitions - counts.duplicate,
        mismatchCount: mismatches.length,
        mismatches: [...mismatches],
        missingCount: missing.length,
        missing: [...missing],
        recorded: { aborted: counts.aborted, host: counts.no_verdict, ancestors: job.origin === null ? 0 : 1 },
        open: job.live,
        ms: 412,
      },
    };
  }

  const measure = (run: string, seq: number): BundleReplay => {
    const job = jobOf(run);
    const { bundle } = job.bundle(seq);
    const result = job.options.again ?? 'match';
    const named = { seq, bundle: bundle.id, tree: bundle.tree, result };
    if (result === 'no_verdict')
      return { ...named, message: 'verifier_timeout: no report within 20,000 ms', coordinates: [], ranks: [bundle.rank, null] };
    const ranks = [0, 1].map((i) =>
      bundle.rank.map((value, o) => (o === 1 && (result === 'drift' || (result === 'flake' && i === 1)) ? value + 2 : value)),
    );
    return {
      ...named,
      message: null,
      ranks,
      coordinates: job.detail().contractBody.obligations.map(({ key }, o) => ({
        key,
        result: o === 1 ? result : 'match',
        certified: ensure(bundle.rank[o], key),
        again: ranks.map((rank) => ensure(rank[o], key)),
      })),
    };
  };

  type Way = readonly { readonly job: FakeJob; readonly left: number }[];
  const wayOf = (run: string, left = Number.POSITIVE_INFINITY): Way => {
    const job = jobOf(run);
    return [...(job.origin === null ? [] : wayOf(job.origin.run, job.origin.seq)), { job, left }];
  };
  async function* attempts(way: Way, from: number, seq: number): AsyncGenerator<TransitionRow & { readonly run: string }, void, void> {
    for (const [i, { job, left }] of way.slice(from).entries()) {
      for (let n = 1; ; n++) {
        const row = job.row(n);
        if (!row) break;
        if (row.baseSeq >= (i === 0 ? seq : 0) && row.baseSeq < left) yield { ...row, run: job.id };
      }
    }
  }
  const side = (attempt: (TransitionRow & { readonly run: string }) | null) => {
    if (attempt === null) return null;
    const { run, ...row } = attempt;
    return { run, row };
  };

  return {
    'replay.decisions': ({ run }, { signal }) => decisions(run, signal),
    'replay.status': ({ run }) => {
      const found = replayed.get(run);
      if (!found) return { state: 'never', at: null, transitions: 0, mismatches: 0, missing: 0 };
      const same = jobOf(run).summary().transitions === found.transitions;
      return { ...found, state: found.mismatches + found.missing > 0 ? 'differs' : same ? 'matches' : 'grown' };
    },
    'replay.verifier': () => {
      throw new RpcError('unavailable', 'this fake measures one bundle at a time');
    },
    'replay.verifyBundle': async ({ run, seq }, { signal }) => {
      await beforeVerify?.();
      if (signal.aborted) throw new RpcError('cancelled', 'cancelled');
      const result = measure(run, seq);
      const key = `${run} ${seq}`;
      const made = result.ranks.map((rank, i) => ({
        id: fakeSha(`${key} ${executions.get(key)?.length ?? 0} ${i}`),
        startedAt: at,
        durationMs: 38 + i,
        result: rank === null ? 'verifier_timeout' : 'ranked',
        rank,
      }));
      executions.set(key, [...(executions.get(key) ?? []), ...made]);
      return result;
    },
    'replay.reverifications': ({ run, seq }) => executions.get(`${run} ${seq}`) ?? [],
    'run.resolveBundle': () => Promise.reject(new RpcError('not_found', 'this fake names no bundles')),
    'run.relatives': ({ run }) => {
      const { origin } = jobOf(run);
      return {
        parent: origin && { run: origin.run, seq: origin.seq, id: origin.id },
        branches: jobs().flatMap((job) => (job.origin?.run === run ? [{ run: job.id, seq: job.origin.seq, id: job.origin.id }] : [])),
      };
    },
    'run.divergence': async ({ a, b }) => {
      const [left, right] = [wayOf(a), wayOf(b)];
      const shared = left.findLastIndex(({ job }, i) => job === right[i]?.job);
      const common = left[shared];
      if (!common) return { common: null, first: null };
      const seq = Math.min(common.left, right[shared]?.left ?? 0);
      const found = await firstDivergence(attempts(left, shared, seq), attempts(right, shared, seq));
      return {
        common: { run: common.job.id, seq, id: common.job.originAt(seq).id },
        first: found && { index: found.index, a: side(found.a), b: side(found.b), fields: [...found.fields] },
      };
    },
  };
}
