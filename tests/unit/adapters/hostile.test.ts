// Reports that were written to be misread: nothing throws, nothing passes that did not pass.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adapt } from '#electron/verifiers/adapters/adapt.ts';
import type { AdapterName, AdapterResult } from '#electron/verifiers/adapters/adapter.ts';
import { checkTestPattern, parseTestPattern, testId } from '#electron/verifiers/adapters/test-pattern.ts';
import { bytesOf, escapeXml, fixture, junitOf, nonce, run, textFile, values, wanted } from './support.ts';

const reading: readonly AdapterName[] = ['junit', 'pytest', 'node-test', 'swe-bench', 'harbor', 'exit-code'];
const fromOf: Readonly<Record<AdapterName, string>> = {
  junit: '*',
  pytest: '*',
  'node-test': '*',
  'swe-bench': 'FAIL_TO_PASS',
  harbor: 'reward to 1 by 1',
  'json-schema': 'artifact/d against verifier/s',
  'text-count': '/x/ in report',
  'exit-code': 'exit',
};
const fixtures: readonly (readonly [AdapterName, string])[] = [
  ['junit', 'junit/surefire-3.xml'],
  ['junit', 'junit/googletest-1.xml'],
  ['pytest', 'pytest/pytest-8-xunit2.xml'],
  ['node-test', 'node-test/node-24.tap'],
  ['node-test', 'node-test/node-24.xml'],
  ['swe-bench', 'swe-bench/harness.json'],
];

/** What is wrong with the shape of a result, whatever the report was; null when nothing is. */
const shapeProblem = (result: AdapterResult, cap: number): string | null => {
  if ('problem' in result)
    return result.message.length > 0 && result.message.length < 2_000 ? null : `a message of ${result.message.length}`;
  const wrong = Object.values(result.values).find((value) => !Number.isSafeInteger(value) || value < 0 || value > cap);
  return wrong === undefined ? null : `the value ${wrong}`;
};

describe('arbitrary bytes', () => {
  test.each(reading)('%s makes no values of bytes that are no report', (name) => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.string({ unit: 'binary' }).map((text) => bytesOf(text.toWellFormed())),
        ),
        fc.integer({ min: 0, max: 255 }),
        (report, exitCode) => {
          const result = run(name, { report, exitCode, obligations: wanted({ a: fromOf[name] }) });
          expect(shapeProblem(result, 100)).toBe(null);
          // A number is a reward; everything else has a form that chance does not find.
          expect(name === 'harbor' || 'problem' in result).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each(fixtures)('%s %s: a report that was cut, or in which bytes were exchanged, never gets better', (name, file) => {
    const whole = bytesOf(fixture(file));
    const exitCode = name === 'swe-bench' ? 0 : 1;
    const obligations = wanted({ a: fromOf[name] });
    const best = run(name, { report: whole, exitCode, obligations });
    const least = 'values' in best ? (best.values['a'] ?? 0) : 0;
    expect(least).toBeGreaterThan(0);
    for (let end = 0; end < whole.length; end += 7)
      expect(shapeProblem(run(name, { report: whole.subarray(0, end), exitCode, obligations }), 100)).toBe(null);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const report = Uint8Array.from(whole);
        report[at] = byte;
        const result = run(name, { report, exitCode, obligations });
        expect(shapeProblem(result, 100)).toBe(null);
        // One byte can rename one element; it cannot make every failure vanish beside an exit code that says that there was one.
        const value = 'values' in result ? result.values['a'] : 1;
        expect(name === 'swe-bench' || value !== 0).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});

type Test = { readonly name: string; readonly outcome: 'passed' | 'failed' | 'skipped' };
const aTest = fc.record({
  name: fc.oneof(
    fc.constantFrom('a', 'b', 'constructor', '__proto__', 'x\ny', 'x\0', '*', '</testcase>', '\'"&<>', 'ok 1 - a', 'é', 'e\u0301'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  ),
  outcome: fc.constantFrom('passed', 'failed', 'skipped'),
}) satisfies fc.Arbitrary<Test>;

/** What XML 1.0 can hold. */
const speakable = ({ name }: Test): boolean => name.isWellFormed() && /^[\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]+$/u.test(name);

const escapePattern = (id: string): string => id.replace(/[*?\\[]/g, '\\$&');
const tapOf = (tests: readonly Test[]): string =>
  `TAP version 13\n${tests.map(({ name, outcome }) => `${outcome === 'failed' ? 'not ' : ''}ok - ${name.replace(/[\\#]/g, '\\$&')}${outcome === 'skipped' ? ' # SKIP' : ''}\n`).join('')}1..${tests.length}\n`;

describe.each<['junit' | 'node-test', (tests: readonly Test[]) => string, (name: string) => string]>([
  ['junit', (tests) => junitOf(tests), (name) => `c::${name}`],
  ['node-test', tapOf, (name) => name],
])('%s reports of any tests', (adapter, write, idOf) => {
  const sayable = (one: Test): boolean => speakable(one) && (adapter === 'junit' || !/[\t\n\r]|^ | $|\.[cm]?[jt]sx?$/.test(one.name));
  const tests = fc.array(aTest.filter(sayable), { minLength: 1, maxLength: 12 });
  const rank = (all: readonly Test[], froms: Readonly<Record<string, string>>): ReturnType<typeof values> =>
    values(
      run(adapter, { report: write(all), exitCode: all.some(({ outcome }) => outcome === 'failed') ? 1 : 0, obligations: wanted(froms) }),
    );

  test('0 exactly for what passed every time it is there; a missing test has no value', () => {
    fc.assert(
      fc.property(tests, (all) => {
        const ids = [...new Set(all.map(({ name }) => testId(idOf(name))))];
        const froms = Object.fromEntries([...ids.map((id, i) => [`t${i}`, escapePattern(id)] as const), ['gone', 'no such test at all']]);
        const result = rank(all, froms);
        // Of several tests with one id the worst counts, so one that was skipped as well did not run.
        const ranWell = (id: string) =>
          all.every((one) => testId(idOf(one.name)) !== id || one.outcome !== 'skipped') ||
          all.some((one) => testId(idOf(one.name)) === id && one.outcome === 'failed');
        const expected = Object.fromEntries(
          ids.map((id, i) => [`t${i}`, all.every((one) => testId(idOf(one.name)) !== id || one.outcome === 'passed') ? 0 : 1]),
        );
        const nothingRan = typeof result === 'string' && /^malformed: .*nothing ran/.test(result);
        expect(nothingRan ? 'nothing ran' : result).toEqual(ids.some(ranWell) ? expected : 'nothing ran');
      }),
    );
  });
  test('order does not matter, and renaming moves values along', () => {
    fc.assert(
      fc.property(
        tests.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          const froms = { all: '*', ok: '[skipped=ok, min=3] *' };
          expect(rank(shuffled, froms)).toEqual(rank(all, froms));
          const renamed = all.map((one) => ({ ...one, name: `new ${one.name}` }));
          expect(rank(renamed, { all: adapter === 'junit' ? 'c::new *' : 'new *' })).toEqual(rank(all, { all: '*' }));
        },
      ),
    );
  });
  test('fewer tests are never better where the task says how many there are', () => {
    fc.assert(
      fc.property(tests, fc.nat(11), (all, drop) => {
        const ids = new Set(all.map(({ name }) => testId(idOf(name))));
        const less = all.filter((_, i) => i !== drop % all.length);
        const froms = { all: `[min=${ids.size}] *` };
        const [before, after] = [rank(all, froms), rank(less, froms)];
        const worst = (result: typeof before) =>
          typeof result === 'string' ? Number.POSITIVE_INFINITY : (result['all'] ?? Number.POSITIVE_INFINITY);
        const gone = new Set(less.map(({ name }) => testId(idOf(name)))).size < ids.size;
        const failedGone = all[drop % all.length]?.outcome !== 'passed';
        // What failed and is gone is still missing; what passed and is gone is a violation more.
        const least = worst(before) === Number.POSITIVE_INFINITY ? 1 : worst(before) + (failedGone ? 0 : 1);
        fc.pre(gone);
        expect(worst(after)).toBeGreaterThanOrEqual(least);
      }),
    );
  });
});

describe('size', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ name: `t${i}`, outcome: i === 0 ? ('failed' as const) : ('passed' as const) }));
  test('100,000 tests are read, 200,001 are refused', () => {
    const froms = { all: '*', last: 'c::t99999', some: '*t*9*9*9*' };
    expect(values(run('junit', { report: junitOf(many(100_000)), exitCode: 1, obligations: wanted(froms) }))).toEqual({
      all: 1,
      last: 0,
      some: 0,
    });
    expect(values(run('junit', { report: junitOf(many(200_001)), exitCode: 1, obligations: wanted({ all: '*' }) }))).toMatch(
      /^malformed: .*more than 200000/,
    );
    expect(values(run('node-test', { report: tapOf(many(100_000)), exitCode: 1, obligations: wanted({ all: '*' }) }))).toEqual({ all: 1 });
  });
  test('words about failures are bounded', () => {
    const failed = Array.from({ length: 1_000 }, (_, i) => ({ name: `${'x'.repeat(5_000)}${i}`, outcome: 'failed' as const }));
    const result = run('junit', { report: junitOf(failed), exitCode: 1, obligations: wanted({ all: '*' }) });
    // Names that are cut alike are one test, which failed.
    expect('details' in result ? result.details['all']?.length : 0).toBeLessThan(20_000);
    expect(values(result)).toEqual({ all: 1 });
  });
  test.each<[AdapterName, string]>([
    ['harbor', ' '.repeat(4_000_000)],
    ['harbor', `{${' '.repeat(4_000_000)}`],
    ['harbor', '1'.repeat(4_000_000)],
    ['swe-bench', '['.repeat(4_000_000)],
    ['node-test', `TAP version 13\n${'    '.repeat(1_000_000)}ok\n`],
    ['node-test', `TAP version 13\nok - ${'\\#'.repeat(2_000_000)}\n1..1\n`],
    ['node-test', `TAP version 13\n${'ok - a\n'.repeat(500_000)}`],
    ['exit-code', 'f'.repeat(4_000_000)],
    ['junit', `<testsuite><testcase name="x">${'<failure>'.repeat(400_000)}`],
  ])('%s bears 4 MB', (name, report) => {
    const start = performance.now();
    expect(shapeProblem(run(name, { report, obligations: wanted({ a: fromOf[name] }) }), 100)).toBe(null);
    expect(performance.now() - start).toBeLessThan(3_000);
  });
  test('names in other alphabets, with line breaks and markup, are ids like others', () => {
    const report = junitOf([{ name: 'a\nb <c> & "d" 日本', outcome: 'passed' }]);
    expect(values(run('junit', { report, obligations: wanted({ a: 'c::a\u{fffd}b <c> & "d" 日本' }) }))).toEqual({ a: 0 });
    expect(escapeXml('\n<&"')).toBe('&#10;&#60;&#38;&#34;');
  });
});

describe('patterns', () => {
  const matches = (from: string, id: string): boolean => {
    const pattern = parseTestPattern(from);
    if ('error' in pattern) throw new Error(pattern.error);
    return pattern.matches(id);
  };
  test.each<[string, string, boolean]>([
    ['a*c', 'abbc', true],
    ['a*c', 'abcd', false],
    ['*a*', 'bab', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['**', '', true],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['test[1]', 'test[1]', true],
    ['\\[x] *', '[x] y', true],
    ['[skipped=ok] x', 'x', true],
    ['*a*a*a*a*b', 'a'.repeat(2_000), false],
  ])('%j and %j: %s', (from, id, matching) => {
    expect(matches(from, id)).toBe(matching);
  });
  test.each<[string, string, boolean, RegExp]>([
    ['', 'count', false, /is empty and could never match/],
    ['[min=2] ', 'count', false, /could never match/],
    ['a\nb', 'count', false, /could never match: test ids have no control/],
    ['a\\', 'count', false, /single "\\"/],
    ['[x', 'count', false, /no "\] "/],
    ['[max=2] *', 'count', false, /unknown option "max=2"/],
    ['[min=0] *', 'count', false, /unknown option/],
    ['[min=2] a', 'count', false, /names one test/],
    ['x'.repeat(2_001), 'count', false, /at most 2000/],
    ['a', 'ordinal', false, /ordinal/],
    ['a*', 'count', true, /glob without min/],
  ])('%j for %s is refused', (from, kind, runsCandidate, message) => {
    expect(checkTestPattern(from, kind, runsCandidate)).toMatch(message);
  });
  test('equal to a slow matcher', () => {
    const slow = (pattern: string, id: string): boolean =>
      pattern === ''
        ? id === ''
        : pattern.startsWith('*')
          ? slow(pattern.slice(1), id) || (id !== '' && slow(pattern, id.slice(1)))
          : id !== '' && (pattern.startsWith('?') || pattern[0] === id[0]) && slow(pattern.slice(1), id.slice(1));
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 6 }), letters, (pattern, id) => {
        expect(matches(pattern, id)).toBe(slow(pattern, id));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('adapt', () => {
  const job = {
    adapter: 'junit',
    obligations: wanted({ a: 'c::a' }),
    advisory: [],
    reportProblem: null,
    exitCode: 0,
    files: [textFile('artifact/x', 'x')],
    nonce,
    tree: 't',
    contract: 'c',
  };
  const reportOf = (changes: object): unknown =>
    JSON.parse(new TextDecoder().decode(adapt({ ...job, report: bytesOf(junitOf([{ name: 'a', outcome: 'passed' }])), ...changes })));
  test('binds what the tool cannot know, and names the report that it was made from', () => {
    expect(reportOf({})).toEqual({
      nonce,
      tree: 't',
      contract: 'c',
      adapter: { name: 'junit', exitCode: 0, report: expect.stringMatching(/^[0-9a-f]{64}$/) },
      values: { a: 0 },
      advisory: {},
      details: {},
    });
  });
  test('what goes wrong is a problem in the report', () => {
    expect(reportOf({ adapter: 'none' })).toMatchObject({ problem: { code: 'infra' } });
    expect(reportOf({ reportProblem: 'it is a link' })).toMatchObject({
      problem: { code: 'malformed', message: expect.stringContaining('it is a link') },
    });
    expect(reportOf({ report: null })).toMatchObject({ adapter: { report: null }, problem: { code: 'malformed' } });
  });
});
