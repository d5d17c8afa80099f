// Retrieval from exploration memory: deterministic, within its caps, and blind to what a proposer may not see.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excerptFor, memoryEntry } from '#shared/domain/memory-entry.ts';
import type { MemoryEntry } from '#shared/domain/memory.ts';
import type { Obligation } from '#shared/domain/obligation.ts';
import { relate } from '#shared/domain/rank.ts';
import { estimateTokens, type MemoryLimits, maxListed, memoryView, retrieve } from '#shared/domain/retrieve.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { runIdOf } from '../support/engine/builders.ts';
import { obligationOf } from '../support/contract.ts';

const contractSha = sha256Text('contract');
const bundles = ['seed', 'second', 'elsewhere'].map((name) => sha256Text(name));
const [seed = '', head = ''] = bundles;
const secret = 'sekrit';

// No key is a part of another.
const obligation = (i: number, visibility: Obligation['visibility']) =>
  obligationOf(`${visibility === 'full' ? 'open' : secret}-${'abcdef'[i] ?? ''}`, {
    title: `${visibility === 'full' ? 'Open' : 'Sekrit'} title ${i}.`,
    visibility,
  });

const visibility = fc.constantFrom('full' as const, 'aggregate' as const, 'hidden' as const);
const contracts = fc
  .array(visibility, { minLength: 1, maxLength: 5 })
  .map((all) => ({ sha: contractSha, obligations: all.map((v, i) => obligation(i, v)) }));
type Contract = { readonly sha: string; readonly obligations: readonly Obligation[] };

const rank = (m: number) => fc.array(fc.nat({ max: 9 }), { minLength: m, maxLength: m });

/** What became of one attempt, before its entry is made. */
type Attempt = {
  readonly base: string;
  readonly baseRank: number[];
  /** null: nothing was measured. */
  readonly rank: number[] | null;
  readonly other: 'duplicate' | 'invalid' | 'no_verdict' | 'aborted';
  readonly hunks: string[];
  /** Measured under another contract. */
  readonly foreign: boolean;
  readonly said: string;
};

const attempts = (m: number): fc.Arbitrary<Attempt[]> =>
  fc.array(
    fc.record<Attempt>({
      base: fc.constantFrom(...bundles),
      baseRank: rank(m),
      rank: fc.option(rank(m), { freq: 4 }),
      other: fc.constantFrom('duplicate', 'invalid', 'no_verdict', 'aborted'),
      hunks: fc.subarray(['one', 'two', 'three'].map((name) => sha256Text(name))),
      foreign: fc.boolean(),
      said: fc.constantFrom('a line\nfine', `${secret}-a is 7\nfine`, 'Sekrit title 1. is 3'),
    }),
    { maxLength: 14 },
  );

const outcomeOf = ({ rank: after, baseRank, other }: Attempt): MemoryEntry['outcome'] => {
  if (after === null) return other;
  const relation = relate(after, baseRank);
  return relation === 'dominates' ? 'not_selected' : relation;
};

const entriesOf = ({ obligations }: Contract, all: readonly Attempt[]): MemoryEntry[] =>
  all.map((attempt, i) =>
    memoryEntry({
      run: runIdOf(1),
      contract: attempt.foreign ? sha256Text('another contract') : contractSha,
      transition: i + 1,
      base: attempt.base,
      baseRank: attempt.baseRank,
      tree: sha256Text(`tree ${i}`),
      outcome: outcomeOf(attempt),
      verdict: attempt.rank === null ? null : { kind: 'ranked', rank: attempt.rank, runs: [], stable: true, advisory: {}, details: {} },
      changes: attempt.hunks.map((sha) => ({
        path: `${sha.slice(0, 4)}.txt`,
        status: 'modified',
        binary: false,
        added: 1,
        removed: 1,
        before: sha,
        after: sha,
      })),
      hunks: attempt.hunks,
      excerpt: excerptFor(obligations, Object.fromEntries(obligations.map(({ key }) => [key, attempt.said])), attempt.said),
      note: attempt.said,
    }),
  );

const limits: fc.Arbitrary<MemoryLimits> = fc
  .nat({ max: 8 })
  .chain((k) => fc.record({ k: fc.constant(k), tokenCap: fc.nat({ max: 1_500 }), quota: fc.nat({ max: k }) }));

const cases = contracts.chain((contract) => {
  const m = contract.obligations.length;
  return fc.record({
    contract: fc.constant(contract),
    attempts: attempts(m),
    headRank: rank(m),
    limits,
    shown: fc.array(fc.nat({ max: 3 }), { maxLength: 14 }),
    anyBase: fc.boolean(),
  });
});
type Case = { contract: Contract; attempts: Attempt[]; headRank: number[]; limits: MemoryLimits; shown: number[]; anyBase: boolean };

const retrieved = ({ contract, attempts: all, headRank, limits: caps, shown, anyBase }: Case, order?: readonly number[]): MemoryEntry[] => {
  const made = entriesOf(contract, all);
  return retrieve({
    entries: order === undefined ? made : order.map((i) => made[i]).filter((entry) => entry !== undefined),
    head: { id: head, rank: headRank },
    contract,
    ancestors: [seed],
    limits: caps,
    counters: new Map(made.map(({ id }, i) => [id, shown[i] ?? 0])),
    anyBase,
  });
};

describe('retrieval', () => {
  test('does not depend on the order in which entries are given, or on entries that stand twice', () => {
    fc.assert(
      fc.property(
        cases.chain((c) => {
          const all = c.attempts.map((_, i) => i);
          return fc.tuple(
            fc.constant(c),
            fc.shuffledSubarray(all, { minLength: all.length }),
            fc.array(fc.nat({ max: 13 }), { maxLength: 3 }),
          );
        }),
        ([c, order, again]) => {
          expect(retrieved(c, [...order, ...again])).toEqual(retrieved(c));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('keeps its caps and shows nothing twice, nothing of another line and nothing that was aborted', () => {
    fc.assert(
      fc.property(cases, (c) => {
        const found = retrieved(c);
        expect(found.length).toBeLessThanOrEqual(c.limits.k);
        const tokens = found.reduce((total, entry) => total + estimateTokens(memoryView(entry, c.contract)), 0);
        expect(tokens).toBeLessThanOrEqual(c.limits.tokenCap);
        expect(new Set(found.map(({ hunks }) => [...hunks].sort().join())).size).toBe(found.length);
        for (const { base, outcome } of found) {
          expect(outcome).not.toBe('aborted');
          expect(c.anyBase || base === seed || base === head).toBe(true);
        }
        const foreign = found.map(({ contract }) => contract !== contractSha);
        expect(foreign).toEqual([...foreign].sort((a, b) => Number(a) - Number(b)));
      }),
      { numRuns: 500 },
    );
  });

  test('what a proposer receives is the same whatever the hidden values are, and however aggregate ones share their sum', () => {
    fc.assert(
      fc.property(
        cases.chain((c) => fc.tuple(fc.constant(c), fc.array(fc.nat({ max: 9 }), { minLength: 150, maxLength: 150 }), fc.boolean())),
        ([c, replacement, swap]) => {
          const { obligations } = c.contract;
          let next = 0;
          // Hidden values are exchanged for any; the first two aggregate ones for each other.
          const [a, b] = obligations.flatMap(({ visibility: v }, i) => (v === 'aggregate' ? [i] : []));
          const veiled = (values: number[]): number[] =>
            values.map((value, i) => {
              if (obligations[i]?.visibility === 'hidden') return replacement[next++ % replacement.length] ?? 0;
              if (!swap || a === undefined || b === undefined || (i !== a && i !== b)) return value;
              return values[i === a ? b : a] ?? value;
            });
          const other: Case = {
            ...c,
            headRank: veiled(c.headRank),
            attempts: c.attempts.map((attempt) => ({
              ...attempt,
              baseRank: veiled(attempt.baseRank),
              rank: attempt.rank === null ? null : veiled(attempt.rank),
            })),
          };
          const viewsOf = (one: Case) => retrieved(one).map((entry) => memoryView(entry, one.contract));
          expect(viewsOf(other)).toEqual(viewsOf(c));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('no key, no title and no id of what is guarded is in a view', () => {
    fc.assert(
      fc.property(cases, (c) => {
        const made = entriesOf(c.contract, c.attempts);
        const guarded = c.contract.obligations.filter(({ visibility: v }) => v !== 'full');
        for (const entry of made) {
          const text = canonicalJson(memoryView(entry, c.contract)).toLowerCase();
          for (const { key, title } of guarded) {
            expect(text).not.toContain(key.toLowerCase());
            expect(text).not.toContain(title.toLowerCase());
          }
          for (const id of [entry.id, entry.base]) expect(text).not.toContain(id);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('by example', () => {
  const contract: Contract = { sha: contractSha, obligations: [obligation(0, 'full'), obligation(1, 'full'), obligation(2, 'full')] };
  const attempt = (baseRank: number[], after: number[], hunk: string, more: Partial<Attempt> = {}): Attempt => ({
    base: head,
    baseRank,
    rank: after,
    other: 'invalid',
    hunks: [sha256Text(hunk)],
    foreign: false,
    said: '',
    ...more,
  });
  const plain: Case = {
    contract,
    attempts: [],
    headRank: [5, 5, 0],
    limits: { k: 10, tokenCap: 100_000, quota: 5 },
    shown: [],
    anyBase: false,
  };
  const numbers = (c: Partial<Case>) => retrieved({ ...plain, ...c }).map(({ transition }) => transition);
  const base = [5, 5, 1];

  test('improvements that the head still needs count most, worsened values against, newer before older', () => {
    expect(
      numbers({
        attempts: [
          attempt(base, [5, 5, 1], 'tie, older'),
          // What it improved the head has reached meanwhile.
          attempt(base, [5, 6, 0], 'improved what is done'),
          attempt(base, [4, 6, 1], 'improved one, worsened one'),
          attempt(base, [4, 4, 2], 'improved two, worsened one'),
          attempt(base, [6, 6, 2], 'worsened three'),
          attempt(base, [5, 5, 1], 'tie, newer'),
        ],
      }),
    ).toEqual([4, 3, 6, 1, 2, 5]);
  });

  test('an entry that was shown moves back by one each time', () => {
    const two = [attempt(base, [5, 5, 1], 'a'), attempt(base, [5, 5, 1], 'b')];
    expect(numbers({ attempts: two })).toEqual([2, 1]);
    expect(numbers({ attempts: two, shown: [0, 1] })).toEqual([1, 2]);
  });

  test('near misses and dead ends share the places; what one leaves the other takes', () => {
    const near = [1, 2, 3].map((i) => attempt(base, [4, 6, 1], `near ${i}`));
    const dead = [1, 2, 3].map((i) => attempt(base, [6, 5, 1], `dead ${i}`));
    const caps = { tokenCap: 100_000, k: 4, quota: 2 };
    expect(numbers({ attempts: [...near, ...dead], limits: caps })).toEqual([3, 2, 6, 5]);
    expect(numbers({ attempts: [...near, ...dead.slice(0, 1)], limits: caps })).toEqual([3, 2, 1, 4]);
    expect(numbers({ attempts: [...near.slice(0, 1), ...dead], limits: caps })).toEqual([1, 4, 3, 2]);
  });

  test('of one set of hunks the best is shown, of another line nothing unless asked for', () => {
    const worse = attempt(base, [6, 5, 1], 'same');
    expect(numbers({ attempts: [attempt(base, [4, 6, 1], 'same'), worse] })).toEqual([1]);
    const elsewhere = attempt(base, [4, 4, 1], 'other line', { base: bundles[2] ?? '' });
    expect(numbers({ attempts: [worse, elsewhere] })).toEqual([1]);
    expect(numbers({ attempts: [worse, elsewhere], anyBase: true })).toEqual([2, 1]);
  });

  test('an entry that does not fit the tokens is passed over for a smaller one', () => {
    const large = attempt(base, [4, 4, 1], 'large', { hunks: ['a', 'b', 'c'].map((name) => sha256Text(name)) });
    const small = attempt(base, [6, 6, 2], 'small', { hunks: [] });
    const [entry] = entriesOf(contract, [small]);
    if (entry === undefined) throw new Error('no entry');
    const tokenCap = estimateTokens(memoryView(entry, contract));
    expect(numbers({ attempts: [large, small], limits: { ...plain.limits, tokenCap } })).toEqual([2]);
  });

  test('a view names what changed, bounded, with counts of all', () => {
    const many: Contract = {
      sha: contractSha,
      obligations: Array.from({ length: maxListed + 5 }, (_, i) => ({ ...obligation(0, 'full'), key: `k${i}` })),
    };
    const before = many.obligations.map(() => 5);
    const [entry] = entriesOf(many, [attempt(before, [6, ...before.slice(1).map(() => 4)], 'x', { said: 'words' })]);
    if (entry === undefined) throw new Error('no entry');
    const view = memoryView(entry, many);
    expect(view).toMatchObject({
      n: 1,
      outcome: 'incomparable',
      betterCount: maxListed + 4,
      worseCount: 1,
      aggregate: null,
      note: 'words',
    });
    expect(view.better).toHaveLength(maxListed);
    expect(view.worse).toEqual([{ key: 'k0', before: 5, after: 6 }]);
    expect(view.excerpt).toContain('k0: words');
  });

  test('guarded obligations show as a sum, and the outcome that depends on them not at all', () => {
    const guarded: Contract = {
      sha: contractSha,
      obligations: [obligation(0, 'full'), obligation(1, 'aggregate'), obligation(2, 'hidden')],
    };
    const [entry] = entriesOf(guarded, [attempt([5, 5, 5], [4, 3, 9], 'x')]);
    if (entry === undefined) throw new Error('no entry');
    expect(entry.outcome).toBe('incomparable');
    expect(memoryView(entry, guarded)).toMatchObject({
      outcome: 'rejected',
      better: [{ key: 'open-a', before: 5, after: 4 }],
      worse: [],
      worseCount: 0,
      aggregate: { before: 5, after: 3 },
    });
  });
});
