import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeReport, maxDetailBytes, type Judgement } from '#electron/verifiers/judge.ts';
import { Ending, noExecution, type Execution } from '#electron/verifiers/runner-contract.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { utf8Length } from '#shared/lib/text.ts';
import { makeContract } from './support.ts';

const contract = makeContract({ advisory: [{ key: 'speed', better: 'higher' }] });
const nonce = '0123456789abcdef0123456789abcdef';
const tree = 'c'.repeat(64);
const echo = { nonce, tree, contract: contract.sha };
const encoder = new TextEncoder();

const execution = (report: string | Uint8Array | null, changes: Partial<Execution> = {}): Execution => ({
  ...noExecution,
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  ending: 'exited',
  exitCode: 0,
  report: typeof report === 'string' ? encoder.encode(report) : report,
  ...changes,
});
const judgeText = (report: string | Uint8Array | null, changes: Partial<Execution> = {}, under: Contract = contract): Judgement =>
  judgeReport({ contract: under, nonce, tree, execution: execution(report, changes) });
const judge = (report: unknown, changes: Partial<Execution> = {}): Judgement => judgeText(JSON.stringify(report), changes);

const good = { ...echo, values: { a: 3, b: 0 } };

describe('a complete report', () => {
  test('ranks in the order of the contract', () => {
    expect(judge({ ...echo, values: { b: 5, a: 10 } })).toEqual({ kind: 'ranked', rank: [10, 5], advisory: {}, details: {} });
  });
  test('a quarantined obligation that is still reported as a value is advisory', () => {
    expect(judge({ ...echo, values: { b: 5, a: 10, speed: 1 } })).toMatchObject({ kind: 'ranked', rank: [10, 5], advisory: { speed: 1 } });
  });
  test('advisory and details come along, cut to size and well formed', () => {
    const text = judgeText(
      `{"nonce":"${nonce}","tree":"${tree}","contract":"${contract.sha}","values":{"a":-0,"b":1.0},"advisory":{"speed":1.5},"details":{"a":"x\\ud800","b":${JSON.stringify('é'.repeat(5_000))},"speed":"fast"}}`,
    );
    expect(text).toMatchObject({ kind: 'ranked', rank: [0, 1], advisory: { speed: 1.5 }, details: { a: 'x\u{fffd}', speed: 'fast' } });
    const long = text.kind === 'ranked' ? (text.details['b'] ?? '') : '';
    expect(utf8Length(long)).toBeLessThanOrEqual(maxDetailBytes);
    expect(long.endsWith('é…')).toBe(true);
    expect(text.kind === 'ranked' && Object.is(text.rank[0], 0)).toBe(true);
  });
  test('a missing obligation is malformed, or its cap where the contract says so', () => {
    expect(judge({ ...echo, values: { a: 3 } })).toMatchObject({ code: 'malformed', message: expect.stringContaining('"b"') });
    const lenient = makeContract({ obligations: [{ key: 'a' }, { key: 'b', cap: 5, missing: 'cap' }] });
    expect(judgeText(JSON.stringify({ ...echo, contract: lenient.sha, values: { a: 3 } }), {}, lenient)).toMatchObject({ rank: [3, 5] });
  });
  test('an obligation named like something every object inherits is missing when it is missing', () => {
    const odd = makeContract({ obligations: [{ key: 'constructor' }, { key: 'toString' }] });
    expect(judgeText(JSON.stringify({ ...echo, contract: odd.sha, values: {} }), {}, odd)).toMatchObject({ code: 'malformed' });
    expect(judgeText(JSON.stringify({ ...echo, contract: odd.sha, values: { constructor: 1, toString: 2 } }), {}, odd)).toMatchObject({
      rank: [1, 2],
    });
  });
});

describe('a timeout where candidate code runs', () => {
  const running = (onCandidateTimeout: 'cap' | 'no_verdict') =>
    makeContract({
      obligations: [{ key: 'a' }, { key: 'b', onCandidateTimeout }],
      verifier: { runsCandidate: true },
    });
  test('every obligation takes its cap, whatever had been reported by then', () => {
    const under = running('cap');
    const report = JSON.stringify({ ...good, contract: under.sha, values: { a: 0, b: 0 } });
    for (const text of [report, '', null])
      expect(judgeText(text, { ending: 'timeout' }, under)).toEqual({
        kind: 'ranked',
        rank: under.obligations.map(({ cap }) => cap),
        advisory: {},
        details: { a: expect.stringContaining('not reached'), b: expect.stringContaining('not reached') },
      });
  });
  test('unless an obligation leaves it without a verdict, or files were changed', () => {
    expect(judgeText(null, { ending: 'timeout' }, running('no_verdict'))).toMatchObject({ kind: 'no_verdict', code: 'verifier_timeout' });
    expect(judgeText(null, { ending: 'timeout', tampered: ['verifier/check.sh'] }, running('cap'))).toMatchObject({ code: 'tampered' });
    expect(judgeText(null, { ending: 'setup_timeout' }, running('cap'))).toMatchObject({ code: 'setup_timeout' });
  });
});

describe('how it ended comes before what it reported', () => {
  test.each<[string, Partial<Execution>, string]>([
    ['exit code 3', { exitCode: 3 }, 'crash'],
    ['a signal', { exitCode: null, signal: 'SIGSEGV' }, 'crash'],
    ['a timeout', { ending: 'timeout' }, 'verifier_timeout'],
    ['a setup timeout', { ending: 'setup_timeout' }, 'setup_timeout'],
    ['too much output', { ending: 'output' }, 'crash'],
    ['no memory', { ending: 'out_of_memory' }, 'crash'],
    ['an exception', { ending: 'threw', message: 'Error: x' }, 'crash'],
    ['an abort', { ending: 'aborted' }, 'aborted'],
    ['a fault of the machine', { ending: 'infra' }, 'infra'],
    ['changed files', { tampered: ['verifier/check.sh'] }, 'tampered'],
    ['changed files and a crash', { tampered: ['verifier/check.sh'], exitCode: 1 }, 'tampered'],
    ['a report that is not read', { reportProblem: 'it is longer than 3 bytes' }, 'malformed'],
  ])('%s', (_, changes, code) => {
    expect(judge(good, changes)).toMatchObject({ kind: 'no_verdict', code });
  });
  test('QuickJS has no exit code', () => {
    expect(judge(good, { ending: 'returned', exitCode: null })).toMatchObject({ kind: 'ranked' });
  });
});

describe('the report of an adapter', () => {
  const adapted = makeContract({ verifier: { kind: 'command', command: ['sh'], file: null, adapter: 'junit' } });
  const note = { name: 'junit', exitCode: 1, report: 'a'.repeat(64) };
  const base = { ...echo, contract: adapted.sha, adapter: note };
  const of = (report: unknown, changes: Partial<Execution> = {}) => judgeText(JSON.stringify(report), { exitCode: 1, ...changes }, adapted);
  test('is held to its values whatever the exit code, which the adapter has seen', () => {
    expect(of({ ...base, values: { a: 3, b: 0 } })).toMatchObject({ kind: 'ranked', rank: [3, 0] });
    expect(of({ ...base, values: { a: 11, b: 0 } })).toMatchObject({ code: 'malformed' });
    expect(of({ ...base, values: { a: 3 } })).toMatchObject({ code: 'malformed' });
  });
  test('names its problem', () => {
    expect(of({ ...base, problem: { code: 'crash', message: 'the tool' } })).toEqual({
      kind: 'no_verdict',
      code: 'crash',
      message: 'the tool',
    });
    expect(of({ ...base, problem: { code: 'fine', message: '' } })).toMatchObject({ code: 'malformed' });
  });
  test.each<[string, unknown, Partial<Execution>, string]>([
    ['another adapter', { ...base, adapter: { ...note, name: 'pytest' }, values: {} }, {}, 'attestation'],
    ['another exit code', { ...base, values: { a: 0, b: 0 } }, { exitCode: 0 }, 'attestation'],
    ['no adapter', { ...base, adapter: undefined, values: { a: 0, b: 0 } }, {}, 'attestation'],
    ['another nonce', { ...base, nonce: 'f'.repeat(32), values: { a: 0, b: 0 } }, {}, 'attestation'],
    ['a signal', { ...base, values: { a: 0, b: 0 } }, { signal: 'SIGKILL' }, 'crash'],
  ])('%s is no verdict', (_, report, changes, code) => {
    expect(of(report, changes)).toMatchObject({ kind: 'no_verdict', code });
  });
  test('none at all is the fault of the runner, and a verifier of its own cannot write one', () => {
    expect(judgeText(null, { exitCode: 1 }, adapted)).toMatchObject({ code: 'infra' });
    expect(judge({ ...good, adapter: note })).toMatchObject({
      code: 'malformed',
      message: expect.stringContaining('unknown field "adapter"'),
    });
  });
});

describe('wrong reports', () => {
  test.each<[string, unknown, string, RegExp]>([
    ['wrong nonce', { ...good, nonce: 'f'.repeat(32) }, 'attestation', /nonce/],
    ['no nonce', { tree, contract: contract.sha, values: good.values }, 'attestation', /nonce is missing/],
    ['nonce of another type', { ...good, nonce: [nonce] }, 'attestation', /nonce/],
    ['wrong tree', { ...good, tree: 'd'.repeat(64) }, 'attestation', /tree/],
    ['wrong contract', { ...good, contract: 'd'.repeat(64) }, 'attestation', /contract/],
    ['unknown field', { ...good, rank: [0, 0] }, 'malformed', /unknown field "rank"/],
    ['no values', { ...echo }, 'malformed', /"values"/],
    ['values as a list', { ...echo, values: [0, 0] }, 'malformed', /"values"/],
    ['values null', { ...echo, values: null }, 'malformed', /"values"/],
    ['unknown obligation', { ...echo, values: { ...good.values, c: 0 } }, 'malformed', /unknown obligation "c"/],
    ['above its cap', { ...echo, values: { a: 11, b: 0 } }, 'malformed', /values\.a is 11, above its cap of 10/],
    ['negative', { ...echo, values: { a: -1, b: 0 } }, 'malformed', /values\.a is -1/],
    ['fraction', { ...echo, values: { a: 0.5, b: 0 } }, 'malformed', /values\.a is 0\.5/],
    ['string', { ...echo, values: { a: '0', b: 0 } }, 'malformed', /values\.a is "0"/],
    ['null', { ...echo, values: { a: null, b: 0 } }, 'malformed', /values\.a is null/],
    ['boolean', { ...echo, values: { a: false, b: 0 } }, 'malformed', /values\.a is false/],
    ['list', { ...echo, values: { a: [0], b: 0 } }, 'malformed', /values\.a/],
    [
      'an advisory value said twice',
      { ...good, values: { ...good.values, speed: 1 }, advisory: { speed: 1 } },
      'malformed',
      /both in values and in advisory/,
    ],
    [
      'an advisory value among the values that is none',
      { ...good, values: { ...good.values, speed: '1' } },
      'malformed',
      /advisory\.speed/,
    ],
    ['unknown advisory', { ...good, advisory: { cost: 1 } }, 'malformed', /unknown key "cost"/],
    ['advisory text', { ...good, advisory: { speed: '1' } }, 'malformed', /advisory\.speed/],
    ['unknown detail', { ...good, details: { c: 'x' } }, 'malformed', /unknown key "c"/],
    ['detail that is no text', { ...good, details: { a: 1 } }, 'malformed', /details\.a/],
    ['a list', [good], 'malformed', /not a JSON object/],
    ['a number', 0, 'malformed', /not a JSON object/],
  ])('%s', (_, report, code, message) => {
    expect(judge(report)).toMatchObject({ kind: 'no_verdict', code, message: expect.stringMatching(message) });
  });

  const text = JSON.stringify(good);
  test.each<[string, string | Uint8Array | null, RegExp]>([
    ['nothing', null, /there is none/],
    ['an empty file', '', /there is none/],
    ['blanks', ' \n', /it is empty/],
    ['garbage', 'score: 0', /not one JSON document/],
    ['NaN', text.replace('"a":3', '"a":NaN'), /not one JSON document/],
    ['Infinity by overflow', text.replace('"a":3', '"a":1e999'), /values\.a/],
    ['an advisory integer beyond 2^53', text.replace('}}', '},"advisory":{"speed":1e300}}'), /advisory\.speed/],
    ['two documents', `${text}\n${text}`, /not one JSON document/],
    ['trailing garbage', `${text} ok`, /not one JSON document/],
    ['a key twice', text.replace('"a":3', '"a":3,"a":0'), /"a" stands twice/],
    ['a key twice, spelled differently', text.replace('"a":3', '"a":3,"\\u0061":0'), /"a" stands twice/],
    ['a field twice', text.replace('"values"', '"values":{"a":0,"b":0},"values"'), /"values" stands twice/],
    ['a byte order mark', `\u{feff}${text}`, /byte order mark/],
    ['bytes that are not UTF-8', Uint8Array.from([...encoder.encode('{"nonce":"'), 0xff, 0x22, 0x7d]), /not UTF-8/],
    ['endless nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, /nested deeper/],
    ['cut off', text.slice(0, -1), /not one JSON document/],
  ])('%s', (_, report, message) => {
    expect(judgeText(report)).toMatchObject({ kind: 'no_verdict', code: 'malformed', message: expect.stringMatching(message) });
  });
});

// An independent statement of what a ranked report is.
const isComplete = (report: unknown): boolean => {
  if (typeof report !== 'object' || report === null || !('values' in report)) return false;
  const { values } = report;
  if (typeof values !== 'object' || values === null) return false;
  const keys = Object.keys(values).sort();
  return (
    keys.length === 2 &&
    keys[0] === 'a' &&
    keys[1] === 'b' &&
    [['a', 10] as const, ['b', 5] as const].every(([key, cap]) => {
      const value: unknown = Reflect.get(values, key);
      return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= cap;
    }) &&
    Reflect.get(report, 'nonce') === nonce &&
    Reflect.get(report, 'tree') === tree &&
    Reflect.get(report, 'contract') === contract.sha
  );
};

describe('properties', () => {
  const value = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.double(), fc.jsonValue({ maxDepth: 1 }));
  const nearly = fc.record(
    {
      nonce: fc.constantFrom(nonce, nonce, nonce, 'x', 0),
      tree: fc.constantFrom(tree, tree, tree, 'x', null),
      contract: fc.constantFrom(contract.sha, contract.sha, contract.sha, ''),
      values: fc.oneof(
        fc.record({ a: value, b: value }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), value),
        fc.jsonValue(),
      ),
      advisory: fc.oneof(fc.constant({}), fc.jsonValue()),
      details: fc.oneof(fc.constant({}), fc.dictionary(fc.constantFrom('a', 'b'), fc.string())),
    },
    { requiredKeys: ['nonce', 'tree', 'contract', 'values'] },
  );

  test('a report that is nearly right ranks only if it is right', () => {
    let ranked = 0;
    fc.assert(
      fc.property(nearly, (report) => {
        const judgement = judge(report);
        if (judgement.kind !== 'ranked') return true;
        ranked++;
        return (
          isComplete(JSON.parse(JSON.stringify(report))) &&
          judgement.rank.length === 2 &&
          judgement.rank.every(
            (coordinate, i) => Number.isSafeInteger(coordinate) && coordinate >= 0 && coordinate <= (contract.obligations[i]?.cap ?? -1),
          )
        );
      }),
      { numRuns: 3_000 },
    );
    expect(ranked).toBeGreaterThan(0);
  });

  test('arbitrary JSON and arbitrary bytes never rank', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (report) => {
        expect(judge(report).kind).toBe('no_verdict');
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array(), (report) => {
        expect(judgeText(report).kind).toBe('no_verdict');
      }),
    );
  });

  test('whatever is appended to or cut from a good report, it no longer ranks', () => {
    const text = JSON.stringify(good);
    fc.assert(
      fc.property(
        fc.string().filter((tail) => tail.trim() !== ''),
        (tail) => {
          expect(judgeText(text + tail).kind).toBe('no_verdict');
        },
      ),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: text.length - 1 }), (length) => {
        expect(judgeText(text.slice(0, length)).kind).toBe('no_verdict');
      }),
    );
  });

  test('no ending but a clean one ranks', () => {
    const unclean = fc.record({
      ending: fc.constantFrom(...Ending.options.filter((ending) => ending !== 'returned')),
      exitCode: fc.integer({ min: 1, max: 255 }),
    });
    fc.assert(
      fc.property(unclean, (changes) => {
        expect(judge(good, changes).kind).toBe('no_verdict');
      }),
    );
  });
});
