// A column store that is filled from an invented run or from a few rows written by hand.
import type { TransitionRow } from '#shared/contract/run.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import { createRunStore, type RunStore } from '#renderer/state/run-data.ts';
import { createFakeJob, type FakeJobOptions } from '../../support/fake-engine/fake-job.ts';
import { fakeObligations } from '../../support/fake-engine/fake-run.ts';

const never = new AbortController().signal;

/** Every transition of an invented run, loaded. */
export async function loadedRun(options: FakeJobOptions): Promise<RunStore> {
  const job = createFakeJob(options, 1, new Map());
  const store = createRunStore(job.id, fakeObligations, {
    chain: () => Promise.resolve({ ...job.chain(), count: 1 }),
    rows: (from, to) => Promise.resolve(job.columns(from, to)),
    async *follow(after) {
      for (let n = after + 1; ; n++) {
        const row = job.row(n);
        if (!row) return;
        yield row;
      }
    },
  });
  await store.follow(0, never);
  return store;
}

export type HandRow = Pick<TransitionRow, 'outcome' | 'rank' | 'baseSeq'> & { readonly round?: number; readonly duplicateOf?: number };

/** A run of two obligations a and b from hand-written rows; the genesis rank is `genesis`. */
export async function handRun(genesis: readonly [number, number], rows: readonly HandRow[]): Promise<RunStore> {
  const two = fakeObligations.slice(0, 2).map((o, i) => ({ ...o, key: i === 0 ? 'a' : 'b', title: i === 0 ? 'First' : 'Second' }));
  let seq = 0;
  const full = rows.map((row, i): TransitionRow => {
    if (row.outcome === 'commit') seq++;
    return {
      n: i + 1,
      round: row.round ?? i + 1,
      slot: 0,
      outcome: row.outcome,
      base: '0'.repeat(64),
      baseSeq: row.baseSeq,
      tree: null,
      rank: row.rank,
      verdictSource: 'none',
      verdictKind: null,
      code: null,
      bundle: row.outcome === 'commit' ? 'f'.repeat(64) : null,
      bundleSeq: row.outcome === 'commit' ? seq : null,
      duplicateOf: row.duplicateOf ?? null,
      cost: { charged: noAmounts(), overshoot: noAmounts() },
    };
  });
  const store = createRunStore('run', two, {
    chain: () => Promise.resolve({ count: 1, m: 2, ids: ['0'.repeat(64)], transition: Int32Array.of(-1), ranks: Int32Array.from(genesis) }),
    rows: () => Promise.reject(new Error('nothing is stored')),
    async *follow() {
      yield* full;
    },
  });
  await store.follow(0, never);
  return store;
}
