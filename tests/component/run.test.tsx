// The run screen: keys, words, filter, live runs, stale panes.
import { describe, expect, test } from 'vitest';
import { outcomes, type Outcome } from '#shared/domain/transition.ts';
import { ensure } from '#shared/lib/assert.ts';
import { textIn } from '#renderer/i18n/use-text.ts';
import { go, notePlace, runPlace } from '#renderer/app/navigation.ts';
import { useUi } from '#renderer/state/store.ts';
import { page } from 'vitest/browser';
import { nativeVerifier } from '../support/fake-engine/fake-job.ts';
import { openApp, type Harness } from './app-harness.tsx';

const stopped = { count: 240, seed: 7 };
const live = { status: 'running' as const, count: 60, shown: 20 };
const at = (n: number, more = '') => `#/v1/run(0)?n=${n}&tab=verdict${more}`;
const rowOf = (app: Harness, n: number) => {
  const row = app.fake.jobs[0]?.row(n);
  if (!row) throw new Error(`no transition ${n}`);
  return row;
};
const firstOf = (app: Harness, outcome: Outcome, from = 1) => {
  for (let n = from; ; n++) if (rowOf(app, n).outcome === outcome) return n;
};
const selected = () => useUi.getState().n;

describe.each(['en', 'ko'] as const)('words in %s', (language) => {
  const { t } = textIn(language);
  const opening = (outcome: Outcome) =>
    language === 'ko'
      ? `${t.outcome[outcome]}.`
      : outcome === 'commit'
        ? 'Committed.'
        : `${t.outcome[outcome].charAt(0).toUpperCase()}${t.outcome[outcome].slice(1)}.`;
  test('every outcome is said first', async () => {
    const app = await openApp({ runs: [{ ...stopped, stop: 'user' }], settings: { theme: 'light', language } }, at(1));
    for (const outcome of outcomes) {
      useUi.getState().select(firstOf(app, outcome), 'jump');
      await expect.poll(() => app.why().startsWith(opening(outcome)), { message: `${outcome}: ${app.why()}` }).toBe(true);
    }
  });
});

describe('automatic commands', () => {
  test('each stands with its tree, one on an earlier edit says so; requests stand with what became of them', async () => {
    const app = await openApp({ runs: [stopped] }, at(1));
    const measured = ensure(
      Array.from({ length: 48 }, (_, i) => (i + 1) * 5).find((n) => rowOf(app, n).tree !== null),
      'an attempt with a tree',
    );
    useUi.getState().select(measured, 'jump');
    const tree = rowOf(app, measured).tree ?? '';
    const section = app.screen.getByRole('region', { name: 'Automatic commands' });
    await expect.element(section.getByText('evidence about a tree; they decide nothing')).toBeInTheDocument();
    await expect.element(section.getByText('4096 artifact/timetable.json')).toBeVisible();
    const said = section.getByRole('listitem');
    const textOf = (i: number) => said.nth(i).element().textContent;
    expect(textOf(0)).toMatch(/^size exit 0 · on an earlier edit, not on what came of it: [0-9a-f]{12}/);
    expect(textOf(1)).toContain(`size exit 0 · on the tree of this attempt ${tree.slice(0, 12)}`);
    await expect
      .element(said.nth(1).getByRole('link', { name: 'the whole record' }))
      .toHaveAttribute('href', expect.stringMatching(/^\/blob\/[0-9a-f]{64}$/));
    expect(textOf(2)).toMatch(/asked for rooms .*: runs on every candidate from this round on$/);
    expect(textOf(3)).toMatch(/asked for net curl example\.org: refused, nothing that the task allows fits it$/);
  });

  test('nothing is said where there were none', async () => {
    const app = await openApp({ runs: [stopped] }, at(1));
    await expect.element(app.screen.getByText('Verifier output')).toBeVisible();
    expect(app.screen.getByRole('region', { name: 'Automatic commands' }).elements()).toEqual([]);
  });
});

describe('keys', () => {
  test('j and k step, J and K go from commit to commit, Home and End to the ends', async () => {
    const app = await openApp({ runs: [stopped] }, at(100));
    await app.press('jj');
    expect(selected()).toBe(102);
    await app.press('k');
    expect(selected()).toBe(101);
    await app.press('{ArrowLeft}{ArrowLeft}{ArrowRight}');
    expect(selected()).toBe(100);
    const next = firstOf(app, 'commit', 101);
    await app.press('{Shift>}j{/Shift}');
    expect(selected()).toBe(next);
    await app.press('{Shift>}k{/Shift}');
    expect(rowOf(app, selected()).outcome).toBe('commit');
    expect(selected()).toBeLessThan(100);
    await app.press('{Home}');
    expect(selected()).toBe(1);
    await app.press('{End}');
    expect(selected()).toBe(240);
  });

  test('h leaves the variations, l enters them, Alt and an arrow return', async () => {
    const app = await openApp({ runs: [stopped] }, at(100));
    await app.press('h');
    const commit = selected();
    expect(rowOf(app, commit).bundleSeq).toBe(rowOf(app, 100).baseSeq);
    await app.press('l');
    expect(rowOf(app, selected()).baseSeq).toBe(rowOf(app, commit).bundleSeq);
    await app.press('{Alt>}{ArrowLeft}{ArrowLeft}{/Alt}');
    expect(selected()).toBe(100);
    await app.press('{Alt>}{ArrowRight}{/Alt}');
    expect(selected()).toBe(commit);
  });

  test('up and down choose an obligation, brackets go to its changes, b to where its value began', async () => {
    const app = await openApp({ runs: [stopped] }, at(120));
    await app.press('{ArrowDown}{ArrowDown}{ArrowUp}');
    expect(useUi.getState().obligation).toBe(1);
    await app.press(']');
    const n = selected();
    const row = rowOf(app, n);
    expect(row.rank?.[1]).not.toBe(app.fake.jobs[0]?.transition(n).baseRank[1]);
    await app.press('b');
    expect(rowOf(app, selected()).outcome).toBe('commit');
    expect(app.said()).toMatch(/^overfull-rooms has been \d+ since transition \d+$/);
  });

  test('n goes to the next of the same kind and says when there is none', async () => {
    const app = await openApp({ runs: [stopped] }, at(100));
    const kind = rowOf(app, 100).outcome;
    await app.press('n');
    expect(selected()).toBe(firstOf(app, kind, 101));
    await app.press('n'.repeat(100));
    await expect.poll(() => app.said()).toBe('None in this direction');
  });

  test('d, o, m and r choose the view', async () => {
    const app = await openApp({ runs: [stopped] }, at(100));
    for (const [key, name] of [
      ['m', 'Memory'],
      ['r', 'Record'],
      ['o', 'Verdict'],
    ] as const) {
      await app.press(key);
      await expect.element(app.screen.getByRole('tab', { name })).toHaveAttribute('aria-selected', 'true');
    }
    await expect.poll(() => window.location.hash).toContain('tab=verdict');
  });

  test('a colon goes to a number or to a bundle by its hash', async () => {
    const app = await openApp({ runs: [stopped] }, at(100));
    await app.press('{Shift>}{;}{/Shift}');
    await app.press('999{Enter}');
    await expect.element(app.screen.getByText('No transition or bundle is called 999')).toBeVisible();
    const commit = firstOf(app, 'commit', 60);
    await app.screen.getByRole('textbox', { name: 'Go to number or hash' }).fill(rowOf(app, commit).bundle?.slice(0, 10) ?? '');
    await app.press('{Enter}');
    expect(selected()).toBe(commit);
    await expect.element(app.screen.getByRole('dialog')).not.toBeInTheDocument();
  });

  test('pause while a syllable is being composed, and work by place with Hangul input on', async () => {
    const app = await openApp({ runs: [stopped] }, at(100));
    const key = (init: KeyboardEventInit) =>
      window.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }));
    key({ code: 'KeyJ', key: 'ㅓ', isComposing: true });
    key({ code: 'KeyJ', key: 'Process', keyCode: 229 });
    expect(selected()).toBe(100);
    key({ code: 'KeyJ', key: 'ㅓ' });
    expect(selected()).toBe(101);
    await app.idle();
  });

  test('space plays to the end and stops there', async () => {
    const app = await openApp({ runs: [stopped] }, at(238));
    await app.press(' ');
    await expect.poll(selected).toBe(240);
    await expect.poll(() => useUi.getState().playing).toBe(false);
  });
});

/** Holds back what passes while it is shut. */
function gate() {
  const held: (() => void)[] = [];
  let open = true;
  return {
    pass: () => (open ? Promise.resolve() : new Promise<void>((resolve) => held.push(resolve))),
    shut: () => {
      open = false;
    },
    open: () => {
      open = true;
      for (const release of held.splice(0)) release();
    },
  };
}

test('words and numbers change with the key, before any answer of the engine', async () => {
  const answers = gate();
  const app = await openApp({ runs: [stopped], beforeTransition: answers.pass }, at(100));
  answers.shut();
  await app.screen.getByRole('tab', { name: 'Record' }).click();
  const target = firstOf(app, 'commit', 120);
  useUi.getState().select(target, 'jump');
  await new Promise((resolve) => requestAnimationFrame(resolve));
  expect(app.why()).toMatch(/^Committed\./);
  await expect.element(app.screen.getByText(`Showing 100 while ${target} loads`)).toBeVisible();
  await expect.element(app.screen.getByRole('tabpanel')).toHaveAttribute('aria-busy', 'true');
  expect(app.screen.getByRole('tabpanel').element().textContent).toContain('"n": 100');
  answers.open();
  await expect.element(app.screen.getByText(`Showing 100 while ${target} loads`)).not.toBeInTheDocument();
  await expect.element(app.screen.getByRole('tabpanel')).toMatchTextContent(`"n": ${target}`);
});

test('a key that is held down asks the engine for little and ends at the right place', async () => {
  const answers = gate();
  const app = await openApp({ runs: [stopped], beforeTransition: answers.pass }, at(100));
  answers.shut();
  const before = app.fake.calls.filter((name) => name === 'run.transition').length;
  for (let i = 0; i < 50; i++) useUi.getState().select(101 + i, 'step');
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  expect(app.fake.calls.filter((name) => name === 'run.transition').length - before).toBeLessThanOrEqual(1);
  answers.open();
  await expect.poll(() => app.screen.getByRole('tabpanel').element().getAttribute('aria-busy')).toBe('false');
  expect(selected()).toBe(150);
});

describe('filter', () => {
  test('the legend counts, hides, and says how many are hidden', async () => {
    const app = await openApp({ runs: [stopped] }, at(100));
    const counts = app.fake.jobs[0]?.summary().counts;
    if (!counts) throw new Error('no counts');
    for (const outcome of outcomes) {
      const name = textIn('en').t.outcome[outcome];
      await expect
        .element(app.screen.getByRole('button', { name: `${name} ${counts[outcome]}`, exact: true }))
        .toHaveAttribute('aria-pressed', 'true');
    }
    await app.screen.getByRole('button', { name: `tie ${counts.tie}`, exact: true }).click();
    await app.screen.getByRole('button', { name: `duplicate ${counts.duplicate}`, exact: true }).click();
    await expect.element(app.screen.getByText(`hiding ${counts.tie + counts.duplicate} of 240`)).toBeVisible();
    await app.press('j'.repeat(40));
    expect(['tie', 'duplicate']).not.toContain(rowOf(app, selected()).outcome);
    await expect.poll(() => window.location.hash).toContain('hide=tie,duplicate');
    await app.screen.getByRole('button', { name: 'Show all' }).click();
    await expect.element(app.screen.getByText('hiding', { exact: false })).not.toBeInTheDocument();
  });

  test('a link carries selection, view, obligation and filter', async () => {
    const app = await openApp({ runs: [stopped] }, at(77, '&o=unplaced&hide=tie'));
    expect(useUi.getState()).toMatchObject({ n: 77, tab: 'verdict', obligation: 2 });
    await expect.element(app.screen.getByText(/^hiding \d+ of 240$/)).toBeVisible();
  });
});

describe('live', () => {
  test('follows the newest, stepping back stops it, F follows again', async () => {
    const app = await openApp({ runs: [live] }, '#/v1/run(0)?tab=verdict');
    const run = app.fake.jobs[0]?.id ?? '';
    expect(selected()).toBe(20);
    app.fake.advance(run);
    await expect.poll(selected).toBe(24);
    await app.press('k');
    app.fake.advance(run);
    await expect.element(app.screen.getByText('of 28 transitions')).toBeVisible();
    expect(selected()).toBe(23);
    await app.press('f');
    await expect.poll(selected).toBe(28);
  });

  test('is stopped by its key, resumed by the other, and goes on where it was', async () => {
    const app = await openApp({ runs: [live] }, '#/v1/run(0)?tab=verdict');
    await app.press('{Shift>}s{/Shift}');
    await expect.element(app.screen.getByText('stopped: stopped by you')).toBeVisible();
    await app.press('{Shift>}r{/Shift}');
    await expect.element(app.screen.getByText('live', { exact: true })).toBeVisible();
    app.fake.advance(app.fake.jobs[0]?.id ?? '');
    await expect.element(app.screen.getByText('of 24 transitions')).toBeVisible();
  });

  test('a run that went on and ended between two looks is shown to its new end', async () => {
    const app = await openApp({ runs: [{ ...stopped, status: 'stopped', stop: 'user', shown: 120 }] }, at(120));
    await app.press('{End}');
    expect(selected()).toBe(120);
    const job = ensure(app.fake.jobs[0], 'the run');
    job.resume();
    while (job.advance());
    app.fake.advance(job.id);
    await expect.element(app.screen.getByText('of 240 transitions')).toBeVisible();
    await app.press('{End}');
    await expect.poll(selected).toBe(240);
  });

  test('goes on after a lost connection without a gap', async () => {
    const app = await openApp({ runs: [live] }, '#/v1/run(0)?tab=verdict');
    const run = app.fake.jobs[0]?.id ?? '';
    app.fake.crash('', false);
    app.fake.advance(run);
    app.fake.advance(run);
    await expect.poll(selected, { timeout: 5_000 }).toBe(28);
    await app.press('kkkkk');
    expect(selected()).toBe(23);
    expect(app.why()).not.toBe('');
  });
});

describe('where candidate code ran', () => {
  const verdict = (app: Harness) => app.screen.getByRole('tabpanel');
  test('an experimental sandbox stands in the header and in every verdict, with what it does not hold', async () => {
    const sandbox = { backend: 'sandbox-runtime', experimental: true as const, lacks: ['memory', 'systemCalls', 'unheard of'] };
    const app = await openApp({ runs: [{ ...stopped, verifier: nativeVerifier, sandbox }] }, at(100));
    await expect.element(app.screen.getByText('experimental sandbox', { exact: true })).toBeVisible();
    await expect
      .element(verdict(app))
      .toMatchTextContent(
        'Candidate code in the sandbox-runtime sandbox (experimental); not held by it: limit of memory, filter of system calls, unheard of',
      );
  });

  test('a sandbox that holds everything is named and nothing more', async () => {
    const app = await openApp({ runs: [{ ...stopped, verifier: nativeVerifier, sandbox: { backend: 'bubblewrap' } }] }, at(100));
    await expect.element(verdict(app)).toMatchTextContent('Candidate code in the bubblewrap sandbox');
    expect(verdict(app).element().textContent).not.toMatch(/not held|experimental/);
    expect(app.screen.getByText('experimental sandbox', { exact: true }).elements()).toEqual([]);
  });

  test('without a sandbox, that is said', async () => {
    const app = await openApp({ runs: [{ ...stopped, verifier: nativeVerifier, unsandboxed: true }] }, at(100));
    await expect.element(verdict(app)).toMatchTextContent('Candidate code without a sandbox');
  });
});

describe('tamper-evident only', () => {
  const rows = (app: Harness, name: string) =>
    app.screen.getByRole(name === 'tab' ? 'tabpanel' : 'complementary').getByText('tamper-evident only', { exact: true });
  test('stands beside the reason where there is no rank, and beside nothing that no verifier has seen', async () => {
    const app = await openApp({ runs: [{ ...stopped, verifier: nativeVerifier }] }, at(1));
    useUi.getState().select(firstOf(app, 'no_verdict'), 'jump');
    await expect.poll(() => rows(app, 'tab').elements().length).toBe(1);
    useUi.getState().select(firstOf(app, 'invalid'), 'jump');
    await expect.poll(() => rows(app, 'tab').elements().length).toBe(0);
  });

  test('stands beside every obligation whose verdict is shown', async () => {
    const app = await openApp({ runs: [{ ...stopped, verifier: nativeVerifier }] }, at(100));
    useUi.getState().select(firstOf(app, 'incomparable', 100), 'jump');
    await app.idle();
    expect(rows(app, 'tab').elements().length).toBe(8);
    expect(rows(app, 'inspector').elements().length).toBeGreaterThanOrEqual(2);
    const labels = app.screen
      .getByRole('listbox', { name: 'Obligations, with their value in the selected transition' })
      .getByRole('option')
      .elements();
    expect(labels.map((label) => label.getAttribute('title')?.split('\n').at(-1))).toEqual(
      Array.from({ length: 8 }, () => 'tamper-evident only'),
    );
  });
  test('stands nowhere where the verifier is out of reach', async () => {
    const app = await openApp({ runs: [{ ...stopped, verifier: { ...nativeVerifier, isolation: 'separate' } }] }, at(100));
    expect(app.screen.getByText('tamper-evident only', { exact: true }).elements()).toEqual([]);
  });
});

test('on a small laptop the last of eight obligations is seen without scrolling', async () => {
  const app = await openApp({ runs: [stopped] }, at(100));
  await page.viewport(1280, 800);
  await app.idle();
  const last = app.screen.getByRole('option', { name: /locked-slots/ }).element();
  const panel = app.screen.getByRole('region', { name: 'Timeline', exact: true }).element();
  await expect.poll(() => panel.getBoundingClientRect().bottom - last.getBoundingClientRect().bottom).toBeGreaterThan(0);
  expect(panel.getBoundingClientRect().bottom).toBeLessThan(800 * 0.6);
});

test('in a low window of a live run the inspector scrolls, its parts do not cover each other', async () => {
  const app = await openApp({ runs: [live] }, '#/v1/run(0)?tab=verdict');
  await page.viewport(1280, 480);
  let tallest = 0;
  for (let n = 1; n <= live.shown; n++) {
    useUi.getState().select(n, 'jump');
    await app.idle();
    const headings = app.screen.getByRole('complementary').getByRole('heading').elements();
    const parts = headings.map((heading) => ensure(heading.closest('section'), 'section'));
    expect(parts.length).toBe(3);
    for (const part of parts) expect(part.scrollHeight).toBeLessThanOrEqual(part.clientHeight);
    tallest = Math.max(tallest, ensure(parts[1], 'values').clientHeight);
  }
  // More than the room that a live run keeps for the values, or nothing was tried.
  expect(tallest).toBeGreaterThan(140);
});

describe('other states', () => {
  test('a run that is not there', async () => {
    const app = await openApp({ runs: [] }, '#/v1/run/run_0192f0c4-1a2b-7000-8000-00000000ffff');
    await expect
      .element(app.screen.locator.getByRole('alert'))
      .toMatchTextContent('No run is called run_0192f0c4-1a2b-7000-8000-00000000ffff');
  });
  test('a run that never started says why', async () => {
    const app = await openApp({ runs: [{ status: 'not_started', count: 8, note: 'the seed had no verdict: line 12' }] }, '#/v1/run(0)');
    await expect.element(app.screen.getByText('the seed had no verdict: line 12')).toBeVisible();
  });
  test('screen readers are told the outcome, what changed and the place', async () => {
    const app = await openApp({ runs: [stopped] }, at(1));
    useUi.getState().select(firstOf(app, 'incomparable', 100), 'jump');
    await expect.poll(() => app.said()).toMatch(/^incomparable, [\w-]+ \d+ to \d+, [\w-]+ \d+ to \d+, variation \d+ of \d+$/);
  });
  test('a near miss leads to its transition', async () => {
    const app = await openApp({ runs: [stopped] }, at(183));
    const miss = app.screen.getByRole('button', { name: /incomparable .* better/ }).first();
    const n = Number(/^\d+/.exec(miss.element().textContent ?? '')?.[0]);
    await miss.click();
    expect(selected()).toBe(n);
  });
});

describe('the address', () => {
  test('follows the selection and leads nowhere by itself, whatever is opened over the page', async () => {
    const app = await openApp({ runs: [stopped] }, at(60));
    await app.press('j');
    await expect.poll(() => window.location.hash).toContain('n=61');
    // The next note is on its way while the whole page renders again.
    useUi.getState().select(62, 'step');
    useUi.getState().setOverlay('keys');
    await expect.element(app.screen.getByRole('dialog', { name: 'All keys' })).toBeVisible();
    expect(selected()).toBe(62);
    await app.press('{Escape}');
    await expect.poll(() => window.location.hash).toContain('n=62');
    // A link to where one came from is a way of its own.
    window.location.hash = at(60).replace(/run\(0\)/, `run/${app.fake.jobs[0]?.id ?? ''}`);
    await expect.poll(selected).toBe(60);
  });

  test('is not taken back by a note while somebody goes elsewhere', async () => {
    const app = await openApp({ runs: [stopped] }, at(60));
    go({ screen: 'library' });
    notePlace({ ...runPlace(app.fake.jobs[0]?.id ?? ''), n: 61 });
    await expect.element(app.screen.getByRole('row').first()).toBeVisible();
    expect(window.location.hash).toBe('#/v1/library');
  });
});
