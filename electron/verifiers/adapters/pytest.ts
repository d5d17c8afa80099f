// pytest through its --junitxml (families xunit1 and xunit2). Exit codes: 0 all passed, 1 some failed; 2 interrupted, 3 internal error,
// 4 wrong usage and 5 nothing collected are no measurement. An expected failure (xfail) is written as skipped and is one here: code under
// test can call pytest.xfail() itself.
import { type Adapter, isProblem, reportText } from './adapter.ts';
import { classAndName } from './junit.ts';
import { readJunit } from './junit-report.ts';
import { checkTestPattern } from './test-pattern.ts';
import { rankTests } from './test-report.ts';

export const pytest: Adapter = {
  name: 'pytest',
  tool: 'always',
  checkFrom: (from, { kind, runsCandidate }) => checkTestPattern(from, kind, runsCandidate),
  run: (input) => {
    const text = reportText(input);
    if (typeof text !== 'string') return text;
    const tests = readJunit(text, { idOf: classAndName });
    return isProblem(tests) ? tests : rankTests(tests, input, (exitCode) => exitCode === 1);
  },
};
