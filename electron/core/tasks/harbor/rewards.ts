// Rewards of a Harbor task as obligations. A reward is better when it is greater; how much of it is missing is what is left to fix.
import type { ObligationEntry } from '../task-source.ts';

/** One reward from 0 to 1, in hundredths: a binary one is 0 or 100. */
const usual = ['reward to 1 by 0.01'];

const keyOf = (name: string): string => name.replace(/[^A-Za-z0-9_.:/[\]-]/g, '_').slice(0, 200);

/** The greatest value that an obligation can have where rewards are not below 0: the quanta from 0 to the target. */
function capOf(target: string, quantum: string): number {
  const steps = Number(target) / Number(quantum);
  // What is no number is refused when the adapter looks at the rule.
  return Number.isFinite(steps) ? Math.min(Math.max(Math.ceil(steps - 1e-9), 1), 2_147_483_647) : 1;
}

/** The obligations of `rules` in the notation of the adapter `harbor` (electron/verifiers/adapters); null is one reward from 0 to 1. */
export function rewardObligations(rules: readonly string[] | null): ObligationEntry[] {
  return (rules ?? usual).map((from) => {
    const name = from.split(' ', 1)[0] ?? '';
    const counted = /^\S+ to (\S+) by (\S+)$/.exec(from);
    if (counted === null) {
      const title = from.includes(' ') ? from : `${from} >= 1`;
      return { key: keyOf(name), title: title.slice(0, 500), kind: 'binary', cap: 1, from };
    }
    const [, target = '', quantum = ''] = counted;
    const title = `${name}: what is missing to ${target}, in steps of ${quantum}`;
    return { key: keyOf(name), title: title.slice(0, 500), kind: 'ordinal', cap: capOf(target, quantum), from };
  });
}
