// One run as typed columns in memory, so that stepping, words and drawing never wait for the engine.
// Chunks of 4,096 transitions are fetched when somebody looks at them; a live run appends to the last one.
import type { ChainColumns, RowColumns, TransitionRow } from '#shared/contract/run.ts';
import type { Obligation } from '#shared/domain/obligation.ts';
import { outcomes } from '#shared/domain/transition.ts';

/** What the columns of one run are read from. `rows` answers transitions from..to inclusive at resolution 1. */
export type RunSource = {
  chain(): Promise<ChainColumns>;
  rows(from: number, to: number): Promise<RowColumns>;
  /** Rows with n > after, in order; with a live run it goes on until the run stops. */
  follow(after: number, signal: AbortSignal): AsyncIterable<TransitionRow>;
};

/**
 * Read side of the store. `n` counts from 1, `seq` from 0 (genesis). Reading what is not loaded gives the value named with each function.
 * React works on snapshots: another object with every change, whose numbers stay as they were; the columns behind its functions are shared,
 * grow in place and never take back what they held.
 */
export type RunData = {
  readonly run: string;
  /** Number of obligations. */
  readonly m: number;
  readonly obligations: readonly Obligation[];
  /** Number of transitions known to exist; not all of them need be loaded. */
  readonly count: number;
  /** Index in `outcomes`; 255 = not loaded. */
  outcome(n: number): number;
  /** 0 = not loaded. */
  round(n: number): number;
  slot(n: number): number;
  /** Sequence number of the certified bundle it was tried on. */
  baseSeq(n: number): number;
  /** -1 unless it committed. */
  bundleSeq(n: number): number;
  /** -1 unless it is a duplicate; 0 = of the head itself. */
  duplicateOf(n: number): number;
  /** A view of m values; null = no rank, or not loaded. */
  rank(n: number): Int32Array | null;
  /** Rank of the bundle it was tried on (zeros while the chain is not loaded). */
  baseRank(n: number): Int32Array;
  /** Bundles in the certified chain, genesis included; 0 before anything is certified. */
  readonly chainLength: number;
  chainRank(seq: number): Int32Array;
  /** Number of the transition that committed it; -1 for genesis. */
  chainTransition(seq: number): number;
  /** Loads the chunks that hold from..to, if they are not loaded or on their way. */
  ensure(from: number, to: number): void;
};

/** The owner's side: what fills the store. Its own numbers are those of this moment. */
export type RunStore = RunData & {
  /** The run as it is now: the same object until something changes. */
  snapshot(): RunData;
  /** Id of a bundle of the chain; '' where it is not known. */
  chainId(seq: number): string;
  /** Called after every change, at most once per frame. Returns the function that stops it. */
  subscribe(listener: () => void): () => void;
  /** Loads the chain and follows the run from transition `count` on; resolves when the stream has ended, rejects when it broke or was aborted. */
  follow(count: number, signal: AbortSignal): Promise<void>;
  /** Why the last chunk could not be loaded; null when all went well. */
  readonly error: Error | null;
};

export const chunkRows = 4096;
export const notLoaded = 255;
const frameMs = 16;

type Chunk = {
  state: 'empty' | 'loading' | 'loaded';
  readonly outcome: Uint8Array;
  readonly round: Uint32Array;
  readonly slot: Uint16Array;
  readonly baseSeq: Uint32Array;
  readonly bundleSeq: Int32Array;
  readonly duplicateOf: Int32Array;
  /** Grows with the rows in use: at 10,000 obligations a whole chunk would be 160 MB. */
  ranks: Int32Array;
};

const createChunk = (): Chunk => ({
  state: 'empty',
  outcome: new Uint8Array(chunkRows).fill(notLoaded),
  round: new Uint32Array(chunkRows),
  slot: new Uint16Array(chunkRows),
  baseSeq: new Uint32Array(chunkRows),
  bundleSeq: new Int32Array(chunkRows).fill(-1),
  duplicateOf: new Int32Array(chunkRows).fill(-1),
  ranks: new Int32Array(0),
});

/** An empty store for one run; nothing is fetched before `follow` or `ensure`. */
export function createRunStore(run: string, obligations: readonly Obligation[], source: RunSource): RunStore {
  const m = obligations.length;
  const noRank = new Int32Array(m);
  const chunks: Chunk[] = [];
  const chainRanks: Int32Array[] = [];
  const chainTransitions: number[] = [];
  const chainIds: string[] = [];
  const listeners = new Set<() => void>();
  let snapshot: RunData | null = null;
  let count = 0;
  let streamedFrom = 0;
  let error: Error | null = null;
  let scheduled = false;

  const changed = () => {
    snapshot = null;
    if (scheduled) return;
    scheduled = true;
    setTimeout(() => {
      scheduled = false;
      for (const listener of listeners) listener();
    }, frameMs);
  };

  const chunkAt = (n: number): Chunk => {
    const index = Math.floor((n - 1) / chunkRows);
    while (chunks.length <= index) chunks.push(createChunk());
    return chunks[index] ?? createChunk();
  };
  const growRanks = (chunk: Chunk, rows: number) => {
    if (chunk.ranks.length >= rows * m) return;
    const larger = new Int32Array(Math.min(chunkRows, Math.max(rows, 64, (chunk.ranks.length / m) * 2)) * m).fill(-1);
    larger.set(chunk.ranks);
    chunk.ranks = larger;
  };

  const setChain = (seq: number, transition: number, rank: Int32Array, id: string) => {
    chainIds[seq] = id;
    chainRanks[seq] = rank;
    chainTransitions[seq] = transition;
  };

  const loadChunk = async (index: number, chunk: Chunk) => {
    const from = index * chunkRows + 1;
    const to = Math.min((index + 1) * chunkRows, streamedFrom);
    chunk.state = 'loading';
    try {
      const columns = await source.rows(from, to);
      const used = columns.count;
      chunk.outcome.set(columns.outcome);
      chunk.round.set(columns.round);
      chunk.slot.set(columns.slot);
      chunk.baseSeq.set(columns.baseSeq);
      chunk.bundleSeq.set(columns.bundleSeq);
      chunk.duplicateOf.set(columns.duplicateOf);
      growRanks(chunk, used);
      chunk.ranks.set(columns.ranks);
      chunk.state = 'loaded';
      error = null;
    } catch (cause) {
      chunk.state = 'empty';
      error = cause instanceof Error ? cause : new Error(String(cause));
    }
    changed();
  };

  const append = (row: TransitionRow) => {
    const chunk = chunkAt(row.n);
    const i = (row.n - 1) % chunkRows;
    chunk.outcome[i] = outcomes.indexOf(row.outcome);
    chunk.round[i] = row.round;
    chunk.slot[i] = row.slot;
    chunk.baseSeq[i] = row.baseSeq;
    chunk.bundleSeq[i] = row.outcome === 'commit' ? (row.bundleSeq ?? -1) : -1;
    chunk.duplicateOf[i] = row.duplicateOf ?? -1;
    growRanks(chunk, i + 1);
    if (row.rank) {
      chunk.ranks.set(row.rank, i * m);
      if (row.outcome === 'commit' && row.bundleSeq !== null) setChain(row.bundleSeq, row.n, Int32Array.from(row.rank), row.bundle ?? '');
    }
    count = Math.max(count, row.n);
    changed();
  };

  const read = (n: number, column: (chunk: Chunk) => ArrayLike<number>, missing: number): number => {
    const chunk = n < 1 ? undefined : chunks[Math.floor((n - 1) / chunkRows)];
    return (chunk && column(chunk)[(n - 1) % chunkRows]) ?? missing;
  };
  const baseSeq = (n: number) => read(n, (c) => c.baseSeq, 0);

  const columns = {
    run,
    m,
    obligations,
    outcome: (n: number) => read(n, (c) => c.outcome, notLoaded),
    round: (n: number) => read(n, (c) => c.round, 0),
    slot: (n: number) => read(n, (c) => c.slot, 0),
    baseSeq,
    bundleSeq: (n: number) => read(n, (c) => c.bundleSeq, -1),
    duplicateOf: (n: number) => read(n, (c) => c.duplicateOf, -1),
    rank(n: number) {
      const chunk = n < 1 ? undefined : chunks[Math.floor((n - 1) / chunkRows)];
      if (!chunk) return null;
      const at = ((n - 1) % chunkRows) * m;
      return (chunk.ranks[at] ?? -1) < 0 ? null : chunk.ranks.subarray(at, at + m);
    },
    baseRank: (n: number) => chainRanks[baseSeq(n)] ?? noRank,
    chainRank: (seq: number) => chainRanks[seq] ?? noRank,
    chainTransition: (seq: number) => chainTransitions[seq] ?? -1,
    ensure(from: number, to: number) {
      const last = Math.min(to, streamedFrom);
      for (let index = Math.floor((Math.max(1, from) - 1) / chunkRows); index * chunkRows < last; index++) {
        const chunk = chunkAt(index * chunkRows + 1);
        if (chunk.state === 'empty') void loadChunk(index, chunk);
      }
    },
  };

  return {
    ...columns,
    get count() {
      return count;
    },
    get chainLength() {
      return chainRanks.length;
    },
    get error() {
      return error;
    },
    chainId: (seq) => chainIds[seq] ?? '',
    snapshot: () => (snapshot ??= { ...columns, count, chainLength: chainRanks.length }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async follow(known, signal) {
      // Rows up to `known` come from chunks, later ones from the stream: one boundary, no gap and no row twice.
      // After a broken stream the boundary stays where the first one began, and the stream goes on where it broke.
      if (count === 0) {
        count = known;
        streamedFrom = known;
      }
      const chain = await source.chain();
      for (let seq = 0; seq < chain.count; seq++)
        setChain(seq, chain.transition[seq] ?? -1, chain.ranks.subarray(seq * m, (seq + 1) * m), chain.ids[seq] ?? '');
      changed();
      for await (const row of source.follow(count, signal)) append(row);
    },
  };
}
