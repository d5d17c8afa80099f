// The reward that a Harbor task's tests leave: reward.txt with one number (its name is `reward`), or reward.json with numbers by name.
// More is better; what counts as nothing left to fix stands in the task, never in the file.
import { z } from 'zod/mini';
import { parseStrictJson } from '../strict-json.ts';
import { type Adapter, type AdapterProblem, isProblem, problem, reportText, type Wanted } from './adapter.ts';
import { type Decimal, isAtLeast, parseDecimal, quantise } from './decimal.ts';

type Rule = { readonly name: string; readonly target: Decimal; readonly quantum: Decimal | null };

const maxRewards = 10_000;

/** `NAME`, `NAME >= TARGET`, or `NAME to TARGET by QUANTUM`. */
function parseFrom(from: string, kind: Wanted['kind']): Rule | { readonly error: string } {
  const found = /^(\S{1,200})(?: >= (\S+)| to (\S+) by (\S+))?$/.exec(from);
  if (found === null) return { error: 'is no rule for a reward; write NAME, NAME >= TARGET, or NAME to TARGET by QUANTUM' };
  const [, name = '', least, to, by] = found;
  const target = parseDecimal(least ?? to ?? '1');
  if (target === null) return { error: 'has a target that is no finite decimal number' };
  if (kind === 'binary')
    return to === undefined
      ? { name, target, quantum: null }
      : { error: 'has a quantum, but the obligation is binary; write NAME >= TARGET' };
  if (by === undefined) return { error: 'says no quantum; write NAME to TARGET by QUANTUM, with a quantum above the noise of the reward' };
  const quantum = parseDecimal(by);
  return quantum === null || quantum.digits <= 0n
    ? { error: 'has a quantum that is no finite decimal number above 0' }
    : { name, target, quantum };
}

const malformed = (message: string): AdapterProblem => problem('malformed', `the tool's report is no reward: ${message}`);

function readRewards(text: string): ReadonlyMap<string, number> | AdapterProblem {
  if (!/^[ \t\r\n]*\{/.test(text)) {
    const plain = text.length > 1_000 ? undefined : /^[ \t\r\n]*(\S+)[ \t\r\n]*$/.exec(text)?.[1];
    const value = plain === undefined || parseDecimal(plain) === null ? Number.NaN : Number(plain);
    return Number.isFinite(value) ? new Map([['reward', value]]) : malformed('it is no finite decimal number and no JSON object');
  }
  const json = parseStrictJson(new TextEncoder().encode(text));
  if (!json.ok) return malformed(json.error);
  const document = z.record(z.string(), z.number()).safeParse(json.value);
  if (!document.success) return malformed('one of its members is no finite number');
  const entries = Object.entries(document.data);
  if (entries.length > maxRewards) return malformed(`it has more than ${maxRewards} members`);
  return entries.every(([, value]) => Number.isFinite(value)) ? new Map(entries) : malformed('one of its members is no finite number');
}

export const harbor: Adapter = {
  name: 'harbor',
  tool: 'always',
  checkFrom: (from, { kind }) => {
    const rule = parseFrom(from, kind);
    return 'error' in rule ? rule.error : null;
  },
  run: (input) => {
    const text = reportText(input);
    if (typeof text !== 'string') return text;
    const rewards = readRewards(text);
    if (isProblem(rewards)) return rewards;
    const values: Record<string, number> = {};
    const details: Record<string, string> = {};
    for (const { key, cap, kind, from } of input.obligations) {
      const rule = parseFrom(from, kind);
      if ('error' in rule) return problem('infra', `the contract's from of ${key} ${rule.error}`);
      const reward = rewards.get(rule.name);
      const exact = reward === undefined ? null : parseDecimal(String(reward));
      if (exact === null) continue;
      const value = rule.quantum === null ? (isAtLeast(exact, rule.target) ? 0 : 1) : quantise(exact, rule.target, rule.quantum, cap);
      values[key] = value;
      if (value > 0) details[key] = `${rule.name} is ${reward}`;
    }
    // A script that ends with its tests' exit code is fine; one that fails and claims that nothing is left is not.
    if (input.exitCode !== 0) {
      if (input.exitCode === null || input.exitCode > 125) return problem('crash', `the tool ended with exit code ${input.exitCode}`);
      if (Object.values(values).every((value) => value === 0))
        return problem(
          'crash',
          `the tool ended with exit code ${input.exitCode}, but its rewards leave nothing to fix; they are not trusted`,
        );
    }
    const advisory = Object.fromEntries(
      [...rewards].filter(([name, value]) => input.advisory.includes(name) && (!Number.isInteger(value) || Number.isSafeInteger(value))),
    );
    return { values, details, advisory };
  },
};
