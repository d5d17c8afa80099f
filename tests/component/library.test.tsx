// The library: first start, list, and what it says when something is wrong; the frame around every screen.
import { describe, expect, test } from 'vitest';
import { fakeLibrary } from '../support/fake-engine/library.ts';
import { openApp } from './app-harness.tsx';

describe('first start', () => {
  test('offers one action, which runs the sample and follows it live', async () => {
    const app = await openApp({ runs: [] });
    await expect.element(app.screen.getByText('Nothing has run yet')).toBeVisible();
    await expect.element(app.screen.getByText('Sample: Repair a CSV package. Built-in search, 4 slots, seed 2.')).toBeVisible();
    await app.screen.getByRole('button', { name: 'Run the sample' }).click();
    await expect.element(app.screen.getByText('No transition yet.', { exact: false })).toBeVisible();
    const run = app.fake.jobs[0];
    if (!run) throw new Error('no run was started');
    expect(run.summary()).toMatchObject({ slots: 4, seed: 2, proposer: 'search' });
    app.fake.advance(run.id);
    await expect.element(app.screen.getByText('4 · round 1 · slot 4')).toBeVisible();
    app.fake.advance(run.id);
    await expect.element(app.screen.getByText('8 · round 2 · slot 4')).toBeVisible();
    await expect.element(app.screen.getByText('of 8 transitions')).toBeVisible();
  });

  test('says the same in Korean', async () => {
    const app = await openApp({ runs: [], settings: { theme: 'dark', language: 'ko' } });
    await expect.element(app.screen.getByText('아직 실행한 것이 없습니다')).toBeVisible();
    await expect.element(app.screen.getByRole('button', { name: '예제 실행' })).toBeEnabled();
    expect(document.documentElement.lang).toBe('ko');
    expect(document.documentElement.dataset['theme']).toBe('dark');
  });
});

describe('the list', () => {
  test('says status, potential, denominators, outcomes and why a run ended', async () => {
    const app = await openApp({
      runs: [
        { count: 240, seed: 7 },
        { status: 'not_started', count: 8, note: 'the seed had no verdict' },
      ],
    });
    const rows = app.screen.getByRole('row');
    const first = rows.nth(1);
    const summary = app.fake.jobs[0]?.summary();
    if (!summary?.head || !summary.genesis) throw new Error('the first run is certified');
    await expect.element(first).toMatchTextContent('stopped');
    await expect.element(first).toMatchTextContent(`${summary.genesis.potential} → ${summary.head.potential}`);
    await expect.element(first).toMatchTextContent(`${summary.counts.commit} / 240`);
    await expect.element(first).toMatchTextContent('budget used up');
    await expect.element(first.getByRole('img', { name: `commit ${summary.counts.commit},`, exact: false })).toBeVisible();
    await expect.element(rows.nth(2)).toMatchTextContent('uncertified');
    await expect.element(rows.nth(2)).toMatchTextContent('the seed had no verdict');
  });

  test('a title from outside turns nothing around, and its name is whole in copies and accessible names', async () => {
    const title = 'Exam timetable without clashes for gnp\u202Eexe.png 😀😀😀😀😀😀';
    const app = await openApp({ runs: [{ count: 24, task: { id: 'evil', title } }] });
    const shown = title.replace('\u202E', '[U+202E]');
    const link = app.screen.getByRole('link', { name: shown, exact: true });
    await expect.element(link).toBeVisible();
    getSelection()?.selectAllChildren(link.element());
    expect(getSelection()?.toString()).toBe(shown);
    await link.click();
    await expect.element(app.screen.getByRole('heading', { name: shown })).toBeVisible();
    expect(document.body.innerHTML).not.toContain('\u202E');
  });

  test('the word for how a run ended tells success from failure', async () => {
    const app = await openApp({
      runs: [
        { count: 240, stop: 'zero_rank' },
        { count: 240, stop: 'verifier_dead' },
        { count: 240, stop: 'user' },
      ],
    });
    for (const [i, word] of ['done', 'failed', 'stopped'].entries())
      await expect.element(app.screen.getByRole('row').nth(i + 1)).toMatchTextContent(new RegExp(`^${word}`));
  });

  test('j, k and Enter', async () => {
    const app = await openApp({ runs: fakeLibrary(5, false) });
    await app.press('jjk');
    await expect.element(app.screen.getByRole('row', { selected: true })).toHaveAttribute('aria-rowindex', '3');
    await app.press('{Enter}');
    expect(window.location.hash).toBe(`#/v1/run/${app.fake.jobs[1]?.id}`);
  });

  test('loads page after page by keyset and keeps few rows in the document', async () => {
    const app = await openApp({ runs: Array.from({ length: 250 }, (_, i) => ({ count: 4, seed: i + 1 })) });
    await expect.element(app.screen.getByText('100 runs loaded, more below')).toBeVisible();
    for (let page = 0; page < 3; page++) await app.press('{End}');
    await expect.element(app.screen.getByText('250 runs')).toBeVisible();
    expect(app.screen.container.querySelectorAll('[role=row]').length).toBeLessThan(80);
    await expect.element(app.screen.getByRole('row', { selected: true })).toHaveAttribute('aria-rowindex', '251');
  });

  test('a run that goes on changes in place', async () => {
    const app = await openApp({ runs: [{ status: 'running', count: 40, shown: 8 }] });
    const row = app.screen.getByRole('row').nth(1);
    await expect.element(row).toMatchTextContent('running');
    await expect.element(row).toMatchTextContent('/ 8');
    app.fake.advance(app.fake.jobs[0]?.id ?? '');
    await expect.element(row).toMatchTextContent('/ 12');
  });

  test('an error says what and where, and can be tried again', async () => {
    let fails = true;
    const app = await openApp({ runs: fakeLibrary(3, false), listFails: () => fails });
    await expect.element(app.screen.locator.getByRole('alert')).toMatchTextContent('the data folder cannot be read: the disk is full');
    await expect.element(app.screen.locator.getByRole('alert')).toMatchTextContent('pawl.db');
    fails = false;
    await app.screen.getByRole('button', { name: 'Try again' }).click();
    await expect.element(app.screen.getByText('3 runs')).toBeVisible();
  });
});

describe('frame', () => {
  test('the palette finds a command by its name in either language and runs it', async () => {
    const app = await openApp({ runs: fakeLibrary(2, false) });
    await app.press('{Control>}k{/Control}');
    await app.press('새 실행');
    await expect.element(app.screen.getByRole('option', { name: 'New run' })).toBeVisible();
    await app.press('{Enter}');
    await expect.element(app.screen.getByRole('form', { name: 'New run' })).toBeVisible();
  });

  test('? lists the keys, Escape closes', async () => {
    const app = await openApp({ runs: fakeLibrary(2, false) });
    await app.press('{Shift>}{?}{/Shift}');
    await expect.element(app.screen.getByRole('dialog', { name: 'All keys' })).toMatchTextContent('Open the selected run');
    await app.press('{Escape}');
    await expect.element(app.screen.getByRole('dialog')).not.toBeInTheDocument();
  });

  test('a press outside closes a dialog, a press inside does not', async () => {
    const app = await openApp({ runs: fakeLibrary(2, false) });
    await app.press('{Shift>}{?}{/Shift}');
    const dialog = app.screen.getByRole('dialog', { name: 'All keys' });
    await dialog.click({ position: { x: 20, y: 20 } });
    await expect.element(dialog).toBeVisible();
    await dialog.click({ position: { x: -20, y: 20 }, force: true });
    await expect.element(dialog).not.toBeInTheDocument();
  });

  test('language and theme change at once and are stored', async () => {
    const app = await openApp({ runs: fakeLibrary(2, false) });
    await app.screen.getByRole('button', { name: 'Settings' }).click();
    await app.screen.getByText('한국어', { exact: true }).click();
    await expect.element(app.screen.getByRole('dialog', { name: '설정' })).toBeVisible();
    await app.screen.getByText('어둡게').click();
    await expect.poll(() => document.documentElement.dataset['theme']).toBe('dark');
    expect(app.fake.calls.filter((name) => name === 'settings.set')).toHaveLength(2);
  });

  test('an engine that stops is said, what was loaded stays, and a restart brings it back', async () => {
    const app = await openApp({ runs: fakeLibrary(2, false) });
    app.fake.crash('it ran out of memory', true);
    await expect.element(app.screen.locator.getByRole('alert')).toMatchTextContent('The engine stopped: it ran out of memory');
    await expect.element(app.screen.getByText('Engine stopped, reconnecting')).toBeVisible();
    await expect.element(app.screen.getByRole('row').nth(2)).toBeVisible();
    await app.screen.getByRole('button', { name: 'Restart engine' }).click();
    await expect.element(app.screen.getByText('Engine running')).toBeVisible();
    await expect.element(app.screen.locator.getByRole('alert')).not.toBeInTheDocument();
  });

  test('the status line leads to what was found of the sandbox', async () => {
    const sandbox = {
      available: false,
      backend: null,
      experimental: false,
      lacks: [],
      message: 'bubblewrap is missing; this would change it: apt install bubblewrap',
    };
    const app = await openApp({ runs: [], sandbox });
    await app.screen.getByRole('button', { name: 'no sandbox' }).click();
    await expect.element(app.screen.getByRole('dialog').getByText('apt install bubblewrap', { exact: false })).toBeVisible();
  });
});
