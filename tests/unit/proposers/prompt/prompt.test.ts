import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '#electron/proposers/chat/request.ts';
import { buildPrompt, fenced, fitPrompt, type PromptContext } from '#electron/proposers/prompt/prompt.ts';
import type { Obligation } from '#shared/domain/obligation.ts';
import type { MemoryView } from '#shared/domain/retrieve.ts';
import { file } from '../materialise/support.ts';

const obligation = (key: string, visibility: Obligation['visibility']): Obligation => ({
  key,
  title: `title of ${key}`,
  cap: 1_000,
  kind: 'count',
  visibility,
  onCandidateTimeout: 'cap',
  missing: 'malformed',
  aggregate: 'worst',
});
const view = (n: number): MemoryView => ({
  n,
  outcome: 'regression',
  better: [],
  worse: [{ key: 'open', before: 1, after: 2 }],
  betterCount: 0,
  worseCount: 1,
  aggregate: null,
  changes: [{ path: 'a.txt', status: 'modified', added: 1, removed: 1 }],
  excerpt: `line ${n}`,
  note: null,
});
const context: PromptContext = {
  instruction: 'Make it right.\n',
  obligations: [
    obligation('open', 'full'),
    obligation('summed_one', 'aggregate'),
    obligation('summed_two', 'aggregate'),
    obligation('secret', 'hidden'),
  ],
  rank: [5, 20, 22, 777],
  base: [
    file('b.txt', 'beta\n'),
    file('a.txt', 'alpha ``` beta\n'),
    file('lib/c.txt', 'gamma'),
    { path: 'd.bin', mode: 'file', bytes: Uint8Array.of(0, 255) },
  ],
  isWritable: (path) => path === 'a.txt',
  memory: [view(3), view(7)],
  format: 'search-replace',
};
const textOf = (messages: readonly ChatMessage[]): string => messages.map(({ content }) => content).join('\n');

describe('a prompt', () => {
  const text = textOf(buildPrompt(context));
  it('says values by their visibility', () => {
    expect(text).toContain('- open: 5 (title of open)');
    expect(text).toContain('- 2 more, together: 42');
    expect(text).toContain('- others that are not shown');
    for (const leaked of ['summed_one', 'summed_two', 'secret', '777', ': 20', ': 22']) expect(text).not.toContain(leaked);
  });
  it('does not change with what is hidden', () => {
    expect(textOf(buildPrompt({ ...context, rank: [5, 2, 40, 1] }))).toBe(text);
  });
  it('has the files, sorted, each in a fence that it cannot close, and says which can be changed', () => {
    expect(text).toContain('"a.txt"\n````\nalpha ``` beta\n````');
    expect(text).toContain('"b.txt" (you cannot change it)\n```\nbeta\n```');
    expect(text).toContain('"d.bin" (you cannot change it): 2 bytes that are no text');
    expect(text.indexOf('"a.txt"')).toBeLessThan(text.indexOf('"b.txt"'));
  });
  it('has the rejected attempts and how to answer', () => {
    expect(text).toContain('Attempt 3: regression.\nWorse (1): open 1 to 2.\nIt changed "a.txt" (modified, +1 -1).\n```\nline 3\n```');
    expect(text).toContain('<<<<<<< SEARCH');
  });
  it('no text closes the fence that it stands in', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('`', '```', '\n', 'a', '````')), (pieces) => {
        const inner = pieces.join('');
        const lines = fenced(inner).split('\n');
        const mark = lines[0] ?? '';
        expect(lines.slice(1, -1).some((line) => line.trim() === mark)).toBe(false);
        expect(lines.at(-1)).toBe(mark);
      }),
    );
  });
});

describe('fitting', () => {
  const length = (messages: readonly ChatMessage[]): Promise<number> => Promise.resolve(textOf(messages).length);
  const all = textOf(buildPrompt(context)).length;
  const withoutMemory = textOf(buildPrompt({ ...context, memory: [] })).length;
  const least = textOf(buildPrompt({ ...context, memory: [], base: context.base.filter(({ path }) => context.isWritable(path)) })).length;
  it('leaves nothing out where it fits, or where nobody can count', async () => {
    expect(await fitPrompt(context, all, length)).toMatchObject({ kind: 'fits', tokens: all, left: { files: 0, memory: 0 } });
    expect(await fitPrompt(context, 1, () => Promise.resolve(null))).toMatchObject({
      kind: 'fits',
      tokens: null,
      left: { files: 0, memory: 0 },
    });
  });
  it('leaves out memory, last first, then files that cannot be changed; never what is needed', async () => {
    expect(await fitPrompt(context, all - 1, length)).toMatchObject({ kind: 'fits', left: { files: 0, memory: 1 } });
    expect(await fitPrompt(context, withoutMemory - 1, length)).toMatchObject({ kind: 'fits', left: { files: 1, memory: 2 } });
    expect(await fitPrompt(context, least, length)).toMatchObject({ kind: 'fits', left: { files: 3, memory: 2 } });
    expect(await fitPrompt(context, least - 1, length)).toMatchObject({ kind: 'too_long', tokens: least, limit: least - 1 });
  });
  it('what it gives fits, by few counts, and one part more would not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: least, max: all }), async (limit) => {
        let asked = 0;
        const fitted = await fitPrompt(context, limit, (messages) => {
          asked++;
          return length(messages);
        });
        const used = fitted.kind === 'fits' ? await length(fitted.messages) : Number.POSITIVE_INFINITY;
        expect(used).toBeLessThanOrEqual(limit);
        expect(asked).toBeLessThanOrEqual(6);
      }),
      { numRuns: 40 },
    );
  });
});
