// Tests in JUnit XML, as far as its many writers agree. What an element means that is not known here cannot be guessed: it is an error.
import { type AdapterProblem, cutText, problem } from './adapter.ts';
import { createCollector, type Outcome, type TestCollector } from './test-report.ts';
import { readXml } from './xml.ts';

export type JunitOptions = {
  /** Id of a test from its own name, its class and the suites around it, outermost first. */
  readonly idOf: (test: { readonly name: string; readonly className: string; readonly suites: readonly string[] }) => string;
  /** A passing test that is none: left out. */
  readonly ignore?: (test: { readonly name: string; readonly suites: readonly string[] }) => boolean;
  /** `<skipped type="todo">` excuses a failure beside it, which the tool does not count as one: the test is skipped. */
  readonly todo?: boolean;
};

const failing = new Set(['failure', 'error', 'rerunFailure', 'rerunError', 'flakyFailure', 'flakyError']);
const silent = new Set(['system-out', 'system-err', 'properties', 'property', 'attachments', 'attachment']);

/** What `status` and `result` of a test case say (googletest and others); unknown words are failures. */
const wordOf = (word: string | undefined): Outcome => {
  switch (word?.toLowerCase()) {
    case undefined:
    case '':
    case 'run':
    case 'passed':
    case 'success':
    case 'completed':
      return 'passed';
    case 'notrun':
    case 'disabled':
    case 'skipped':
    case 'suppressed':
    case 'ignored':
      return 'skipped';
    default:
      return 'failed';
  }
};

const worst = (a: Outcome, b: Outcome): Outcome =>
  a === 'failed' || b === 'failed' ? 'failed' : a === 'skipped' || b === 'skipped' ? 'skipped' : 'passed';

type Suite = { readonly name: string; readonly declared: number; failed: number };
type Case = { readonly name: string; readonly className: string; outcome: Outcome; message: string; todo: boolean };

/** Reads one report. Root is `testsuites` or `testsuite`; a `testcase` stands directly in either, and in nothing else. */
export function readJunit(text: string, { idOf, ignore, todo = false }: JunitOptions): TestCollector | AdapterProblem {
  const collector = createCollector();
  const suites: Suite[] = [];
  let current: Case | null = null;
  /** Names of open elements that are no suite and no case. */
  const inner: string[] = [];
  let problemText: string | null = null;
  const refuse = (message: string): void => {
    problemText ??= message;
  };
  const declaredIn = (name: string, attributes: ReadonlyMap<string, string>): number => {
    let sum = 0;
    for (const key of ['failures', 'errors']) {
      const value = attributes.get(key);
      if (value === undefined || value === '') continue;
      if (!/^[0-9]{1,9}$/.test(value)) refuse(`the attribute ${key} of <${name}> is no number`);
      else sum += Number(value);
    }
    return sum;
  };

  const wrong = readXml(text, {
    open: (name, attributes) => {
      if (inner.length > 0) {
        if (!silent.has(inner[0] ?? '')) refuse(`<${name}> stands inside <${inner.at(-1)}>`);
        inner.push(name);
      } else if (current !== null) {
        if (failing.has(name)) {
          current.outcome = 'failed';
          current.message ||= attributes.get('message') ?? '';
        } else if (name === 'skipped') {
          current.outcome = worst(current.outcome, 'skipped');
          current.message ||= attributes.get('message') ?? '';
          current.todo ||= todo && attributes.get('type') === 'todo';
        } else if (!silent.has(name)) refuse(`<${cutText(name, 40)}> in a test case is unknown`);
        inner.push(name);
      } else if (name === 'testsuites' || name === 'testsuite') {
        if (name === 'testsuites' && suites.length > 0) refuse('<testsuites> is not the root');
        suites.push({
          name: name === 'testsuite' ? (attributes.get('name') ?? '') : '',
          declared: declaredIn(name, attributes),
          failed: 0,
        });
      } else if (suites.length === 0) {
        refuse(`its root is <${cutText(name, 40)}> and not <testsuites> or <testsuite>`);
        inner.push(name);
      } else if (name === 'testcase') {
        const given = attributes.get('name');
        if (given === undefined || given === '') refuse('a <testcase> has no name');
        current = {
          name: given ?? '',
          className: attributes.get('classname') ?? '',
          outcome: worst(wordOf(attributes.get('status')), wordOf(attributes.get('result'))),
          message: '',
          todo: false,
        };
      } else {
        if (!silent.has(name)) refuse(`<${cutText(name, 40)}> in a test suite is unknown`);
        inner.push(name);
      }
    },
    text: (piece) => {
      if (inner.length === 1 && current?.outcome === 'failed' && failing.has(inner[0] ?? '') && current.message === '')
        current.message = piece.trim().slice(0, 1_000);
    },
    close: (name) => {
      if (inner.length > 0) inner.pop();
      else if (name === 'testcase' && current !== null) {
        const names = suites.map((suite) => suite.name).filter((suite) => suite !== '');
        const { message, className } = current;
        if (current.outcome === 'failed') for (const suite of suites) suite.failed++;
        const outcome = current.todo ? 'skipped' : current.outcome;
        if (outcome !== 'passed' || ignore?.({ name: current.name, suites: names }) !== true)
          collector.add(idOf({ name: current.name, className, suites: names }), outcome, message);
        current = null;
      } else {
        const suite = suites.pop();
        if (suite !== undefined && suite.declared > 0 && suite.failed === 0)
          refuse(
            `the suite ${JSON.stringify(cutText(suite.name, 100))} says that ${suite.declared} tests failed, but none of its test cases did`,
          );
      }
    },
  });
  const message = wrong ?? problemText;
  return message === null ? collector : problem('malformed', `the tool's report is no JUnit XML that can be trusted: ${message}`);
}
