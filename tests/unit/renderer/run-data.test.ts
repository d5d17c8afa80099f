import { describe, expect, test } from 'vitest';
import type { ChainColumns, TransitionRow } from '#shared/contract/run.ts';
import { chunkRows, createRunStore, notLoaded, type RunSource, type RunStore } from '#renderer/state/run-data.ts';
import { createFakeJob } from '../../support/fake-engine/fake-job.ts';
import { fakeObligations } from '../../support/fake-engine/fake-run.ts';

const never = new AbortController().signal;

/** A source over an invented run that records what it was asked for. */
function sourceOf(count: number, known: number) {
  const job = createFakeJob({ count, seed: 3 }, 1, new Map());
  const asked: [number, number][] = [];
  const source: RunSource = {
    chain: () => {
      const all = job.chain();
      const shown = Array.from(all.transition).filter((n) => n <= known).length;
      const part: ChainColumns = { ...all, count: shown };
      return Promise.resolve(part);
    },
    rows: (from, to) => {
      asked.push([from, to]);
      return Promise.resolve(job.columns(from, to));
    },
    async *follow(after) {
      for (let n = after + 1; n <= count; n++) {
        const row = job.row(n);
        if (row) yield row;
      }
    },
  };
  return { job, asked, source };
}

const settled = (store: RunStore, from: number, to: number) =>
  new Promise<void>((resolve) => {
    const look = () => {
      for (let n = from; n <= to; n++) if (store.outcome(n) === notLoaded) return;
      stop();
      resolve();
    };
    const stop = store.subscribe(look);
    look();
  });

function expectRow(store: RunStore, row: TransitionRow) {
  expect(store.round(row.n)).toBe(row.round);
  expect(store.slot(row.n)).toBe(row.slot);
  expect(store.baseSeq(row.n)).toBe(row.baseSeq);
  expect(store.bundleSeq(row.n)).toBe(row.bundleSeq ?? -1);
  expect(store.duplicateOf(row.n)).toBe(row.duplicateOf ?? -1);
  const rank = store.rank(row.n);
  expect(rank && [...rank]).toEqual(row.rank);
}

describe('RunStore', () => {
  test('rows from chunks and rows from the stream read alike, and the chain grows with commits', async () => {
    const { job, source } = sourceOf(200, 118);
    const store = createRunStore('run', fakeObligations, source);
    await store.follow(118, never);
    expect(store.count).toBe(200);
    store.ensure(1, 200);
    await settled(store, 1, 200);
    for (let n = 1; n <= 200; n++) {
      const row = job.row(n);
      if (!row) throw new Error(`row ${n}`);
      expectRow(store, row);
    }
    const chain = job.chain();
    expect(store.chainLength).toBe(chain.count);
    for (let seq = 0; seq < chain.count; seq++) {
      expect(store.chainTransition(seq)).toBe(chain.transition[seq]);
      expect(store.chainId(seq)).toBe(chain.ids[seq]);
      expect([...store.chainRank(seq)]).toEqual([...chain.ranks.subarray(seq * store.m, (seq + 1) * store.m)]);
    }
  });

  test('asks for each chunk once, clipped to what is stored', async () => {
    const { source, asked } = sourceOf(chunkRows + 500, chunkRows + 500);
    const store = createRunStore('run', fakeObligations, source);
    await store.follow(chunkRows + 500, never);
    store.ensure(10, 20);
    store.ensure(1, 4000);
    await settled(store, 1, chunkRows);
    store.ensure(chunkRows, chunkRows + 1);
    store.ensure(chunkRows + 400, 99_999);
    await settled(store, chunkRows + 1, chunkRows + 500);
    expect(asked).toEqual([
      [1, chunkRows],
      [chunkRows + 1, chunkRows + 500],
    ]);
  });

  test('what is not loaded says so', async () => {
    const { source } = sourceOf(50, 50);
    const store = createRunStore('run', fakeObligations, source);
    expect(store.outcome(1)).toBe(notLoaded);
    expect(store.rank(1)).toBeNull();
    expect(store.chainLength).toBe(0);
    await store.follow(50, never);
    expect(store.outcome(0)).toBe(notLoaded);
    expect(store.outcome(51)).toBe(notLoaded);
    expect([...store.baseRank(1)]).toEqual([...store.chainRank(0)]);
  });

  test('a chunk that fails can be asked for again', async () => {
    const { source } = sourceOf(20, 20);
    let fails = true;
    const store = createRunStore('run', fakeObligations, {
      ...source,
      rows: (from, to) => (fails ? Promise.reject(new Error('gone')) : source.rows(from, to)),
    });
    await store.follow(20, never);
    store.ensure(1, 20);
    await expect.poll(() => store.error?.message).toBe('gone');
    fails = false;
    store.ensure(1, 20);
    await settled(store, 1, 20);
    expect(store.error).toBeNull();
  });

  test('a snapshot is the same object until something changes, and its numbers stay', async () => {
    const { source, job } = sourceOf(30, 10);
    let grow = () => {};
    const waits = new Promise<void>((resolve) => {
      grow = resolve;
    });
    const store = createRunStore('run', fakeObligations, {
      ...source,
      async *follow(after, signal) {
        for await (const row of source.follow(after, signal)) {
          if (row.n === 21) await waits;
          yield row;
        }
      },
    });
    const empty = store.snapshot();
    const following = store.follow(10, never);
    await expect.poll(() => store.count).toBe(20);
    const early = store.snapshot();
    expect(store.snapshot()).toBe(early);
    expect([empty.count, empty.chainLength]).toEqual([0, 0]);
    grow();
    await following;
    const late = store.snapshot();
    expect([early.count, late.count]).toEqual([20, 30]);
    expect(late.chainLength).toBe(job.chain().count);
    expect(early.outcome(30)).toBe(late.outcome(30));
    store.ensure(1, 10);
    await settled(store, 1, 10);
    expect(store.snapshot()).not.toBe(late);
  });
});
