// Which automatic commands a proposer may register, and what a run has registered after a round.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AutoCommand,
  autoCommands,
  type AutoRequest,
  fitsPattern,
  maxRegistered,
  maxRequests,
  refusalWords,
  register,
  registeredBy,
  RegisterRefusal,
  registerRound,
} from '#shared/domain/auto-registry.ts';
import { makeContract } from '../../engine/verifiers/support.ts';

const declared = { name: 'size', command: ['wc', '-c'], timeoutMs: 10 };
const contract = {
  ...makeContract(),
  auto: [declared],
  autoAllow: [
    { command: ['lint', '--fast', '*.py'], timeoutMs: 20 },
    { command: ['python3', '-m', 'pytest', '**'], timeoutMs: 30 },
    { command: ['echo', '**'], timeoutMs: 40 },
  ],
};
const asks = (name: string, ...command: string[]): AutoRequest => ({ name, command });
const refusalOf = (request: AutoRequest, before: readonly AutoCommand[] = [], under = contract) => {
  const result = register(under, before, request);
  return result.kind === 'refused' ? result.refusal : null;
};

describe('a pattern', () => {
  test.each<[pattern: string[], command: string[], fits: boolean]>([
    [['lint', '*.py'], ['lint', 'a.py'], true],
    [['lint', '*.py'], ['lint', 'a.js'], false],
    [['lint', '*.py'], ['lint'], false],
    [['lint', '*.py'], ['lint', 'a.py', 'b.py'], false],
    [['lint', '*.py'], ['/tmp/lint', 'a.py'], false],
    [['lint', '**'], ['lint'], true],
    [['lint', '**'], ['lint', '--anything', '*', ''], true],
    [['lint', 'a?c', '**'], ['lint', 'abc', 'x'], true],
    [['lint', 'a?c', '**'], ['lint', 'ac'], false],
    [['lint', '\\*'], ['lint', '*'], true],
    [['lint', '\\*'], ['lint', 'x'], false],
    // In the middle it is what one argument may be.
    [['lint', '**', 'x'], ['lint', 'anything', 'x'], true],
  ])('%j and %j: %s', (pattern, command, fits) => {
    expect(fitsPattern(pattern, command)).toBe(fits);
  });
});

describe('a request', () => {
  test('holds where an entry fits, with the time of that entry, and runs in the sandbox', () => {
    expect(register(contract, [], asks('tests', 'python3', '-m', 'pytest', '-q'))).toEqual({
      kind: 'accepted',
      isNew: true,
      command: { name: 'tests', command: ['python3', '-m', 'pytest', '-q'], timeoutMs: 30, registered: true },
    });
    expect(autoCommands(contract, []).map(({ name, registered }) => [name, registered])).toEqual([['size', false]]);
  });

  test('is refused with its reason', () => {
    expect(refusalOf(asks('x', 'curl', 'example.org'))).toBe('not_allowed');
    expect(refusalOf(asks('x', 'lint', '--fast', 'a.js'))).toBe('not_allowed');
    expect(refusalOf(asks('size', 'echo'))).toBe('name_taken');
    const { autoAllow: _none, ...without } = contract;
    const undeclared = register(without, [], asks('x', 'echo'));
    expect(undeclared).toEqual({ kind: 'refused', refusal: 'not_declared' });
    for (const broken of [
      asks('', 'echo'),
      asks('x'),
      asks('two\nlines', 'echo'),
      asks('x'.repeat(101), 'echo'),
      asks('\ud800', 'echo'),
      asks('x', 'echo', 'a\0b'),
      asks('x', 'echo', 'a'.repeat(1_001)),
      asks('x', 'echo', ...Array.from({ length: 64 }, () => 'a')),
    ])
      expect(refusalOf(broken)).toBe('malformed');
    for (const refusal of RegisterRefusal.options) expect(refusalWords(refusal)).toMatch(/^(is no|cannot be)/);
  });

  test('what runs already, declared or registered, holds and is not new; another command does not get its name', () => {
    expect(register(contract, [], asks('size', 'wc', '-c'))).toMatchObject({ kind: 'accepted', isNew: false });
    const { registered } = registerRound(contract, [], [[asks('say', 'echo', 'a')]]);
    expect(register(contract, registered, asks('say', 'echo', 'a'))).toMatchObject({ kind: 'accepted', isNew: false });
    expect(refusalOf(asks('say', 'echo', 'b'), registered)).toBe('name_taken');
  });
});

describe('a round', () => {
  test('goes by slots, and what holds stays', () => {
    const round = registerRound(contract, [], [[asks('a', 'echo', '1'), asks('b', 'rm')], [], [asks('a', 'echo', '2'), asks('c', 'echo')]]);
    expect(round.slots.map((slot) => slot.map(({ request, refusal }) => [request.name, refusal]))).toEqual([
      [
        ['a', null],
        ['b', 'not_allowed'],
      ],
      [],
      [
        ['a', 'name_taken'],
        ['c', null],
      ],
    ]);
    expect(round.registered.map(({ name, command }) => [name, command])).toEqual([
      ['a', ['echo', '1']],
      ['c', ['echo']],
    ]);
  });

  test('a run has so many at most, and reads so many requests of one response', () => {
    const many = Array.from({ length: maxRequests + 5 }, (_, i) => asks(`n${i}`, 'echo', `${i}`));
    const first = registerRound(contract, [], [many]);
    expect(first.slots[0]).toHaveLength(maxRequests);
    const second = registerRound(contract, first.registered, [[asks('more', 'echo', 'more'), asks('n0', 'echo', '0')]]);
    expect(first.registered).toHaveLength(maxRegistered);
    expect(second.slots[0]?.map(({ refusal }) => refusal)).toEqual(['too_many', null]);
    expect(second.registered).toEqual(first.registered);
  });

  test('the requests that held, alone and in their order, give the same commands again', () => {
    const request = fc.record({
      name: fc.constantFrom('a', 'b', 'size', ''),
      command: fc.constantFrom(['echo'], ['echo', '1'], ['rm'], []),
    });
    fc.assert(
      fc.property(fc.array(fc.array(fc.array(request, { maxLength: 3 }), { maxLength: 3 }), { maxLength: 5 }), (rounds) => {
        let registered: readonly AutoCommand[] = [];
        const held: AutoRequest[] = [];
        for (const slots of rounds) {
          const made = registerRound(contract, registered, slots);
          ({ registered } = made);
          for (const one of made.slots.flat()) if (one.refusal === null) held.push(one.request);
        }
        expect(registeredBy(contract, held)).toEqual(registered);
        expect(new Set(autoCommands(contract, registered).map(({ name }) => name)).size).toBe(registered.length + 1);
      }),
      { numRuns: 500 },
    );
  });
});
