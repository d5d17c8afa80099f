// JUnit XML of any tool. The id of a test is `classname::name`, or its name where it has no class.
import { type Adapter, isProblem, reportText } from './adapter.ts';
import { readJunit } from './junit-report.ts';
import { checkTestPattern } from './test-pattern.ts';
import { type ExitRule, rankTests } from './test-report.ts';

const classAndName = ({ name, className }: { readonly name: string; readonly className: string }): string =>
  className === '' ? name : `${className}::${name}`;

/** The adapter of a tool that leaves JUnit XML. `fits`: which exit codes go with failing tests. */
export const junitAdapter = (name: Adapter['name'], fits: ExitRule): Adapter => ({
  name,
  tool: 'always',
  checkFrom: (from, { kind, runsCandidate }) => checkTestPattern(from, kind, runsCandidate),
  run: (input) => {
    const text = reportText(input);
    if (typeof text !== 'string') return text;
    const tests = readJunit(text, { idOf: classAndName });
    return isProblem(tests) ? tests : rankTests(tests, input, fits);
  },
});

// 126 and 127 are a shell's "cannot be run", what is above a signal.
export const junit = junitAdapter('junit', (exitCode) => exitCode < 126);
