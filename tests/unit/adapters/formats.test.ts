// What each adapter makes of reports as tools write them.
import { describe, expect, test } from 'vitest';
import type { AdapterInput, AdapterName } from '#electron/verifiers/adapters/adapter.ts';
import { fixture, junitOf, nonce, run, textFile, values, wanted } from './support.ts';

describe('junit', () => {
  const surefire = {
    adds: 'org.example.NumbersTest::adds',
    subtracts: 'org.example.NumbersTest::subtracts',
    divides: 'org.example.NumbersTest::divides',
    later: 'org.example.NumbersTest::later',
    laterOk: '[skipped=ok] org.example.NumbersTest::later',
    all: 'org.example.*',
    allButSkipped: '[skipped=ok] org.example.*',
    fewer: '[min=7] *',
  };
  test.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, number>>]>([
    ['surefire-3.xml', surefire, { adds: 0, subtracts: 1, divides: 1, later: 1, laterOk: 0, all: 3, allButSkipped: 2, fewer: 6 }],
    [
      'jest-junit-16.xml',
      { adds: 'numbers adds::numbers adds', subtracts: 'numbers subtracts::*', all: '*', printed: '*printed*' },
      { adds: 0, subtracts: 1, all: 2 },
    ],
    [
      'googletest-1.xml',
      { adds: 'Numbers::Adds', subtracts: 'Numbers::Subtracts', disabled: 'Numbers::DISABLED_*' },
      { adds: 0, subtracts: 1, disabled: 1 },
    ],
  ])('%s', (name, froms, found) => {
    expect(values(run('junit', { report: fixture(`junit/${name}`), exitCode: 1, obligations: wanted(froms) }))).toEqual(found);
  });
  test('binary obligations, caps, words about what failed, counts for those who ask', () => {
    const report = fixture('junit/surefire-3.xml');
    expect(
      run('junit', {
        report,
        exitCode: 1,
        obligations: wanted({ all: '*' }, { kind: 'binary', cap: 1 }),
        advisory: ['tests', 'skipped', 'mine'],
      }),
    ).toEqual({
      values: { all: 1 },
      details: {
        all: 'org.example.NumbersTest::subtracts: failed: expected: <1> but was: <2>\norg.example.NumbersTest::divides: failed: / by zero\norg.example.NumbersTest::later: skipped: later',
      },
      advisory: { tests: 4, skipped: 1 },
    });
    expect(values(run('junit', { report, exitCode: 1, obligations: wanted({ all: '*' }, { cap: 2 }) }))).toEqual({ all: 2 });
  });
  test('of several tests with one id the worst counts, in any order', () => {
    const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map((outcome) => ({ name: 'x', outcome }));
    if (passed === undefined || failed === undefined || skipped === undefined) throw new Error('three outcomes');
    const of = (tests: readonly (typeof passed)[], exitCode: number) =>
      values(run('junit', { report: junitOf(tests), exitCode, obligations: wanted({ x: 'c::x', ok: '[skipped=ok] c::x' }) }));
    expect(of([passed, failed], 1)).toEqual({ x: 1, ok: 1 });
    expect(of([failed, passed], 1)).toEqual({ x: 1, ok: 1 });
    expect(of([passed, skipped, { name: 'y', outcome: 'passed' }], 0)).toEqual({ x: 1, ok: 0 });
  });
  test.each<[string, string, number, RegExp]>([
    ['no test', '<testsuites/>', 0, /^malformed: .*no test; nothing ran/],
    ['only skipped tests', junitOf([{ name: 'x', outcome: 'skipped' }]), 0, /^malformed: all 1 tests were skipped/],
    ['exit code 1 without a failing test', junitOf([{ name: 'x', outcome: 'passed' }]), 1, /^crash: .*no test of its report failed/],
    ['exit code 0 with a failing test', junitOf([{ name: 'x', outcome: 'failed' }]), 0, /^crash: .*1 tests of its report failed/],
    ['a command that was not found', junitOf([{ name: 'x', outcome: 'failed' }]), 127, /^crash: .*127/],
    ['a shell whose child was killed', junitOf([{ name: 'x', outcome: 'failed' }]), 137, /^crash: .*137/],
    [
      'a suite that failed without a test',
      '<testsuite name="s" errors="1"><testcase name="x"/></testsuite>',
      0,
      /^malformed: .*says that 1 tests failed/,
    ],
    ['another document', '<html/>', 0, /^malformed: .*its root is <html>/],
    [
      'an element that nobody knows',
      '<testsuite><testcase name="x"><crashed/></testcase></testsuite>',
      0,
      /^malformed: .*<crashed> in a test case is unknown/,
    ],
    [
      'an error outside any test',
      '<testsuite><error/><testcase name="x"/></testsuite>',
      0,
      /^malformed: .*<error> in a test suite is unknown/,
    ],
    ['a test without a name', '<testsuite><testcase/></testsuite>', 0, /^malformed: .*no name/],
    [
      'tests in the output of a test',
      '<testsuite><testcase name="y"><failure><testcase name="x"/></failure></testcase></testsuite>',
      1,
      /^malformed: .*inside <failure>/,
    ],
    ['a report that was cut short', junitOf([{ name: 'x', outcome: 'passed' }]).slice(0, -13), 0, /^malformed: .*ends in the middle/],
    ['no report', '', 0, /^malformed: .*left no report/],
    ['no report and a failure', '', 1, /^crash: .*left no report/],
  ])('%s is no verdict', (_, report, exitCode, found) => {
    expect(values(run('junit', { report, exitCode, obligations: wanted({ x: '*' }) }))).toMatch(found);
  });
});

describe('pytest', () => {
  const froms = {
    adds: 'test_numbers::test_adds',
    subtracts: 'test_numbers::test_subtracts',
    even: '[min=2] test_numbers::test_even[*',
    one: 'test_numbers::test_even[1]',
    later: 'test_numbers::test_later',
    xfail: 'test_numbers::test_known',
    xfailOk: '[skipped=ok] test_numbers::test_known',
    open: 'test_numbers.TestBox::test_open',
    setup: 'test_numbers.TestBox::test_broken',
    teardown: 'test_numbers::test_teardown',
    gone: 'test_numbers::test_gone',
    all: '[skipped=ok, min=10] *',
  };
  test.each(['pytest-4.xml', 'pytest-8-xunit1.xml', 'pytest-8-xunit2.xml'])('%s', (name) => {
    expect(values(run('pytest', { report: fixture(`pytest/${name}`), exitCode: 1, obligations: wanted(froms) }))).toEqual({
      adds: 0,
      subtracts: 1,
      even: 1,
      one: 1,
      later: 1,
      xfail: 1,
      xfailOk: 0,
      open: 0,
      setup: 1,
      teardown: 1,
      // Nine are there, four of them failed.
      all: 5,
    });
  });
  test.each([2, 3, 4, 5, 139])('exit code %i is no measurement', (exitCode) => {
    expect(run('pytest', { report: fixture('pytest/pytest-8-xunit2.xml'), exitCode, obligations: wanted(froms) })).toMatchObject({
      problem: 'crash',
    });
  });
});

describe('node-test', () => {
  const froms = {
    adds: 'math > adds',
    away: 'math > takes # away',
    forged: 'forged',
    later: 'math > later',
    laterOk: '[skipped=ok] math > later',
    unfinished: 'math > unfinished',
    deep: 'math > deep > works',
    part: 'with parts > first',
    ended: '*ended.test.mjs',
    all: '[min=6, skipped=ok] *',
  };
  test.each(['node-20.tap', 'node-24.tap', 'node-20.xml', 'node-24.xml'])('%s', (name) => {
    expect(values(run('node-test', { report: fixture(`node-test/${name}`), exitCode: 1, obligations: wanted(froms) }))).toEqual({
      adds: 0,
      away: 1,
      later: 1,
      laterOk: 0,
      unfinished: 1,
      deep: 0,
      part: 0,
      all: 1,
    });
  });
  test('suites and tests with subtests are found by their exact id in TAP', () => {
    const report = fixture('node-test/node-24.tap');
    expect(
      values(run('node-test', { report, exitCode: 1, obligations: wanted({ math: 'math', deep: 'math > deep', parts: 'with parts' }) })),
    ).toEqual({
      math: 1,
      deep: 0,
      parts: 0,
    });
  });
  const tap = (...lines: string[]) => `TAP version 13\n${lines.join('\n')}\n`;
  test('a suite that fails by itself counts; an unfinished test that fails does not stop its suite', () => {
    const of = (report: string, exitCode: number) => values(run('node-test', { report, exitCode, obligations: wanted({ all: '*' }) }));
    expect(of(tap('    ok 1 - a', '    1..1', 'not ok 1 - s', '1..1'), 1)).toEqual({ all: 1 });
    expect(of(tap('    not ok 1 - a # TODO', '    ok 2 - b', '    1..2', 'ok 1 - s', '1..1'), 0)).toEqual({ all: 1 });
    expect(of('TAP version 14\n1..1\nok\t', 0)).toMatch(/malformed/);
    expect(of('TAP version 14\npragma +strict\n1..1 # one\r\nok 1 - a \\# b\r\n', 0)).toEqual({ all: 0 });
  });
  test.each<[string, string, RegExp]>([
    ['no plan', tap('ok 1 - a'), /plan says nothing/],
    ['another plan', tap('ok 1 - a', '1..2'), /plan says 2/],
    ['two plans', tap('1..1', 'ok 1 - a', '1..1'), /second plan/],
    ['subtests without a plan', tap('    ok 1 - a', 'ok 1 - s', '1..1'), /plan says nothing/],
    ['subtests without their test', tap('ok 1 - a', '1..1', '    ok 1 - b', '    1..1'), /ends in the middle/],
    ['a test that passed over a failing one', tap('    not ok 1 - a', '    1..1', 'ok 1 - s', '1..1'), /passed although/],
    ['a line of somebody else', tap('hello', 'ok 1 - a', '1..1'), /none of TAP: "hello"/],
    ['a version in the middle', tap('ok 1 - a', 'TAP version 13', '1..1'), /second version/],
    ['no version', 'ok 1 - a\n1..1\n', /comes before/],
    ['a bail out', tap('Bail out! no disk'), /gave up/],
    ['a block that is open', tap('ok 1 - a', '  ---', '  x: 1'), /ends in the middle/],
    ['a block that is left early', tap('ok 1 - a', '  ---', 'ok 2 - b', '  ...', '1..1'), /not part of the block/],
    ['a count of failures without failures', tap('ok 1 - a', '1..1', '# fail 3'), /says that 3 tests failed/],
    ['nothing but a file that ended', tap('ok 1 - /a/b.test.mjs', '1..1'), /no test; nothing ran/],
    ['an empty suite', tap('ok 1 - s', '  ---', "  type: 'suite'", '  ...', '1..1'), /no test; nothing ran|nothing ran/],
    ['a test without a name', tap('ok 1', '1..1'), /without a name/],
    ['levels without end', tap(`${' '.repeat(4 * 60)}ok 1 - a`, '1..1'), /nested deeper/],
  ])('%s is malformed', (_, report, message) => {
    expect(run('node-test', { report, obligations: wanted({ all: '*' }) })).toEqual({
      problem: 'malformed',
      message: expect.stringMatching(message),
    });
  });
  test.each([2, 7, 13])('exit code %i is no measurement', (exitCode) => {
    expect(run('node-test', { report: fixture('node-test/node-24.tap'), exitCode, obligations: wanted(froms) })).toMatchObject({
      problem: 'crash',
    });
  });
});

describe('swe-bench', () => {
  test('the harness', () => {
    const froms = {
      f2p: 'FAIL_TO_PASS',
      p2p: 'PASS_TO_PASS',
      one: 'FAIL_TO_PASS::test_numbers.py::test_adds',
      other: 'FAIL_TO_PASS::test_numbers.py::test_subtracts\\[a b]',
      prefix: 'FAIL_TO_PASS::*::test_subtracts[*',
      gone: 'PASS_TO_PASS::test_numbers.py::test_gone',
      min: 'PASS_TO_PASS::[min=3] *',
    };
    expect(values(run('swe-bench', { report: fixture('swe-bench/harness.json'), obligations: wanted(froms) }))).toEqual({
      f2p: 1,
      p2p: 0,
      one: 0,
      other: 1,
      prefix: 1,
      gone: 1,
      min: 1,
    });
  });
  test('SWE-smith', () => {
    const froms = { f2p: 'FAIL_TO_PASS', p2p: 'PASS_TO_PASS' };
    expect(
      values(run('swe-bench', { report: fixture('swe-bench/smith.json'), obligations: wanted(froms, { kind: 'binary', cap: 1 }) })),
    ).toEqual({ f2p: 0, p2p: 0 });
  });
  const change = (name: string, from: string, to: string) => fixture(`swe-bench/${name}`).replace(from, to);
  test.each<[string, string, RegExp]>([
    [
      'resolved beside a failure',
      change('harness.json', '"resolved": false', '"resolved": true'),
      /^malformed: .*resolved is true, but its lists have 1/,
    ],
    ['unresolved without one', change('smith.json', '"resolved": true', '"resolved": false'), /^malformed: .*resolved is false/],
    [
      'a patch that was not applied',
      change('harness.json', '"patch_successfully_applied": true', '"patch_successfully_applied": false'),
      /^malformed: .*not applied/,
    ],
    ['no patch', change('smith.json', '"patch_exists": true', '"patch_exists": false'), /^malformed: .*about no patch/],
    ['a fault of the machine', change('harness.json', '"infra_failure": false', '"infra_failure": true'), /^infra: /],
    ['two instances', '{"a": {}, "b": {}}', /^malformed: .*2 instances/],
    ['an empty object', '{}', /^malformed: .*0 instances/],
    [
      'no tests',
      '{"resolved": true, "tests_status": {"FAIL_TO_PASS": {"success": [], "failure": []}, "PASS_TO_PASS": {"success": [], "failure": []}}}',
      /^malformed: .*nothing ran/,
    ],
    [
      'a list that is missing',
      '{"resolved": true, "tests_status": {"FAIL_TO_PASS": {"success": ["a"], "failure": []}}}',
      /^malformed: .*PASS_TO_PASS is missing/,
    ],
    ['a key twice', '{"resolved": true, "resolved": true}', /^malformed: .*twice/],
    ['NaN', '{"resolved": NaN}', /^malformed: /],
  ])('%s is no verdict', (_, report, found) => {
    expect(values(run('swe-bench', { report, obligations: wanted({ f2p: 'FAIL_TO_PASS' }) }))).toMatch(found);
  });
  test('a test in both lists has failed; one that is in none says nothing where no test passed', () => {
    const lists = (success: string[], failure: string[]) =>
      JSON.stringify({ resolved: false, tests_status: { FAIL_TO_PASS: { success, failure }, PASS_TO_PASS: { success: [], failure: [] } } });
    const obligations = wanted({ a: 'FAIL_TO_PASS::a', b: 'FAIL_TO_PASS::b' });
    expect(values(run('swe-bench', { report: lists(['a', 'c'], ['a']), obligations }))).toEqual({ a: 1, b: 1 });
    expect(values(run('swe-bench', { report: lists([], ['a']), obligations }))).toEqual({ a: 1 });
  });
  test('the harness ends with 0 or did not work', () => {
    expect(run('swe-bench', { report: fixture('swe-bench/smith.json'), exitCode: 1, obligations: [] })).toMatchObject({ problem: 'crash' });
  });
});

describe('harbor', () => {
  const of = (report: string, from: string, changes: Partial<AdapterInput['obligations'][number]> = {}, exitCode = 0) =>
    values(run('harbor', { report, exitCode, obligations: wanted({ r: from }, changes) }));
  const binary = { kind: 'binary', cap: 1 } as const;
  test('files', () => {
    expect(of(fixture('harbor/reward.txt'), 'reward to 1 by 0.25', { kind: 'ordinal' })).toEqual({ r: 1 });
    const report = fixture('harbor/reward.json');
    const obligations = wanted({
      reward: 'reward to 1 by 0.1',
      style: 'style to 1 by 0.1',
      speed: 'speed to 0 by 1',
      gone: 'gone to 1 by 1',
    });
    expect(run('harbor', { report, obligations, advisory: ['style', 'speed', 'other'] })).toEqual({
      values: { reward: 3, style: 0, speed: 3 },
      details: { reward: 'reward is 0.7', speed: 'speed is -2.5' },
      advisory: { style: 1, speed: -2.5 },
    });
  });
  test.each<[string, string, number]>([
    ['1', 'reward', 0],
    ['1.0\n', 'reward', 0],
    ['0.', 'reward', 1],
    ['0.999999', 'reward', 1],
    ['2', 'reward', 0],
    ['0.5', 'reward >= 0.5', 0],
    ['1e-1', 'reward >= 0.1', 0],
    ['-1', 'reward >= 0', 1],
  ])('%j as a binary %s', (report, from, value) => {
    expect(of(report, from, binary)).toEqual({ r: value });
  });
  test('steps are exact in decimal, never negative, and end at the cap', () => {
    for (let tenths = 0; tenths <= 10; tenths++) expect(of(String(tenths / 10), 'reward to 1 by 0.1')).toEqual({ r: 10 - tenths });
    expect(of('0.95', 'reward to 1 by 0.1')).toEqual({ r: 1 });
    expect(of('7', 'reward to 1 by 0.1')).toEqual({ r: 0 });
    expect(of('-1e300', 'reward to 1 by 0.1')).toEqual({ r: 100 });
  });
  test.each([
    '',
    ' ',
    'nan',
    'NaN',
    'inf',
    '-inf',
    'Infinity',
    '1e999',
    '0x1',
    '1,0',
    '1 1',
    'true',
    '"1"',
    '[1]',
    'null',
    '{"reward": NaN}',
    '{"reward": "1"}',
    '{"reward": true}',
    '{"reward": null}',
    '{"reward": 1e999}',
    '{"reward": 1, "reward": 0}',
    '{"reward": {"a": 1}}',
    '\u{feff}1',
  ])('%j is no reward', (report) => {
    expect(of(report, 'reward', binary)).toMatch(/^malformed: /);
  });
  test('a script may end with the exit code of its tests, and may not fail and claim that nothing is left', () => {
    expect(of('0', 'reward', binary, 1)).toEqual({ r: 1 });
    expect(of('1', 'reward', binary, 1)).toMatch(/^crash: /);
    expect(of('0', 'reward', binary, 137)).toMatch(/^crash: /);
  });
});

describe('json-schema', () => {
  const schema = textFile(
    'verifier/s.json',
    '{"type": "object", "required": ["a", "b"], "properties": {"c": {"type": "array", "items": {"type": "integer"}}}}',
  );
  const from = 'artifact/d.json against verifier/s.json';
  const of = (text: string | Uint8Array | null, changes = {}) =>
    run('json-schema', {
      exitCode: null,
      files: [schema, ...(text === null ? [] : [textFile('artifact/d.json', text)])],
      obligations: wanted({ e: from }, changes),
    });
  test('counts every error, to the cap', () => {
    expect(of('{"c": [1, "x", null]}')).toEqual({
      values: { e: 4 },
      details: {
        e: "the document must have required property 'a'\nthe document must have required property 'b'\n/c/1 must be integer\n/c/2 must be integer",
      },
      advisory: {},
    });
    expect(values(of('{"c": ["x", "x"]}', { cap: 3 }))).toEqual({ e: 3 });
    expect(values(of('{"c": ["x", "x"]}', { kind: 'binary', cap: 1 }))).toEqual({ e: 1 });
    expect(values(of('{"a": 1, "b": 2}'))).toEqual({ e: 0 });
  });
  test.each<[string, string | Uint8Array | null]>([
    ['no file', null],
    ['no JSON', '{'],
    ['two documents', '{} {}'],
    ['a key twice', '{"a": 1, "a": 1, "b": 2}'],
    ['no UTF-8', Uint8Array.from([0x7b, 0xff, 0x7d])],
    ['depth', '['.repeat(100_000) + ']'.repeat(100_000)],
  ])('%s is the cap', (_, text) => {
    expect(values(of(text))).toEqual({ e: 100 });
  });
});

describe('text-count', () => {
  const files = [
    textFile('artifact/a.md', 'TODO one\ntodo two TODO\n'),
    textFile('artifact/sub/b.md', 'nothing'),
    textFile('artifact/raw.bin', Uint8Array.from([0xff])),
    textFile('verifier/c.md', 'TODO'),
  ];
  test.each<[string, number | undefined]>([
    ['/TODO/ in artifact/a.md', 2],
    ['/todo/i in artifact/**', 100],
    ['/todo/i in artifact/**/*.md', 3],
    ['/TODO/ in artifact/sub/*', 0],
    ['/TODO/ in artifact/*.txt', undefined],
    ['/^t/im in artifact/a.md', 2],
    ['/error: (\\d+)/ in report', 2],
  ])('%s', (from, value) => {
    const report = 'error: 1\nerror: x error: 22\n';
    expect(values(run('text-count', { files, report, exitCode: 1, obligations: wanted({ n: from }) }))).toEqual(
      value === undefined ? {} : { n: value },
    );
  });
  test('a tool that says nothing, or that fails and finds nothing, counts nothing', () => {
    const obligations = wanted({ n: '/x/ in report' });
    expect(values(run('text-count', { report: '', obligations }))).toEqual({});
    expect(values(run('text-count', { report: 'done', obligations }))).toEqual({ n: 0 });
    expect(values(run('text-count', { report: 'done', exitCode: 1, obligations }))).toMatch(/^crash: .*nothing to count/);
  });
  test('a tool that failed counts nothing', () => {
    expect(run('text-count', { report: 'x', exitCode: 2, obligations: wanted({ n: '/x/ in report' }) })).toMatchObject({
      problem: 'crash',
    });
  });
});

describe('exit-code', () => {
  const of = (report: string, exitCode: number) =>
    values(run('exit-code', { report, exitCode, obligations: wanted({ e: 'exit' }, { kind: 'binary', cap: 1 }) }));
  test('with the line that the script leaves at its end', () => {
    expect(of(`${nonce} 0\n`, 0)).toEqual({ e: 0 });
    expect(of(`${nonce} 3`, 3)).toEqual({ e: 1 });
  });
  test.each<[string, string, number, RegExp]>([
    ['an exit code alone', '', 0, /^malformed/],
    ['an exit code alone, and a failure', '', 1, /^crash/],
    ['another nonce', `${'f'.repeat(32)} 0`, 0, /^attestation/],
    ['another exit code', `${nonce} 0`, 1, /^crash/],
    ['a code that was turned around', `${nonce} 1`, 0, /^crash/],
    ['two lines', `${nonce} 0\n${nonce} 0\n`, 0, /^malformed/],
    ['words', 'all is well', 0, /^malformed/],
    ['a command that was not found', `${nonce} 127`, 127, /^crash/],
  ])('%s is no verdict', (_, report, exitCode, found) => {
    expect(of(report, exitCode)).toMatch(found);
  });
});

describe('a report that is not text', () => {
  test.each<AdapterName>(['junit', 'pytest', 'node-test', 'swe-bench', 'harbor', 'exit-code'])('%s', (name) => {
    for (const bytes of [
      [0xff, 0xfe],
      [0xed, 0xa0, 0x80],
      [0x3c, 0x61, 0xc3],
    ])
      expect(run(name, { report: Uint8Array.from(bytes) })).toEqual({ problem: 'malformed', message: expect.stringMatching(/not UTF-8/) });
  });
});
