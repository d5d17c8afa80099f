import { describe, expect, test } from 'vitest';
import { features } from '#shared/domain/features.ts';
import { excerptFor, maxExcerptBytes, memoryEntry, type MemoryFacts, signVector } from '#shared/domain/memory-entry.ts';
import { MemoryEntry } from '#shared/domain/memory.ts';
import type { Obligation } from '#shared/domain/obligation.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import { hashJson } from '#shared/lib/hash.ts';
import { utf8Length } from '#shared/lib/text.ts';
import { obligationOf } from '../../support/contract.ts';

const sha = (c: string): string => c.repeat(64);
const verdict: Verdict = { kind: 'ranked', rank: [0, 4, 2], runs: [], stable: true, advisory: {}, details: {} };
const facts: MemoryFacts = {
  run: 'run_01890a5d-ac96-774b-bcce-b302099a8057',
  contract: sha('1'),
  transition: 3,
  base: sha('2'),
  baseRank: [1, 3, 2],
  tree: sha('3'),
  outcome: 'incomparable',
  verdict,
  changes: [{ path: 'a.txt', status: 'modified', binary: false, added: 1, removed: 0, before: sha('4'), after: sha('5') }],
  hunks: [sha('6')],
  excerpt: 'clashes: two',
  note: null,
};

describe('memoryEntry', () => {
  test('passes its schema and carries rank, signs and features against its own base', () => {
    const entry = MemoryEntry.parse(memoryEntry(facts));
    expect(entry).toMatchObject({ rank: [0, 4, 2], signs: [-1, 1, 0], features: features([1, 3, 2], verdict, 'incomparable'), note: null });
  });

  test('without a ranked verdict there is neither rank nor sign', () => {
    const entry = MemoryEntry.parse(memoryEntry({ ...facts, outcome: 'duplicate', verdict: null, tree: null }));
    expect([entry.rank, entry.signs, entry.features.hasVerdict]).toEqual([null, null, false]);
  });

  test('the id is the hash of everything but id and note', () => {
    const { id, note, ...body } = memoryEntry(facts);
    expect([id, note]).toEqual([hashJson(body), null]);
    expect(memoryEntry({ ...facts, note: 'written by a model' })).toEqual({ ...body, id, note: 'written by a model' });
    expect(memoryEntry({ ...facts, excerpt: 'other' }).id).not.toBe(id);
  });

  test('signs need ranks of one length', () => {
    expect(() => signVector([1], [1, 2])).toThrow('ranks of 1 and 2 coordinates');
  });
});

describe('excerptFor', () => {
  const obligation = (key: string, visibility: Obligation['visibility']) => obligationOf(key, { visibility });
  const open = [obligation('clashes', 'full'), obligation('gaps', 'full')];
  const guarded = [...open, obligation('secret', 'hidden'), obligation('quota', 'aggregate'), obligation('load', 'aggregate')];
  const details = {
    gaps: 'hall 3 at noon',
    clashes: 'Kim twice\nsee SECRET list\nalso the title OF quota\nLee twice',
    secret: 'the answer is 42',
    quota: 'over by 2',
  };

  test('everything open: details in coordinate order, then the output', () => {
    expect(excerptFor(open, { ...details, clashes: 'Kim twice' }, 'exit 0')).toBe('clashes: Kim twice\ngaps: hall 3 at noon\nexit 0');
  });

  test('something guarded: its lines and the whole output go, aggregate ones leave a number', () => {
    expect(excerptFor(guarded, details, 'raw output with 42')).toBe(
      'clashes: Kim twice\nLee twice\ngaps: hall 3 at noon\naggregate obligations with details: 1',
    );
  });

  test('details of keys that are no obligation, or inherited, are left out', () => {
    expect(excerptFor(open, { unknown: 'x' }, '')).toBe('');
    expect(excerptFor([obligation('constructor', 'full')], {}, '')).toBe('');
  });

  test('4 KiB, cut between code points; lone surrogates replaced', () => {
    const long = excerptFor(open, {}, `a${'\u{1f600}'.repeat(3_000)}`);
    expect([utf8Length(long), long.isWellFormed()]).toEqual([maxExcerptBytes - 3, true]);
    expect(excerptFor(open, { gaps: 'x\ud800y' }, '')).toBe('gaps: x\ufffdy');
  });

  test('a detail too long to look through loses the line that is cut, not half of a guarded word', () => {
    const text = `${'\n'.repeat(65_533)}secret`;
    expect(excerptFor(guarded, { gaps: text }, '')).not.toContain('sec');
    expect(excerptFor(guarded, { gaps: `kept\n${'y'.repeat(70_000)}` }, '')).toBe('gaps: kept');
  });
});
