// Candidates that are being written: what counts as a change, and what is sent.
import { beforeEach, expect, test } from 'vitest';
import { candidateFiles, editsOf, mixesLineEnds, newPathProblem } from '#renderer/features/propose/candidate.ts';
import { useDrafts, type Draft } from '#renderer/state/drafts.ts';
import { writableMatcher } from '#shared/domain/writable.ts';
import { sha256Text } from '#shared/lib/hash.ts';

beforeEach(() => useDrafts.setState({ drafts: new Map() }));

const drafts = () => useDrafts.getState();
const texts = (run: string) => [...(drafts().drafts.get(run)?.texts ?? [])];
const file = (path: string, text: string) => ({ path, mode: 'file' as const, sha: sha256Text(text), size: text.length });

test('a file written back to what it was is no change, and the last one that goes takes the draft with it', () => {
  drafts().write('a', 3, 'x', 'one');
  drafts().write('a', 3, 'y', null);
  drafts().write('b', 0, 'x', 'other');
  expect(texts('a')).toEqual([
    ['x', 'one'],
    ['y', null],
  ]);
  drafts().write('a', 3, 'y', undefined);
  expect(drafts().drafts.get('a')).toEqual({ base: 3, texts: new Map([['x', 'one']]) });
  drafts().write('a', 3, 'x', undefined);
  expect(drafts().drafts.has('a')).toBe(false);
  expect(texts('b')).toEqual([['x', 'other']]);
  drafts().discard('b');
  expect(drafts().drafts.size).toBe(0);
});

test('what a new head says too is no change any more; the rest stays on the bundle that it was begun on', () => {
  drafts().write('a', 0, 'kept', 'mine');
  drafts().write('a', 0, 'same', 'certified by now');
  drafts().write('a', 0, 'gone', null);
  drafts().write('a', 0, 'still', null);
  drafts().compare('a', [file('kept', 'theirs'), file('same', 'certified by now'), file('still', 'there')]);
  expect(drafts().drafts.get('a')).toEqual({
    base: 0,
    texts: new Map([
      ['kept', 'mine'],
      ['still', null],
    ]),
  });
  drafts().moveTo('a', 4);
  expect(drafts().drafts.get('a')?.base).toBe(4);
  drafts().compare('a', [file('kept', 'mine')]);
  expect(drafts().drafts.has('a')).toBe(false);
});

test('nothing is told to listeners where nothing changed', () => {
  drafts().write('a', 0, 'x', 'one');
  let told = 0;
  const stop = useDrafts.subscribe(() => told++);
  drafts().write('a', 0, 'x', 'one');
  drafts().write('b', 0, 'x', undefined);
  drafts().compare('a', [file('x', 'two')]);
  drafts().moveTo('a', 0);
  drafts().discard('c');
  stop();
  expect(told).toBe(0);
});

const isWritable = writableMatcher({ writable: ['src/**'], protectedPaths: ['src/locked.js'] });
const base = [file('README.md', 'r'), file('src/a.js', 'a'), file('src/locked.js', 'l')];
const draft: Draft = {
  base: 0,
  texts: new Map([
    ['src/new.js', ''],
    ['src/a.js', null],
  ]),
};

test('the candidate has the files of base and draft, in the order of trees, with what may be written', () => {
  expect(candidateFiles(base, draft, isWritable).map(({ path, state, writable }) => [path, state, writable])).toEqual([
    ['README.md', 'unchanged', false],
    ['src/a.js', 'removed', true],
    ['src/locked.js', 'unchanged', false],
    ['src/new.js', 'new', true],
  ]);
  expect(editsOf(draft)).toEqual([
    { path: 'src/a.js', text: null },
    { path: 'src/new.js', text: '' },
  ]);
});

test.each([
  ['src/b.js', null],
  ['src/deep/er/b.js', null],
  ['src/new.js', 'exists'],
  ['README.md', 'exists'],
  ['other.js', 'unwritable'],
  ['src/locked.js', 'exists'],
  ['../x', 'bad'],
  ['/src/x', 'bad'],
  ['src//x', 'bad'],
  ['src\\x', 'bad'],
  ['', 'bad'],
])('%j as a new file: %s', (path, problem) => {
  expect(newPathProblem(path, candidateFiles(base, draft, isWritable), isWritable)).toBe(problem);
});

test.each([
  ['a\nb\n', false],
  ['a\r\nb\r\n', false],
  ['a', false],
  ['a\r\nb\n', true],
  ['a\rb\n', true],
])('%j mixes line ends: %s', (text, mixed) => {
  expect(mixesLineEnds(text)).toBe(mixed);
});
