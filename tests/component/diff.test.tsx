// The diff of a transition in a real Chromium, over a fetch that answers when the test says so.
import { editor } from 'monaco-editor/editor';
import { StrictMode } from 'react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-react';
import '#renderer/styles/index.css';
import { TransitionDiff, type TransitionDiffProps } from '#renderer/features/diff/index.ts';
import { TextContext, textIn } from '#renderer/i18n/use-text.ts';
import type { FileChange } from '#shared/domain/memory.ts';

const realFetch = globalThis.fetch;
const realCanvas = globalThis.OffscreenCanvas;
let serial = 0;
let contents = new Map<string, Uint8Array<ArrayBuffer>>();
/** Hashes whose answer waits until the test lets it go. */
let held = new Map<string, () => void>();
let asked: string[] = [];

/** Stores bytes under a made-up hash; every test has its own, so that nothing comes from the cache of another. */
function blob(content: string | Uint8Array<ArrayBuffer>): string {
  const sha = (++serial).toString(16).padStart(64, '0');
  contents.set(sha, typeof content === 'string' ? new TextEncoder().encode(content) : content);
  return sha;
}
const hold = (sha: string) => {
  held.set(sha, () => {});
  return sha;
};

beforeEach(() => {
  contents = new Map();
  held = new Map();
  asked = [];
  document.documentElement.dataset['theme'] = 'light';
  vi.stubGlobal('fetch', async (input: RequestInfo | URL, init?: RequestInit) => {
    const url = input instanceof Request ? input.url : String(input);
    const sha = /^\/blob\/([0-9a-f]{64})$/.exec(url)?.[1];
    if (sha === undefined) return realFetch(input, init);
    asked.push(sha);
    if (held.has(sha)) {
      await new Promise<void>((resolve, reject) => {
        held.set(sha, resolve);
        init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      });
    }
    const bytes = contents.get(sha);
    return bytes ? new Response(bytes) : new Response('none', { status: 404 });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const change = (path: string, before: string | null, after: string | null, more: Partial<FileChange> = {}): FileChange => ({
  path,
  status: before === null ? 'added' : after === null ? 'removed' : 'modified',
  binary: false,
  added: 3,
  removed: 2,
  before,
  after,
  ...more,
});
const element = (props: TransitionDiffProps) => (
  <StrictMode>
    <div style={{ width: 1000, height: 400 }}>
      <TransitionDiff {...props} />
    </div>
  </StrictMode>
);
const labels = { base: 'Bundle 18, certified', candidate: 'Transition 182, incomparable' };

/** What the two editors show, with the spaces that Monaco draws as no-break ones. */
const sides = (root: Element) =>
  ['.editor.original', '.editor.modified'].map((side) =>
    [...root.querySelectorAll(`${side} .view-line`)]
      .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
      .map((l) => (l.textContent ?? '').replaceAll('\u00a0', ' '))
      .join('\n'),
  );
const shows = (root: Element, before: RegExp, after: RegExp) =>
  vi.waitFor(
    () => {
      const [left = '', right = ''] = sides(root);
      expect(left).toMatch(before);
      expect(right).toMatch(after);
    },
    { timeout: 10_000 },
  );

describe('diff', () => {
  test('shows the first file side by side, with counts in words and under the names of both sides', async () => {
    const screen = await render(
      element({
        changes: [
          change(
            'intervals/merge.py',
            blob('def merge(spans):\n    out = [spans[0]]\n'),
            blob('def merge(spans):\n    out = [spans.pop(0)]\n'),
          ),
          change('b.json', blob('{"a": 1}\n'), blob('{"a": 2}\n'), { added: 1, removed: 1 }),
        ],
        labels,
      }),
    );
    await shows(screen.container, /out = \[spans\[0\]\]/, /out = \[spans\.pop\(0\)\]/);
    await expect.element(screen.getByText(labels.base)).toBeVisible();
    await expect.element(screen.getByText(labels.candidate)).toBeVisible();
    const files = screen.getByRole('list', { name: 'Changed files' });
    await expect
      .element(files.getByRole('button', { name: /merge\.py.*3 lines added.*2 lines removed/ }))
      .toHaveAttribute('aria-current', 'true');
    files
      .getByRole('button', { name: /b\.json/ })
      .element()
      .dispatchEvent(new MouseEvent('click', { bubbles: true }));
    await shows(screen.container, /"a": 1/, /"a": 2/);
    await expect.element(files.getByRole('button', { name: /b\.json/ })).toHaveAttribute('aria-current', 'true');
  });

  test('the next transition swaps text and names together; the old ones stay, dimmed, until then', async () => {
    const a = change('a.txt', blob('one\n'), blob('two\n'));
    const b = change('a.txt', hold(blob('three\n')), blob('four\n'));
    const screen = await render(element({ changes: [a], labels }));
    await shows(screen.container, /one/, /two/);
    const next = { base: 'Bundle 19, certified', candidate: 'Transition 183, tie' };
    await screen.rerender(element({ changes: [b], labels: next }));
    await expect
      .element(screen.getByText('Showing a.txt (Transition 182, incomparable) while a.txt (Transition 183, tie) loads'))
      .toBeVisible();
    expect(sides(screen.container)).toEqual(['one\n', 'two\n']);
    expect(screen.container.querySelector('[data-stale=true]')).not.toBeNull();
    await expect.element(screen.getByText(labels.base)).toBeVisible();
    await expect.element(screen.getByText(next.base)).not.toBeInTheDocument();
    const mixed: string[] = [];
    const watch = new MutationObserver(() => {
      const [left = ''] = sides(screen.container);
      const named = screen.container.textContent ?? '';
      if (left.includes('three') && named.includes('Bundle 18, certified') && !named.includes('Bundle 19')) mixed.push(left);
    });
    await vi.waitFor(() => expect(asked).toContain(b.before));
    held.get(b.before ?? '')?.();
    await shows(screen.container, /three/, /four/);
    watch.observe(screen.container, { subtree: true, childList: true, characterData: true });
    await expect.element(screen.getByText(next.base)).toBeVisible();
    await expect.element(screen.getByText(labels.base)).not.toBeInTheDocument();
    expect(screen.container.querySelector('[data-stale=true]')).toBeNull();
    watch.disconnect();
    expect(mixed).toEqual([]);
  });

  test('the latest wins, whatever order answers arrive in', async () => {
    const slow = change('a.txt', null, hold(blob('slow\n')));
    const quick = change('a.txt', null, blob('quick\n'));
    const first = change('a.txt', null, blob('first\n'));
    const screen = await render(element({ changes: [first], labels }));
    await shows(screen.container, /^$/, /first/);
    await screen.rerender(element({ changes: [slow], labels }));
    await vi.waitFor(() => expect(asked).toContain(slow.after));
    await screen.rerender(element({ changes: [quick], labels }));
    await shows(screen.container, /^$/, /quick/);
    held.get(slow.after ?? '')?.();
    await screen.rerender(element({ changes: [quick], labels: { ...labels, base: 'again' } }));
    await expect.element(screen.getByText('again')).toBeVisible();
    expect(sides(screen.container)[1]).toMatch(/quick/);
  });

  test('what is awaited without its files being known is named, and dims the text once and lightly', async () => {
    const a = change('a.txt', blob('one\n'), blob('two\n'));
    const screen = await render(element({ changes: [a], labels }));
    await shows(screen.container, /one/, /two/);
    await screen.rerender(element({ changes: [a], labels, awaited: 'transition 190' }));
    await expect.element(screen.getByText('Showing a.txt (Transition 182, incomparable) while transition 190 loads')).toBeVisible();
    const dimmed = [...screen.container.querySelectorAll('*')].filter(
      (e) => Number(getComputedStyle(e).opacity) < 1 && e.querySelector('.monaco-diff-editor'),
    );
    expect(dimmed.map((e) => Number(getComputedStyle(e).opacity))).toEqual([0.75]);
  });

  test('when transitions come faster than diffs, the diff still moves on, under its own name', async () => {
    const made = Array.from({ length: 60 }, (_, i) => change('a.txt', blob('base\n'), blob(`value ${i}\n`)));
    const screen = await render(element({ changes: [made[0] ?? change('a.txt', null, null)], labels }));
    await shows(screen.container, /base/, /value 0/);
    const seen = new Set<string>();
    for (const [i, c] of made.entries()) {
      await screen.rerender(element({ changes: [c], labels: { ...labels, candidate: `Transition ${i}, tie` } }));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const number = /value (\d+)/.exec(sides(screen.container)[1] ?? '')?.[1] ?? '';
      seen.add(number);
    }
    await shows(screen.container, /base/, /value 59/);
    await expect.element(screen.getByText('Transition 59, tie')).toBeVisible();
    expect(seen.size).toBeGreaterThan(1);
  });

  test('a new file has an empty base, a deleted one an empty candidate', async () => {
    const screen = await render(
      element({ changes: [change('new.md', null, blob('# hello\n')), change('old.md', blob('bye\n'), null)], labels }),
    );
    await shows(screen.container, /^$/, /# hello/);
    await expect.element(screen.getByText('new file')).toBeVisible();
    screen
      .getByRole('button', { name: /old\.md/ })
      .element()
      .dispatchEvent(new MouseEvent('click', { bubbles: true }));
    await shows(screen.container, /bye/, /^$/);
  });

  test.each([
    ['a NUL', new Uint8Array([104, 105, 0, 106])],
    ['malformed UTF-8', new Uint8Array([0xff, 0xfe, 0x41])],
    ['an overlong form', new Uint8Array([0xc0, 0xaf])],
  ])('bytes with %s are not text: the sizes are said', async (_, bytes) => {
    const screen = await render(element({ changes: [change('logo.png', null, blob(bytes))], labels }));
    await expect.element(screen.getByText(/logo\.png is not text/)).toBeVisible();
    await expect.element(screen.getByText(`Base no file, candidate ${bytes.length} B.`)).toBeVisible();
  });

  test('content that is gone is an error with what to do, and can be tried again', async () => {
    const sha = blob('back again\n');
    const bytes = contents.get(sha);
    contents.delete(sha);
    const screen = await render(element({ changes: [change('a.txt', null, sha)], labels }));
    // Monaco brings two empty alerts of its own.
    const alert = screen.getByRole('alert').filter({ hasText: 'could not be loaded' });
    await expect.element(alert.getByText(new RegExp(`no content with the hash ${sha}`))).toBeVisible();
    await expect.element(alert.getByText(/backup/)).toBeVisible();
    if (bytes) contents.set(sha, bytes);
    await screen.getByRole('button', { name: 'Try again' }).click();
    await shows(screen.container, /^$/, /back again/);
  });

  test('only line endings: it says what cannot be seen', async () => {
    const screen = await render(element({ changes: [change('a.txt', blob('x\ny\n'), blob('x\r\ny\r\n'))], labels }));
    await expect.element(screen.getByText(/only in line endings/)).toBeVisible();
  });

  test('only permissions: no diff, but said', async () => {
    const sha = blob('#!/bin/sh\n');
    const screen = await render(element({ changes: [change('run.sh', sha, sha, { status: 'mode', added: 0, removed: 0 })], labels }));
    await expect.element(screen.getByText(/only its permission/)).toBeVisible();
  });

  test('no tree and no changes are different sentences', async () => {
    const screen = await render(element({ changes: null, labels }));
    await expect.element(screen.getByText('This attempt left no files to compare.')).toBeVisible();
    await screen.rerender(element({ changes: [], labels }));
    await expect.element(screen.getByText(/exactly the files of its base/)).toBeVisible();
  });

  test('hostile text stays text and hidden characters are shown', async () => {
    const hostile = '<img src=x onerror="window.hacked=1"> \u202Eevil\u202C zero\u200Bwidth\n';
    const screen = await render(element({ changes: [change('<script>alert(1)</script>.txt', null, blob(hostile))], labels }));
    await shows(screen.container, /^$/, /<img src=x onerror=/);
    expect(screen.container.querySelector('img')).toBeNull();
    expect(screen.container.querySelector('script')).toBeNull();
    expect(Reflect.get(window, 'hacked')).toBeUndefined();
    const [, right = ''] = sides(screen.container);
    expect(right).not.toContain('\u202E');
    expect(right).toContain('U+202E');
    await vi.waitFor(() => expect(screen.container.querySelector('.unicode-highlight')).not.toBeNull());
  });

  test('going through transitions keeps two pairs of models, closing keeps none', async () => {
    const screen = await render(element({ changes: [change('a.txt', null, blob('number 0\n'))], labels }));
    for (let i = 1; i <= 5; i++) {
      await screen.rerender(element({ changes: [change('a.txt', null, blob(`number ${i}\n`))], labels }));
      await shows(screen.container, /^$/, new RegExp(`number ${i}`));
    }
    expect(editor.getModels().length).toBeLessThanOrEqual(4);
    await screen.unmount();
    await vi.waitFor(() => expect(editor.getModels()).toEqual([]));
    expect(editor.getDiffEditors()).toEqual([]);
  });

  test('what was loaded is not asked for again', async () => {
    const a = change('a.txt', blob('left\n'), blob('right\n'));
    const b = change('a.txt', blob('left b\n'), blob('right b\n'));
    const screen = await render(element({ changes: [a], labels }));
    await shows(screen.container, /left/, /right/);
    await screen.rerender(element({ changes: [b], labels }));
    await shows(screen.container, /left b/, /right b/);
    const before = asked.length;
    await screen.rerender(element({ changes: [a], labels }));
    await shows(screen.container, /left$/m, /right$/m);
    expect(asked.length).toBe(before);
  });

  test('another theme recolours the editor', async () => {
    const screen = await render(element({ changes: [change('a.py', null, blob('x = 1\n'))], labels }));
    await shows(screen.container, /^$/, /x = 1/);
    const ground = () => getComputedStyle(screen.container.querySelector('.monaco-editor-background') ?? document.body).backgroundColor;
    const light = ground();
    document.documentElement.dataset['theme'] = 'dark';
    await vi.waitFor(() => expect(ground()).not.toBe(light));
  });

  test('an editor that could not be made is said so, and made when asked again', async () => {
    vi.stubGlobal(
      'OffscreenCanvas',
      class {
        getContext = () => null;
      },
    );
    const screen = await render(element({ changes: [change('a.txt', blob('one\n'), blob('two\n'))], labels }));
    await expect.element(screen.getByText('no 2D canvas', { exact: false })).toBeVisible();
    vi.stubGlobal('OffscreenCanvas', realCanvas);
    await screen.getByRole('button', { name: 'Try again' }).click();
    await shows(screen.container, /one/, /two/);
    await expect.element(screen.getByText('no 2D canvas', { exact: false })).not.toBeInTheDocument();
  });

  test('the words of the editor follow the language', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`);
    const changes = [change('a.txt', blob(lines.join('\n')), blob([...lines.slice(0, -1), 'changed'].join('\n')))];
    const inLanguage = (language: 'en' | 'ko') => <TextContext value={textIn(language)}>{element({ changes, labels })}</TextContext>;
    const screen = await render(inLanguage('ko'));
    await expect.element(screen.getByText('숨긴 줄 36개').first()).toBeVisible();
    await screen.rerender(inLanguage('en'));
    await expect.element(screen.getByText('36 hidden lines').first()).toBeVisible();
    await expect.element(screen.getByText('숨긴 줄', { exact: false })).not.toBeInTheDocument();
  });
});
