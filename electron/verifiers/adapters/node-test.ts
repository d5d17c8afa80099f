// `node --test` through its reporters tap and junit. The id of a test is its name after those of the suites and tests around it, joined
// by " > ". Exit codes: 0 nothing failed, 1 something did.
import { type Adapter, isProblem, reportText } from './adapter.ts';
import { readJunit } from './junit-report.ts';
import { readTap } from './tap.ts';
import { checkTestPattern } from './test-pattern.ts';
import { rankTests } from './test-report.ts';

const separator = ' > ';

// A file in which no test was registered is reported as a passing test named like the file: so is one whose code ended the process first.
const isFile = ({ name, suites }: { readonly name: string; readonly suites: readonly string[] }): boolean =>
  suites.length === 0 && /\.[cm]?[jt]sx?$/.test(name);

export const nodeTest: Adapter = {
  name: 'node-test',
  tool: 'always',
  checkFrom: (from, { kind, runsCandidate }) => checkTestPattern(from, kind, runsCandidate),
  run: (input) => {
    const text = reportText(input);
    if (typeof text !== 'string') return text;
    const tests = /^\u{feff}?\s*</u.test(text)
      ? readJunit(text, { idOf: ({ name, suites }) => [...suites, name].join(separator), ignore: isFile, todo: true })
      : readTap(text, { separator, ignore: isFile });
    return isProblem(tests) ? tests : rankTests(tests, input, (exitCode) => exitCode === 1);
  },
};
