// A scripted search that makes slow, uneven progress: what a draw proposes depends on the draw and the base only, as with a real proposer.
import { createRandom } from '#shared/lib/random.ts';
import type { ProposeContext } from '#electron/proposers/proposer.ts';
import type { Scripted } from './scripted-proposer.ts';
import { State } from './scripted-verifier.ts';

/** Mixes steps in all directions with garbage, duplicates, missing verdicts and trees that come back. Ranks stay within 0..cap. */
export function randomScript(seed: number, cap: number): (context: Pick<ProposeContext, 'draw' | 'base'>) => Scripted {
  return ({ draw, base }) => {
    const random = createRandom(['random-script', seed, draw]);
    const file = base.find(({ path }) => path === 'state.json');
    const state = State.parse(JSON.parse(new TextDecoder().decode(file?.bytes)));
    const kind = random.int(20);
    if (kind === 0) return 'garbage';
    if (kind === 1) return 'silence';
    if (kind === 2) return 'base';
    if (kind === 3) return { state: { noVerdict: 'crash', salt: random.int(3) } };
    if (kind === 4) return { files: { 'protected.txt': 'mine' } };
    if (!('rank' in state)) return 'base';
    const rank = state.rank.map((r) => Math.max(0, Math.min(cap, r + random.int(4) - 2)));
    // Few salts, so that trees come back within a round and over rounds.
    return { state: { rank, salt: random.int(2) } };
  };
}
