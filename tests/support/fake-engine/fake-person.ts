// A run of which a person is the proposer: every candidate is measured by what stands in its files, and decided by the real rules.
import { RpcError } from '#shared/contract/errors.ts';
import { relate } from '#shared/domain/rank.ts';
import type { FileChange } from '#shared/domain/memory.ts';
import type { Outcome } from '#shared/domain/transition.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { costOf, fakeSha, genesisRank, type FakeBundle, type FakeTransition } from './fake-run.ts';

export type FakeFiles = ReadonlyMap<string, string>;
export type FakeEdit = { readonly path: string; readonly text: string | null };

/** What a candidate may write, beside the timetable. */
export const personWritable = ['timetable.json', 'notes/**'];

const count = (text: string, part: string): number => text.split(part).length - 1;

/** Exams in slot 1 and exams in the Aula, in whatever the timetable says; the other obligations never change. */
const rankOf = (files: FakeFiles): number[] => {
  const text = files.get('timetable.json') ?? '';
  return [count(text, '"slot":1,'), count(text, '"room":"Aula"'), ...genesisRank.slice(2)];
};

/** `seedText`: the timetable of the seed. */
export function createFakePerson(seed: number, seedText: string) {
  const trees: FakeFiles[] = [
    new Map([
      ['README.md', '# Timetable\n\nOnly timetable.json and notes may be written.\n'],
      ['notes/rooms.txt', 'Aula\r\nH1\r\n'],
      ['timetable.json', seedText],
    ]),
  ];
  const chain: FakeBundle[] = [
    { id: fakeSha(`bundle ${seed} 0`), seq: 0, rank: rankOf(trees[0] ?? new Map()), transition: null, edits: [] },
  ];
  const transitions: FakeTransition[] = [];
  const candidates: (FakeFiles | null)[] = [];
  const head = () => chain.length - 1;

  const invalid = (edits: readonly FakeEdit[]): boolean =>
    edits.some(({ path }) => path !== 'timetable.json' && !path.startsWith('notes/')) || edits.length === 0;

  return {
    run: { transitions, chain },
    filesOf: (seq: number): FakeFiles => trees[seq] ?? new Map(),
    /** One attempt over the head `base`. */
    propose(base: number, edits: readonly FakeEdit[]): { n: number; outcome: Outcome } {
      if (base !== head())
        throw new RpcError('conflict', `bundle ${base} is not the head of the run, which is ${head()}`, { field: 'base' });
      const before = trees[base] ?? new Map<string, string>();
      const files = new Map(before);
      for (const { path, text } of edits) {
        if (text === null) files.delete(path);
        else files.set(path, text);
      }
      const n = transitions.length + 1;
      const refused = invalid(edits);
      const bundle = chain[base];
      const baseRank = [...(bundle?.rank ?? [])];
      const rank = refused ? null : rankOf(files);
      const relation = rank === null ? null : relate(rank, baseRank);
      const outcome: Outcome = refused ? 'invalid' : relation === 'dominates' ? 'commit' : (relation ?? 'tie');
      const tree = fakeSha(`tree ${seed} ${[...files].map(([path, text]) => `${path} ${sha256Text(text)}`).join(' ')}`);
      const made = outcome === 'commit' ? fakeSha(`bundle ${seed} ${tree}`) : null;
      candidates.push(refused ? null : files);
      transitions.push({
        edits: [],
        row: {
          n,
          round: n,
          slot: 0,
          outcome,
          base: bundle?.id ?? '',
          baseSeq: base,
          tree: refused ? null : tree,
          rank,
          code: refused ? 'protected_path' : null,
          bundle: made,
          bundleSeq: made === null ? null : chain.length,
          verdictSource: refused ? 'none' : 'fresh',
          verdictKind: refused ? 'invalid' : 'ranked',
          duplicateOf: null,
          cost: costOf(refused ? 0 : 1),
        },
      });
      if (made !== null && rank !== null) {
        chain.push({ id: made, seq: chain.length, rank, transition: n, edits: [] });
        trees.push(files);
      }
      return { n, outcome };
    },
    /** Files that transition `n` changed; `keep` stores a text and gives its hash. */
    changesOf(n: number, keep: (text: string) => string): FileChange[] | null {
      const after = candidates[n - 1];
      const row = transitions[n - 1]?.row;
      if (!after || !row) return null;
      const before = trees[row.baseSeq] ?? new Map<string, string>();
      return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path): FileChange[] => {
        const [old, now] = [before.get(path), after.get(path)];
        if (old === now) return [];
        return [
          {
            path,
            status: old === undefined ? 'added' : now === undefined ? 'removed' : 'modified',
            binary: false,
            added: now === undefined ? 0 : 1,
            removed: old === undefined ? 0 : 1,
            before: old === undefined ? null : keep(old),
            after: now === undefined ? null : keep(now),
          },
        ];
      });
    },
  };
}
