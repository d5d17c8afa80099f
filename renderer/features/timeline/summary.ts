// Merged transitions for drawing from far away: leaves of 16 transitions under levels that are 4 times coarser each, so that a window over a
// million transitions costs as much as one over a thousand. Built once, then only the leaves that were not complete are looked at again.
import { outcomes } from '#shared/domain/transition.ts';
import type { RunData } from '#renderer/state/run-data.ts';

const leaf = 16;
const fan = 4;
const kinds = outcomes.length;
/** Outcomes whose candidates had a rank of their own that was not the head's: regression, incomparable, not selected. */
export const floating: readonly number[] = [
  outcomes.indexOf('regression'),
  outcomes.indexOf('incomparable'),
  outcomes.indexOf('not_selected'),
];
/** Outcomes that were decided by a rank. An unstable result may carry one too, but it says nothing that can be relied on. */
export const decided: ReadonlySet<number> = new Set(
  (['commit', 'tie', 'regression', 'incomparable', 'not_selected'] as const).map((o) => outcomes.indexOf(o)),
);
const none = -1;

/** What is known of a stretch of transitions. Counts leave out hidden outcomes and what is not loaded. */
export type Bucket = {
  /** Count per outcome code. */
  readonly outcomes: Uint32Array;
  /** Lowest and highest potential per entry of `floating`, as pairs; -1 where there is none. */
  readonly potentials: Int32Array;
  /** Transitions that made obligation i better, worse than it was at their own base. */
  readonly better: Uint32Array;
  readonly worse: Uint32Array;
};

export const emptyBucket = (m: number): Bucket => ({
  outcomes: new Uint32Array(kinds),
  potentials: new Int32Array(floating.length * 2).fill(none),
  better: new Uint32Array(m),
  worse: new Uint32Array(m),
});

function clearBucket(bucket: Bucket): void {
  bucket.outcomes.fill(0);
  bucket.potentials.fill(none);
  bucket.better.fill(0);
  bucket.worse.fill(0);
}

/** Sum of a rank. */
export function sumOf(rank: Int32Array): number {
  let sum = 0;
  for (const v of rank) sum += v;
  return sum;
}

function widen(into: Int32Array, pair: number, low: number, high: number): void {
  const a = into[pair * 2] ?? none;
  if (a === none || low < a) into[pair * 2] = low;
  if (high > (into[pair * 2 + 1] ?? none)) into[pair * 2 + 1] = high;
}

/** Adds transition n to a bucket. False when it, or the bundle it was tried on, is not loaded. */
function addTransition(bucket: Bucket, data: RunData, n: number, hidden: ReadonlySet<number>): boolean {
  const code = data.outcome(n);
  if (code >= kinds) return false;
  // Before the chain is there, changes would be counted against zeros.
  if (data.baseSeq(n) >= data.chainLength) return false;
  if (hidden.has(code)) return true;
  bucket.outcomes[code] = (bucket.outcomes[code] ?? 0) + 1;
  const rank = decided.has(code) ? data.rank(n) : null;
  if (!rank) return true;
  const base = data.baseRank(n);
  for (let i = 0; i < data.m; i++) {
    const change = (rank[i] ?? 0) - (base[i] ?? 0);
    if (change < 0) bucket.better[i] = (bucket.better[i] ?? 0) + 1;
    else if (change > 0) bucket.worse[i] = (bucket.worse[i] ?? 0) + 1;
  }
  const pair = floating.indexOf(code);
  if (pair >= 0) {
    const sum = sumOf(rank);
    widen(bucket.potentials, pair, sum, sum);
  }
  return true;
}

type Level = { buckets: number; outcomes: Uint32Array; potentials: Int32Array; better: Uint32Array; worse: Uint32Array };

const makeLevel = (buckets: number, m: number): Level => ({
  buckets,
  outcomes: new Uint32Array(buckets * kinds),
  potentials: new Int32Array(buckets * floating.length * 2).fill(none),
  better: new Uint32Array(buckets * m),
  worse: new Uint32Array(buckets * m),
});

function growLevel(level: Level, buckets: number, m: number): Level {
  if (level.buckets >= buckets) return level;
  const larger = makeLevel(Math.max(buckets, level.buckets * 2), m);
  larger.outcomes.set(level.outcomes);
  larger.potentials.set(level.potentials);
  larger.better.set(level.better);
  larger.worse.set(level.worse);
  return larger;
}

/** Merges bucket `at` of a level into `into`. */
function mergeFrom(into: Bucket, level: Level, at: number, m: number): void {
  for (let k = 0; k < kinds; k++) into.outcomes[k] = (into.outcomes[k] ?? 0) + (level.outcomes[at * kinds + k] ?? 0);
  for (let i = 0; i < m; i++) {
    into.better[i] = (into.better[i] ?? 0) + (level.better[at * m + i] ?? 0);
    into.worse[i] = (into.worse[i] ?? 0) + (level.worse[at * m + i] ?? 0);
  }
  for (let p = 0; p < floating.length; p++) {
    const low = level.potentials[(at * floating.length + p) * 2] ?? none;
    if (low !== none) widen(into.potentials, p, low, level.potentials[(at * floating.length + p) * 2 + 1] ?? low);
  }
}

function store(level: Level, at: number, bucket: Bucket, m: number): void {
  level.outcomes.set(bucket.outcomes, at * kinds);
  level.potentials.set(bucket.potentials, at * floating.length * 2);
  level.better.set(bucket.better, at * m);
  level.worse.set(bucket.worse, at * m);
}

/** The merged run. Made for one set of hidden outcomes; a new filter is a new summary (36 ms a million transitions). */
export class Summary {
  #data: RunData;
  readonly #hidden: ReadonlySet<number>;
  readonly #levels: Level[] = [];
  /** Leaves whose 16 transitions were all loaded when they were summed. Transitions never change, so these are final. */
  #complete = new Uint8Array(0);
  readonly #scratch: Bucket;

  constructor(data: RunData, hidden: ReadonlySet<number>) {
    this.#data = data;
    this.#hidden = hidden;
    this.#scratch = emptyBucket(data.m);
    this.update(data);
  }

  /** Takes in what was loaded or appended since the last call; `data` is a later snapshot of the same run. */
  update(data: RunData): void {
    this.#data = data;
    const { count, m } = data;
    const leaves = Math.ceil(count / leaf);
    if (this.#complete.length < leaves) {
      const complete = new Uint8Array(Math.max(leaves, this.#complete.length * 2));
      complete.set(this.#complete);
      this.#complete = complete;
    }
    for (let l = 0, size = leaves; l === 0 || size > 1; l++, size = Math.ceil(size / fan)) {
      this.#levels[l] = growLevel(this.#levels[l] ?? makeLevel(0, m), size, m);
    }
    let first = leaves;
    let last = -1;
    const leafLevel = this.#levels[0];
    if (!leafLevel) return;
    for (let b = 0; b < leaves; b++) {
      if (this.#complete[b] === 1) continue;
      clearBucket(this.#scratch);
      let loaded = 0;
      const to = Math.min(count, (b + 1) * leaf);
      for (let n = b * leaf + 1; n <= to; n++) if (addTransition(this.#scratch, data, n, this.#hidden)) loaded++;
      if (loaded === 0) continue;
      store(leafLevel, b, this.#scratch, m);
      if (loaded === leaf) this.#complete[b] = 1;
      first = Math.min(first, b);
      last = b;
    }
    for (let l = 1; l < this.#levels.length && last >= 0; l++) {
      const below = this.#levels[l - 1];
      const level = this.#levels[l];
      if (!below || !level) break;
      first = Math.floor(first / fan);
      last = Math.floor(last / fan);
      for (let b = first; b <= last; b++) {
        clearBucket(this.#scratch);
        for (let child = b * fan; child < Math.min((b + 1) * fan, below.buckets); child++) mergeFrom(this.#scratch, below, child, m);
        store(level, b, this.#scratch, m);
      }
    }
  }

  /**
   * Fills `into` with the transitions of bucket `index` at `resolution` transitions a bucket: index * resolution + 1 to (index + 1) * resolution.
   * `resolution` is a power of two.
   */
  read(into: Bucket, index: number, resolution: number): void {
    clearBucket(into);
    if (resolution < leaf) {
      const to = Math.min(this.#data.count, (index + 1) * resolution);
      for (let n = index * resolution + 1; n <= to; n++) addTransition(into, this.#data, n, this.#hidden);
      return;
    }
    let l = 0;
    let size = leaf;
    while (size * fan <= resolution && l + 1 < this.#levels.length) {
      size *= fan;
      l++;
    }
    const level = this.#levels[l];
    if (!level) return;
    const parts = resolution / size;
    for (let b = index * parts; b < Math.min((index + 1) * parts, level.buckets); b++) mergeFrom(into, level, b, this.#data.m);
  }
}
