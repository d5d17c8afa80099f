// From the tests in a report to the values of obligations: one rule for every format that knows single tests.
import { type AdapterInput, type AdapterProblem, type AdapterResult, clamp, cutText, problem } from './adapter.ts';
import { parseTestPattern, testId } from './test-pattern.ts';

export type Outcome = 'passed' | 'skipped' | 'failed';

export type TestCase = {
  /** As `testId` makes it. */
  readonly id: string;
  readonly outcome: Outcome;
  /** First words about a failure. */
  readonly message: string;
  /** A suite, or a test with subtests that failed with one of them: counted nowhere, found only by its exact id. */
  readonly container: boolean;
};

/** Tests of one report; more is malformed. */
export const maxTests = 200_000;
const maxShown = 20;
const maxMessage = 300;

const order: Readonly<Record<Outcome, number>> = { passed: 0, skipped: 1, failed: 2 };

/** Collects tests; of several with one id the worst counts. */
export type TestCollector = {
  add(name: string, outcome: Outcome, message?: string, container?: boolean): void;
  tests(): ReadonlyMap<string, TestCase>;
  /** More than `maxTests`, what came after was not kept. */
  overflown(): boolean;
};

export function createCollector(): TestCollector {
  const tests = new Map<string, TestCase>();
  let overflown = false;
  return {
    add: (name, outcome, message = '', container = false) => {
      const id = testId(name);
      const known = tests.get(id);
      if (known === undefined && tests.size >= maxTests) {
        overflown = true;
        return;
      }
      const next = { id, outcome, message: cutText(message.trim(), maxMessage), container };
      if (known === undefined) tests.set(id, next);
      else {
        const worse = order[outcome] > order[known.outcome] ? next : known;
        tests.set(id, { ...worse, container: known.container && container });
      }
    },
    tests: () => tests,
    overflown: () => overflown,
  };
}

/** Which exit codes of a tool go with failing tests; 0 goes with none, and nothing else goes with anything. */
export type ExitRule = (exitCode: number) => boolean;

/** Exit code and tests must tell the same story. A report that its tool contradicts is not trusted, in either direction. */
function checkExit(exitCode: number | null, failed: number, fits: ExitRule): AdapterProblem | null {
  if (exitCode === null) return problem('infra', 'the adapter needs a tool that ran');
  if (exitCode === 0)
    return failed > 0
      ? problem('crash', `the tool ended with exit code 0, but ${failed} tests of its report failed; it is not trusted`)
      : null;
  if (!fits(exitCode)) return problem('crash', `the tool ended with exit code ${exitCode}, which says that it did not do its work`);
  return failed === 0
    ? problem('crash', `the tool ended with exit code ${exitCode}, but no test of its report failed; it is not trusted`)
    : null;
}

/**
 * The values of all obligations. A test violates when it failed, or was skipped where the task does not allow it. Binary: any violation
 * is 1. Count: their number. Tests that a `min` misses are violations; an obligation without a single test is missing. A report in which
 * no test ran is malformed whatever it says.
 */
export function rankTests(collected: TestCollector, input: AdapterInput, fits: ExitRule): AdapterResult {
  if (collected.overflown()) return problem('malformed', `the tool's report has more than ${maxTests} tests`);
  const all = [...collected.tests().values()];
  const leaves = all.filter(({ container }) => !container);
  const count = (outcome: Outcome) => leaves.filter((test) => test.outcome === outcome).length;
  const [passed, skipped, failed] = [count('passed'), count('skipped'), count('failed')];
  const contradiction = checkExit(input.exitCode, all.filter(({ outcome }) => outcome === 'failed').length, fits);
  if (contradiction !== null) return contradiction;
  if (passed + failed === 0)
    return problem(
      'malformed',
      leaves.length === 0 ? "the tool's report has no test; nothing ran" : `all ${leaves.length} tests were skipped; nothing ran`,
    );

  const named = (id: string): TestCase[] => {
    const test = collected.tests().get(id);
    return test === undefined ? [] : [test];
  };
  const values: Record<string, number> = {};
  const details: Record<string, string> = {};
  for (const { key, cap, kind, from } of input.obligations) {
    const pattern = parseTestPattern(from);
    if ('error' in pattern) return problem('infra', `the contract's from of ${key} ${pattern.error}`);
    const found = pattern.exact === null ? leaves.filter(({ id }) => pattern.matches(id)) : named(pattern.exact);
    if (found.length === 0) continue;
    const violations = found.filter(({ outcome }) => outcome === 'failed' || (outcome === 'skipped' && !pattern.skippedOk));
    const absent = Math.max(0, pattern.min - found.length);
    const value = violations.length + absent;
    values[key] = clamp(kind === 'binary' ? Math.min(value, 1) : value, cap);
    if (value > 0) details[key] = describe(violations, found.length, absent);
  }
  const known: Readonly<Record<string, number>> = { tests: leaves.length, passed, skipped, failed };
  const advisory = Object.fromEntries(Object.entries(known).filter(([key]) => input.advisory.includes(key)));
  return { values, details, advisory };
}

function describe(violations: readonly TestCase[], found: number, absent: number): string {
  const lines = violations
    .slice(0, maxShown)
    .map(({ id, outcome, message }) => `${cutText(id, 200)}: ${outcome}${message === '' ? '' : `: ${message}`}`);
  if (violations.length > maxShown) lines.push(`and ${violations.length - maxShown} more`);
  if (absent > 0) lines.unshift(`${absent} of ${found + absent} tests are missing`);
  return lines.join('\n');
}
