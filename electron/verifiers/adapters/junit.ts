// JUnit XML of any tool. The id of a test is `classname::name`, or its name where it has no class.
import { type Adapter, isProblem, reportText } from './adapter.ts';
import { readJunit } from './junit-report.ts';
import { checkTestPattern } from './test-pattern.ts';
import { rankTests } from './test-report.ts';

export const classAndName = ({ name, className }: { readonly name: string; readonly className: string }): string =>
  className === '' ? name : `${className}::${name}`;

export const junit: Adapter = {
  name: 'junit',
  tool: 'always',
  checkFrom: (from, { kind, runsCandidate }) => checkTestPattern(from, kind, runsCandidate),
  run: (input) => {
    const text = reportText(input);
    if (typeof text !== 'string') return text;
    const tests = readJunit(text, { idOf: classAndName });
    // 126 and 127 are a shell's "cannot be run", what is above a signal.
    return isProblem(tests) ? tests : rankTests(tests, input, (exitCode) => exitCode < 126);
  },
};
