// TAP 13 and 14 as `node --test` writes it. Stricter than TAP: a line that is none of the format is an error and not a comment, because
// a stream into which somebody else writes is no report.
import { type AdapterProblem, cutText, problem } from './adapter.ts';
import { createCollector, type Outcome, type TestCollector } from './test-report.ts';

export type TapOptions = {
  /** Between the names of a test and of those around it. */
  readonly separator: string;
  /** A passing test that is none: left out. */
  readonly ignore: (test: { readonly name: string; readonly suites: readonly string[] }) => boolean;
};

/** Subtests in subtests. */
const maxTapDepth = 50;

type Point = { readonly name: string; readonly outcome: Outcome; readonly children: readonly Point[]; message: string; type: string };
type Level = { points: Point[]; plan: number | null };

const pointLine = /^(not )?ok(?: ([0-9]{1,9}))?(?: -)?(?: (.*))?$/s;

/** A description and its directive; `\#` and `\\` are taken back. */
const splitDescription = (text: string): { readonly name: string; readonly directive: string } => {
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '#') {
      let end = i;
      while (text[end - 1] === ' ') end--;
      return { name: unescape(text.slice(0, end)), directive: text.slice(i + 1).trim() };
    }
  }
  return { name: unescape(text), directive: '' };
};
const unescape = (text: string): string => text.replace(/\\([\\#])/g, '$1');

class TapError extends Error {}

/** Reads one document. Every level needs its plan, so that a report that was cut short is none. */
export function readTap(text: string, options: TapOptions): TestCollector | AdapterProblem {
  try {
    return read(text, options);
  } catch (error) {
    if (error instanceof TapError) return problem('malformed', `the tool's report is no TAP that can be trusted: ${error.message}`);
    throw error;
  }
}

function read(text: string, { separator, ignore }: TapOptions): TestCollector {
  const lines = text.split(/\r?\n/);
  // The level at index d collects what is indented by 4 * d; a point takes the level below it as its subtests.
  const levels: Level[] = [{ points: [], plan: null }];
  let last: { readonly point: Point; readonly depth: number } | null = null;
  let yaml: { readonly indent: string; readonly point: Point } | null = null;
  let hasVersion = false;
  let declaredFailures = 0;
  const fail = (message: string, line: number): never => {
    throw new TapError(`line ${line + 1} ${message}`);
  };

  for (const [no, line] of lines.entries()) {
    if (yaml !== null) {
      if (line === `${yaml.indent}...`) yaml = null;
      else if (line !== '' && !line.startsWith(yaml.indent)) fail('is not part of the block that is open', no);
      else {
        const body = line.slice(yaml.indent.length);
        const [, key, value = ''] = /^(type|error): ?(.*)$/.exec(body) ?? [];
        if (key === 'type') yaml.point.type = value.replace(/^'(.*)'$/, '$1');
        else if (key === 'error') yaml.point.message ||= value.replace(/^'(.*)'$/, '$1');
        // The first line of a text that stands below its key.
        else if (/^\|-?$/.test(yaml.point.message) && body.trim() !== '') yaml.point.message = body.trim();
      }
      continue;
    }
    const spaces = /^ */.exec(line)?.[0].length ?? 0;
    const body = line.slice(spaces);
    if (body === '') continue;
    if (body === '---' && last !== null && spaces === last.depth * 4 + 2) {
      yaml = { indent: ' '.repeat(spaces), point: last.point };
      last = null;
      continue;
    }
    if (spaces % 4 !== 0) fail('is indented by no multiple of 4', no);
    const depth: number = spaces / 4;
    if (depth > maxTapDepth) fail(`is nested deeper than ${maxTapDepth} levels`, no);
    if (/^TAP version 1[34]$/.test(body)) {
      if (depth === 0 && (hasVersion || no > 0)) fail('has a second version', no);
      hasVersion = true;
      continue;
    }
    if (!hasVersion) fail('comes before "TAP version 13" or 14', no);
    if (body.startsWith('#')) {
      const failures = depth === 0 ? /^# (?:fail|cancelled) ([0-9]{1,9})$/.exec(body)?.[1] : undefined;
      declaredFailures += Number(failures ?? 0);
      continue;
    }
    if (body.startsWith('Bail out!')) fail('says that the tool gave up', no);
    if (/^pragma [+-]/.test(body)) continue;
    while (levels.length <= depth) levels.push({ points: [], plan: null });
    const level = levels[depth] ?? fail('has no level', no);
    const plan = /^1\.\.([0-9]{1,9})(?: #.*)?$/.exec(body);
    if (plan !== null) {
      if (level.plan !== null) fail('has a second plan', no);
      level.plan = Number(plan[1]);
      continue;
    }
    const point = pointLine.exec(body);
    if (point === null) return fail(`is none of TAP: ${JSON.stringify(cutText(body, 60))}`, no);
    if (levels.length > depth + 2) fail('leaves levels open', no);
    const below = levels.length > depth + 1 ? levels.pop() : undefined;
    if (below !== undefined && below.plan !== below.points.length)
      fail(`ends ${below.points.length} subtests, but their plan says ${below.plan ?? 'nothing'}`, no);
    const { name, directive } = splitDescription(point[3] ?? '');
    if (name === '') fail('has a test without a name', no);
    // A test that is still to be written may pass because it is empty, and fails without failing its suite.
    const todo = /^todo\b/i.test(directive);
    const outcome = todo ? 'skipped' : point[1] !== undefined ? 'failed' : /^skip\b/i.test(directive) ? 'skipped' : 'passed';
    const found: Point = { name, outcome, children: below?.points ?? [], message: '', type: '' };
    level.points.push(found);
    last = { point: found, depth };
  }
  const [top] = levels;
  if (yaml !== null || levels.length !== 1 || top === undefined) throw new TapError('it ends in the middle');
  if (!hasVersion) throw new TapError('it has no "TAP version" line');
  if (top.plan !== top.points.length) throw new TapError(`it has ${top.points.length} tests, but its plan says ${top.plan ?? 'nothing'}`);

  const collector = createCollector();
  let failures = 0;
  const collect = (points: readonly Point[], around: readonly string[]): boolean => {
    let anyFailed = false;
    for (const { name, outcome, children, message, type } of points) {
      const suites = [...around, name];
      const childFailed = collect(children, suites);
      // A suite that failed by itself (a hook) is a failing test like others.
      const container = (children.length > 0 || type === 'suite') && (outcome !== 'failed' || childFailed);
      if (outcome === 'failed') failures++;
      anyFailed ||= outcome === 'failed' || childFailed;
      if (childFailed && outcome === 'passed')
        throw new TapError(`${JSON.stringify(cutText(name, 100))} passed although a subtest of it failed`);
      if (outcome !== 'passed' || container || !ignore({ name, suites: around }))
        collector.add(suites.join(separator), outcome, message, container);
    }
    return anyFailed;
  };
  collect(top.points, []);
  if (declaredFailures > 0 && failures === 0)
    throw new TapError(`it says that ${declaredFailures} tests failed, but none of its tests did`);
  return collector;
}
