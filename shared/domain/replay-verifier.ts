// What running a verifier again says about a certified rank, coordinate by coordinate. Semantics, section 9 (V2).
import { ensure } from '../lib/assert.ts';
import type { Rank } from './verdict.ts';

/** `match`: the certified value every time. `drift`: another one, the same every time. `flake`: it differs between the new executions. */
export type CoordinateReplay = 'match' | 'drift' | 'flake';

/** Throws RangeError without a new rank, or when one has another number of coordinates than the certified one. */
export function compareRanks(certified: Rank, again: readonly Rank[]): CoordinateReplay[] {
  if (again.length === 0) throw new RangeError('nothing was measured again');
  for (const { length } of again)
    if (length !== certified.length) throw new RangeError(`a new rank has ${length} coordinates, the certified one ${certified.length}`);
  return certified.map((value, i) => {
    const values = again.map((rank) => ensure(rank[i], `coordinate ${i}`));
    if (values.some((v) => v !== values[0])) return 'flake';
    return values[0] === value ? 'match' : 'drift';
  });
}
