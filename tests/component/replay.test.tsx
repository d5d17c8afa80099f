// View, re-verify, branch: the badge of replayed decisions, measuring a bundle again, branches and their comparison.
import { describe, expect, test } from 'vitest';
import { parsePlace } from '#renderer/app/navigation.ts';
import { useUi } from '#renderer/state/store.ts';
import { nativeVerifier } from '../support/fake-engine/fake-job.ts';
import { openApp, type Harness } from './app-harness.tsx';

const run = { count: 240, seed: 7 };
const badge = (app: Harness) => app.screen.getByTestId('replay-badge');
const standing = (app: Harness) => badge(app).element().getAttribute('data-standing');
const job = (app: Harness, i = 0) => {
  const found = app.fake.jobs[i];
  if (!found) throw new Error(`no run ${i}`);
  return found;
};
/** Lets pass what waits, one at a time, and nothing that was not let. */
function gate() {
  const held: (() => void)[] = [];
  let open = false;
  return {
    pass: () => (open ? Promise.resolve() : new Promise<void>((resolve) => held.push(resolve))),
    next: () => held.shift()?.(),
    waiting: () => held.length,
    open: () => {
      open = true;
      for (const resolve of held.splice(0)) resolve();
    },
  };
}
const commitOf = (app: Harness, seq: number) => {
  const n = job(app).bundle(seq).bundle.transition;
  if (n === null) throw new Error(`bundle ${seq} has no transition`);
  return n;
};

describe('decisions', () => {
  test('are not checked, then on their way, then green', async () => {
    const held = gate();
    const app = await openApp({ runs: [run], beforeReplay: held.pass }, '#/v1/run(0)?n=100&tab=verdict');
    await expect.element(badge(app)).toHaveTextContent('decisions not checked here');
    expect(standing(app)).toBe('never');
    await app.press('{Shift>}d{/Shift}');
    await expect.poll(held.waiting).toBe(1);
    held.next();
    await expect.poll(held.waiting).toBe(1);
    held.next();
    await expect.element(badge(app)).toHaveTextContent('replaying decisions, 25%');
    expect(standing(app)).toBe('running');
    held.open();
    await expect.element(badge(app)).toHaveTextContent('decisions replayed here');
    expect(standing(app)).toBe('matches');
    await expect.element(app.screen.getByText('All decisions of 240 transitions follow from the records.')).toBeVisible();
    await app.press('{Escape}');
    await expect.element(app.screen.getByRole('tab', { name: 'Verdict' })).toBeVisible();
    expect(standing(app)).toBe('matches');
  });

  test('cancelling leaves the badge as it was', async () => {
    const held = gate();
    const app = await openApp({ runs: [run], beforeReplay: held.pass }, '#/v1/run(0)?n=100&tab=verdict');
    await badge(app).click();
    await expect.poll(held.waiting).toBe(1);
    held.next();
    await app.screen.getByRole('button', { name: 'Cancel' }).click();
    held.open();
    await expect.element(app.screen.getByText('Cancelled. What was remembered from before still stands.')).toBeVisible();
    await expect.poll(() => standing(app)).toBe('never');
  });

  test('what disagrees is named by place, field and both values', async () => {
    const mismatches = [{ where: 'transition 17', field: 'outcome', stored: '"commit"', recomputed: '"tie"' }];
    const missing = [{ where: 'transition 18', what: 'the report of its verifier' }];
    const app = await openApp({ runs: [{ ...run, mismatches, missing }] }, '#/v1/run(0)?n=100&tab=verdict');
    await badge(app).click();
    await expect.element(badge(app)).toHaveTextContent('decisions do not agree: 2');
    expect(standing(app)).toBe('differs');
    await expect.element(app.screen.getByRole('row', { name: 'transition 17 outcome "commit" "tie"' })).toBeVisible();
    await expect.element(app.screen.getByRole('row', { name: 'transition 18 the report of its verifier' })).toBeVisible();
  });

  test('a live run is never green beyond what was replayed', async () => {
    const app = await openApp({ runs: [{ status: 'running', count: 60, shown: 20 }] }, '#/v1/run(0)?tab=verdict');
    await badge(app).click();
    await expect.poll(() => standing(app)).toBe('matches');
    const seen: (string | null)[] = [];
    const watch = new MutationObserver(() => {
      if (app.screen.container.textContent?.includes('of 24 transitions')) seen.push(standing(app));
    });
    watch.observe(app.screen.container, { subtree: true, childList: true, characterData: true, attributes: true });
    app.fake.advance(job(app).id);
    await expect.element(badge(app)).toHaveTextContent('decisions checked to 20 of 24');
    watch.disconnect();
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).not.toContain('matches');
    await expect.element(app.screen.getByText('The run went on since. What came later has not been replayed.')).toBeVisible();
    await app.screen.getByRole('button', { name: 'Replay again' }).click();
    await expect.element(badge(app)).toHaveTextContent('decisions replayed here');
  });

  test('says the same in Korean', async () => {
    const app = await openApp({ runs: [run], settings: { theme: 'light', language: 'ko' } }, '#/v1/run(0)?n=100&tab=verdict');
    await expect.element(badge(app)).toHaveTextContent('이 컴퓨터에서 결정 재현 안 함');
    await badge(app).click();
    await expect.element(badge(app)).toHaveTextContent('이 컴퓨터에서 결정 재현됨');
  });
});

describe('re-verify', () => {
  test('says first what would run where, runs nothing before it is told to', async () => {
    const app = await openApp({ runs: [{ ...run, verifier: nativeVerifier }] }, '#/v1/run(0)?n=100&tab=verdict');
    await app.press('{Shift>}v{/Shift}');
    await expect.element(app.screen.getByRole('region', { name: `Re-verify bundle ${job(app).row(100)?.baseSeq ?? -1}` })).toBeVisible();
    await expect.element(app.screen.getByText('python3 verifier/check.py inside the bubblewrap sandbox')).toBeVisible();
    await expect.element(app.screen.getByText('its code shares the sandbox of the verifier: tamper-evident only')).toBeVisible();
    expect(app.fake.calls).not.toContain('replay.verifyBundle');
    await app.press('{Enter}');
    await expect.element(app.screen.getByText('Match: both measurements gave the certified rank.')).toBeVisible();
    await expect.element(app.screen.getByText('Recorded beside the certificate. Nothing that is certified was changed.')).toBeVisible();
    await expect.element(app.screen.getByText('Executions recorded beside this bundle: 2')).toBeVisible();
  });

  test.each([
    [
      'drift',
      'Drift: both measurements agree with each other, and not with the certificate.',
      /overfull-rooms \d+ (\d+), \1 another value, twice/,
    ],
    ['flake', 'Flake: the two measurements disagree with each other.', /overfull-rooms (\d+) \1, \d+ one value, then another/],
  ] as const)('%s is shown per obligation: recorded, now, why', async (again, says, row) => {
    const app = await openApp({ runs: [{ ...run, again }] }, '#/v1/run(0)?n=100&tab=verdict');
    await app.press('{Shift>}v{/Shift}{Enter}');
    await expect.element(app.screen.getByText(says)).toBeVisible();
    await expect.element(app.screen.getByRole('row', { name: row })).toBeVisible();
  });

  test('a measurement without a rank says why', async () => {
    const app = await openApp({ runs: [{ ...run, again: 'no_verdict' }] }, '#/v1/run(0)?n=100&tab=verdict');
    await app.press('{Shift>}v{/Shift}{Enter}');
    await expect.element(app.screen.getByText('verifier_timeout: no report within 20,000 ms')).toBeVisible();
  });

  test('is cancelled, and the bundle of a commit is its own', async () => {
    const held = gate();
    const app = await openApp({ runs: [run], beforeVerify: held.pass }, '#/v1/run(0)?n=1&tab=verdict');
    useUi.getState().select(commitOf(app, 2), 'jump');
    await app.idle();
    await app.press('{Shift>}v{/Shift}');
    await expect.element(app.screen.getByRole('region', { name: 'Re-verify bundle 2' })).toBeVisible();
    await app.screen.getByRole('button', { name: 'Re-verify', exact: true }).click();
    await expect.element(app.screen.getByText('Measuring twice')).toBeVisible();
    await app.screen.getByRole('button', { name: 'Cancel' }).click();
    held.open();
    await expect.element(app.screen.getByText('Cancelled. Nothing was recorded.')).toBeVisible();
  });

  test('is refused with the reason where candidate code may not run', async () => {
    const sandbox = {
      available: false,
      backend: null,
      experimental: false,
      lacks: [],
      message: 'bubblewrap is not installed; this would change it: apt install bubblewrap',
    };
    const app = await openApp({ runs: [{ ...run, verifier: nativeVerifier }], sandbox }, '#/v1/run(0)?n=100&tab=verdict');
    await app.press('{Shift>}v{/Shift}');
    await expect.element(app.screen.getByRole('button', { name: 'Re-verify', exact: true })).toBeDisabled();
    await expect.element(app.screen.getByText('apt install bubblewrap', { exact: false })).toBeVisible();
  });
});

describe('branch', () => {
  test('starts from the base of a rejected attempt, opens the new run, which says where it comes from', async () => {
    const app = await openApp({ runs: [run] }, '#/v1/run(0)?n=100&tab=verdict');
    const parent = job(app).id;
    const seq = job(app).row(100)?.baseSeq ?? -1;
    await app.press('{Shift>}f{/Shift}');
    await expect.element(app.screen.getByRole('region', { name: `Branch from bundle ${seq}` })).toBeVisible();
    await expect.element(app.screen.getByText('built-in search, inside the engine; no model and no network')).toBeVisible();
    await app.screen.getByRole('textbox', { name: 'Slots per round' }).fill('3');
    await app.screen.getByRole('textbox', { name: 'Attempts at most' }).fill('30');
    await app.press('{Enter}');
    await expect.poll(() => app.fake.jobs.length).toBe(2);
    const child = job(app);
    await expect.poll(() => window.location.hash).toContain(child.id);
    expect(child.summary()).toMatchObject({ slots: 3, seed: 8, proposer: 'search', budget: { max: { attempts: 30 } } });
    expect(child.origin).toMatchObject({ run: parent, seq });
    const link = app.screen.getByRole('link', { name: `branch of 0192f0c4-1a2b, bundle ${seq}` });
    await expect.element(link).toBeVisible();
    await expect
      .poll(() => parsePlace(new URL(link.element().getAttribute('href') ?? '', window.location.href).hash))
      .toMatchObject({
        screen: 'run',
        run: parent,
        n: commitOf({ ...app, fake: { ...app.fake, jobs: [job(app, 1)] } }, seq),
        tab: 'bundle',
      });
  });

  test('a field that cannot be is said, and nothing starts', async () => {
    const app = await openApp({ runs: [run] }, '#/v1/run(0)?n=100&tab=verdict');
    await app.press('{Shift>}f{/Shift}');
    await app.screen.getByRole('textbox', { name: 'Slots per round' }).fill('65');
    await expect.element(app.screen.getByText('A whole number from 1 to 64')).toBeVisible();
    await expect.element(app.screen.getByRole('button', { name: 'Start branch' })).toBeDisabled();
    await app.press('{Escape}');
    await expect.element(app.screen.getByRole('tab', { name: 'Verdict' })).toBeVisible();
  });

  test('without a sandbox, candidate code runs only when that is said', async () => {
    const sandbox = { available: false, backend: null, experimental: false, lacks: [], message: 'user namespaces are off' };
    const app = await openApp({ runs: [{ ...run, verifier: nativeVerifier }], sandbox }, '#/v1/run(0)?n=100&tab=verdict');
    await app.press('{Shift>}f{/Shift}');
    await expect.element(app.screen.getByRole('button', { name: 'Start branch' })).toBeDisabled();
    await app.screen.getByRole('checkbox', { name: 'Run candidate code without a sandbox' }).click();
    await expect.element(app.screen.getByText('its code runs with your rights, without a sandbox: tamper-evident only')).toBeVisible();
    await app.screen.getByRole('button', { name: 'Start branch' }).click();
    await expect.poll(() => app.fake.jobs.length).toBe(2);
    expect(job(app).detail().header.unsandboxed).toBe(true);
    await expect.element(app.screen.getByText('unsandboxed', { exact: true })).toBeVisible();
  });
});

describe('relatives', () => {
  const family = [
    { ...run, stop: 'user' as const },
    { ...run, parent: { run: 0, seq: 0 } },
    { count: 60, seed: 9, parent: { run: 0, seq: 3 } },
  ];

  test('the bundle tab names the branches and the bundle they come from', async () => {
    const app = await openApp({ runs: family }, '#/v1/run(0)?n=1&tab=bundle');
    useUi.getState().select(commitOf(app, 3), 'jump');
    await expect.element(app.screen.getByRole('row', { name: /this bundle.* 60/ })).toBeVisible();
    await expect.element(app.screen.getByRole('row', { name: /the seed.* 240/ })).toBeVisible();
  });

  test('side by side: what is alike is counted, the first difference is marked, attempts lead to their run', async () => {
    const app = await openApp({ runs: family }, '#/v1/run(1)?n=1&tab=verdict');
    await app.press('c');
    await expect.element(app.screen.getByText('239 attempts after it alike.', { exact: false })).toBeVisible();
    await expect.element(app.screen.getByText('first difference: files, outcome', { exact: false })).toBeVisible();
    const rows = app.screen
      .getByRole('row')
      .elements()
      .map((row) => row.textContent);
    const marked = rows.findIndex((text) => text?.startsWith('first difference'));
    expect(rows[marked + 1]).toMatch(/^240240.*240aborted/);
    expect(rows[marked - 1]).toMatch(/^239/);
    await app.screen.getByRole('button', { name: /240 ?aborted/ }).click();
    await expect.poll(() => window.location.hash).toContain(`${job(app, 0).id}?n=240`);
  });

  test("a branch of a later bundle begins there, not at the parent's beginning", async () => {
    const app = await openApp({ runs: family }, '#/v1/run(0)?n=1&tab=bundle');
    useUi.getState().setPanel({ kind: 'compare', other: job(app, 2).id });
    await expect.element(app.screen.getByText('Both come from bundle 3', { exact: false })).toBeVisible();
    const parent = job(app);
    let first = 1;
    while ((parent.row(first)?.baseSeq ?? 0) < 3) first++;
    await expect.element(app.screen.getByRole('row', { name: new RegExp(`^1 ${first} `) })).toBeVisible();
  });

  test('c says when there is nothing to compare with', async () => {
    const app = await openApp({ runs: [run] }, '#/v1/run(0)?n=10&tab=verdict');
    await app.press('c');
    expect(app.said()).toBe('No related run to compare with');
  });
});
