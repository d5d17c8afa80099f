import { describe, expect, test } from 'vitest';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import { commitment, EventBody, eventLine, firstPrev, parseEventLine, verifyEventChain } from '#shared/domain/event-chain.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { vectors } from '../../property/lib/vectors.ts';

const sha = (c: string): string => c.repeat(64);
const at = '2025-06-01T10:00:00.000Z';
const bodies: EventBody[] = [
  { type: 'declare', body: { run: 'run_01890a5d-ac96-774b-bcce-b302099a8057', header: sha('1'), contract: sha('2'), task: 'exam' } },
  { type: 'genesis', body: { bundle: sha('3'), tree: sha('4'), rank: [1, 2], potential: 3, runs: 5 } },
  {
    type: 'round',
    body: {
      round: 1,
      base: sha('3'),
      slots: [
        { n: 1, slot: 0, draw: 1 },
        { n: 2, slot: 1, draw: 2 },
      ],
      reserved: [noAmounts(), { ...noAmounts(), promptTokens: 9 }],
    },
  },
  {
    type: 'proposal',
    body: { n: 1, round: 1, slot: 0, request: sha('5'), response: null, tree: null, retrieved: [], featuresShown: null },
  },
  {
    type: 'verdict',
    body: {
      n: 1,
      of: 'candidate',
      tree: sha('6'),
      contract: sha('2'),
      result: { kind: 'ranked', rank: [0, 2], stable: true, runs: 3 },
      source: 'fresh',
      record: sha('7'),
      outputs: [sha('8')],
    },
  },
  {
    type: 'verdict',
    body: {
      n: 2,
      of: 'base',
      tree: sha('4'),
      contract: sha('2'),
      result: { kind: 'no_verdict', code: 'crash', runs: 1 },
      source: 'fresh',
      record: sha('7'),
      outputs: [],
    },
  },
  { type: 'register', body: { n: 1, round: 1, slot: 0, request: sha('5'), refusal: null } },
  { type: 'register', body: { n: 1, round: 1, slot: 0, request: sha('6'), refusal: 'not_allowed' } },
  {
    type: 'auto',
    body: {
      n: 1,
      outputs: [
        { tree: sha('4'), at: 'proposal', record: sha('7') },
        { tree: sha('6'), at: 'candidate', record: sha('8') },
      ],
    },
  },
  {
    type: 'decision',
    body: {
      n: 1,
      round: 1,
      slot: 0,
      base: sha('3'),
      outcome: 'commit',
      tree: sha('6'),
      rank: [0, 2],
      bundle: sha('9'),
      duplicateOf: null,
      verdictSource: 'fresh',
    },
  },
  { type: 'recertify', body: { from: sha('9'), contract: sha('a'), era: 1, tree: sha('6'), rank: null, potential: null, bundle: null } },
  { type: 'resume', body: { from: sha('9'), nextN: 3 } },
  { type: 'stop', body: { reason: 'user' } },
];

const chainOf = (events: readonly EventBody[]): { lines: string[]; last: string } => {
  const lines: string[] = [];
  let prev = firstPrev;
  for (const [seq, event] of events.entries()) {
    const { line, sha: hash } = eventLine({ seq, prev, at, ...event });
    lines.push(line);
    prev = hash;
  }
  return { lines, last: prev };
};

// Rewrites one line as JSON without keeping its hash right.
const edit = (line: string, change: (value: Record<string, unknown>) => unknown): string => JSON.stringify(change(JSON.parse(line)));

describe('lines', () => {
  test('every event type is written, read back and chained', () => {
    const { lines, last } = chainOf(bodies);
    expect(verifyEventChain(lines)).toEqual({ ok: true, value: { count: bodies.length, last } });
    expect(lines.map((l) => parseEventLine(l))).toEqual(
      bodies.map((b, seq) => ({ ok: true, value: { seq, prev: seq === 0 ? firstPrev : sha256Text(lines[seq - 1] ?? ''), at, ...b } })),
    );
    expect(new Set(bodies.map((b) => b.type)).size).toBe(EventBody.options.length);
  });

  test('vectors', () => {
    const lines = vectors.lines.map((l) => l.line);
    expect(verifyEventChain(lines)).toEqual({ ok: true, value: { count: 3, last: vectors.lines.at(-1)?.sha } });
    expect(lines.map((l) => sha256Text(l))).toEqual(vectors.lines.map((l) => l.sha));
  });

  test('an empty chain verifies', () => {
    expect(verifyEventChain([])).toEqual({ ok: true, value: { count: 0, last: firstPrev } });
  });

  test.each<[string, unknown, string]>([
    ['an unknown field', { type: 'stop', body: { reason: 'user', note: 'x' } }, 'note'],
    ['an unknown type', { type: 'note', body: {} }, 'type'],
    ['the body of another type', { type: 'stop', body: { from: sha('9'), nextN: 3 } }, 'reason'],
    ['content in the place of a commitment', { type: 'proposal', body: { ...bodies[3]?.body, request: 'the prompt' } }, 'request'],
    ['a round without slots', { type: 'round', body: { ...bodies[2]?.body, slots: [], reserved: [] } }, 'slots'],
    [
      'a round without a reservation',
      { type: 'round', body: { ...bodies[2]?.body, reserved: [] } },
      'a round has one reservation per slot',
    ],
  ])('%s is refused when written', (_, event, message) => {
    expect(() => Reflect.apply(eventLine, undefined, [{ seq: 0, prev: firstPrev, at, ...Object(event) }])).toThrow(message);
  });

  test.each(['2025-06-01', '2025-06-01T10:00:00Z', '2025-06-01T12:00:00.000+02:00'])(
    'the time %s is refused: UTC with milliseconds only',
    (time) => {
      expect(() => eventLine({ seq: 0, prev: firstPrev, at: time, type: 'stop', body: { reason: 'user' } })).toThrow('ISO datetime');
    },
  );
});

describe('faults are found and placed', () => {
  const { lines } = chainOf(bodies);
  const [first = '', second = ''] = lines;
  test.each<[string, string[], number, string]>([
    ['no JSON', ['{'], 0, 'the line is not JSON'],
    ['no object', ['[]'], 0, 'event: Invalid input: expected object, received array'],
    ['spaces', [first.replace('{', '{ ')], 0, 'the line is not canonical JSON'],
    ['a key twice', [first.replace('{', '{"seq":0,')], 0, 'the line is not canonical JSON'],
    ['a number spelt otherwise', [first.replace('"seq":0', '"seq":0.0')], 0, 'the line is not canonical JSON'],
    ['an unknown field', [edit(first, (v) => ({ ...v, more: 1 }))], 0, 'event: Unrecognized key: "more"'],
    [
      'a changed body',
      [first, second.replace('"potential":3', '"potential":4'), ...lines.slice(2)],
      2,
      'prev is not the hash of the line before',
    ],
    ['a lost line', lines.toSpliced(1, 1), 1, 'the line says seq 2, its place is 1'],
    ['a doubled line', [first, ...lines], 1, 'the line says seq 0, its place is 1'],
    ['a chain that starts late', lines.slice(1), 0, 'the line says seq 1, its place is 0'],
    [
      'a first line with a past',
      [eventLine({ seq: 0, prev: sha('f'), at, type: 'stop', body: { reason: 'user' } }).line],
      0,
      'prev is not the hash of the line before',
    ],
  ])('%s', (_, chain, seq, message) => {
    expect(verifyEventChain(chain)).toEqual({ ok: false, error: { seq, message } });
  });

  test('deep nesting in a hostile line is an answer, not a crash', () => {
    const deep = `{"at":"${at}","body":${'['.repeat(100_000)}${']'.repeat(100_000)},"prev":"${firstPrev}","seq":0,"type":"stop"}`;
    expect(verifyEventChain([deep])).toMatchObject({ ok: false, error: { seq: 0 } });
  });
});

describe('commitments', () => {
  test.each(vectors.commitments)('vector $sha', ({ salt, text, sha: expected }) => {
    expect(commitment(salt, new TextEncoder().encode(text))).toBe(expected);
  });

  test.each(['', '00', 'zz'.repeat(32), 'AB'.repeat(32), '00'.repeat(33)])('the salt %j is refused: 32 bytes in lowercase hex', (salt) => {
    expect(() => commitment(salt, new Uint8Array(1))).toThrow('a salt is 32 bytes in lowercase hex');
  });
});
