// The certified chain as the timeline needs it: potentials and where each bundle was committed, searched by transition.
import type { RunData } from '#renderer/state/run-data.ts';
import { sumOf } from './summary.ts';

export class Chain {
  #data: RunData;
  readonly #potentials: number[] = [];

  constructor(data: RunData) {
    this.#data = data;
    this.update(data);
  }

  /** Takes in bundles that were committed since the last call; `data` is a later snapshot of the same run. */
  update(data: RunData): void {
    this.#data = data;
    for (let seq = this.#potentials.length; seq < data.chainLength; seq++) this.#potentials.push(sumOf(data.chainRank(seq)));
  }

  get length(): number {
    return this.#potentials.length;
  }

  /** Potential of bundle seq; of genesis it is the highest of all, since every commit lowers it. 0 while nothing is loaded. */
  potential(seq: number): number {
    return this.#potentials[seq] ?? 0;
  }

  /** Transition that committed bundle seq; 0 for genesis, so that the staircase begins before the first. */
  at(seq: number): number {
    return seq <= 0 ? 0 : this.#data.chainTransition(seq);
  }

  /** The bundle that was the head when transition n began: the last one committed before n. -1 while nothing is loaded. */
  headBefore(n: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(middle) < n) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
