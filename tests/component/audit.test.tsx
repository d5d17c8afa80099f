// The panel of the published rules: it begins by itself, says each rule in words, and leads to the records.
import { expect, test } from 'vitest';
import { useUi } from '#renderer/state/store.ts';
import { openApp, type Harness } from './app-harness.tsx';

const run = { count: 240, seed: 7 };
const place = '#/v1/run(0)?n=100&tab=verdict';
const rules = (app: Harness): string[] =>
  [...app.screen.container.querySelectorAll('li[data-status]')].map((rule) => rule.textContent?.replaceAll(/\s+/g, ' ') ?? '');

test('the key opens it and it begins; fourteen rules in order, each with its status in words; Escape closes', async () => {
  const app = await openApp({ runs: [run] }, place);
  await app.press('{Shift>}a{/Shift}');
  await expect.element(app.screen.getByRole('region', { name: 'The 14 published rules in this run' })).toBeVisible();
  await expect.element(app.screen.getByText('No rule is violated.')).toBeVisible();
  expect(rules(app)).toHaveLength(14);
  expect(rules(app)[0]).toMatch(/^1held1 Current request supremacyHeader, contract and instruction are what their hashes say/);
  expect(rules(app)[1]).toMatch(/^2not checkable2 Evidence before escalationThere was no occasion/);
  expect(rules(app)[13]).toMatch(/^14held14 Core vs overlay/);
  await expect.element(app.screen.getByText(/held \d+, violated 0, not checkable \d+ of 14 rules\./)).toBeVisible();
  // Nothing was executed, and no replay was remembered.
  expect(app.fake.calls).toContain('audit.run');
  expect(app.fake.calls).not.toContain('replay.decisions');
  await app.press('{Escape}');
  await expect.element(app.screen.getByRole('tab', { name: 'Verdict' })).toBeVisible();
});

test('what violates a rule is named and leads to its transition', async () => {
  const mismatches = [
    { where: 'transition 17', field: 'outcome', stored: 'commit', recomputed: '<b>tie</b>' },
    { where: 'event 40', field: 'sha', stored: '00', recomputed: 'ff' },
  ];
  const app = await openApp({ runs: [{ ...run, mismatches }] }, place);
  await app.screen.getByRole('button', { name: 'Audit' }).click();
  await expect.element(app.screen.getByText('2 rules are violated.')).toBeVisible();
  const violated = rules(app).filter((text) => /^\d+violated/.test(text));
  expect(violated.map((text) => /^\d+/.exec(text)?.[0])).toEqual(['8', '11']);
  expect(violated[0]).toContain('transition 17outcome: stored commit, recomputed <b>tie</b>');
  await app.screen.getByRole('button', { name: 'transition 17', exact: true }).click();
  await expect.poll(() => useUi.getState().n).toBe(17);
  await expect.element(app.screen.getByText('2 rules are violated.')).toBeVisible();
});

test('cancelled, and audited again', async () => {
  const held: (() => void)[] = [];
  let open = false;
  const beforeReplay = () => (open ? Promise.resolve() : new Promise<void>((resolve) => held.push(resolve)));
  const app = await openApp({ runs: [run], beforeReplay }, place);
  await app.screen.getByRole('button', { name: 'Audit' }).click();
  await expect.poll(() => held.length).toBe(1);
  held.shift()?.();
  await expect.element(app.screen.getByText('Transitions recomputed')).toBeVisible();
  await app.screen.getByRole('button', { name: 'Cancel' }).click();
  open = true;
  for (const resolve of held) resolve();
  await expect.element(app.screen.getByText('Cancelled before the report.')).toBeVisible();
  await app.screen.getByRole('button', { name: 'Audit again' }).click();
  await expect.element(app.screen.getByText('No rule is violated.')).toBeVisible();
});

test('a run that goes on says that what came later is not in it', async () => {
  const app = await openApp({ runs: [{ status: 'running', count: 60, shown: 20 }] }, '#/v1/run(0)?tab=verdict');
  await app.press('{Shift>}a{/Shift}');
  await expect.element(app.screen.getByText('A round was under way; it is not in this report.')).toBeVisible();
  app.fake.advance(app.fake.jobs[0]?.id ?? '');
  await expect.element(app.screen.getByText('The run went on since. What came later is not in this audit.')).toBeVisible();
  expect(rules(app)).toHaveLength(14);
});

test('says the same in Korean', async () => {
  const app = await openApp({ runs: [run], settings: { theme: 'dark', language: 'ko' } }, place);
  await app.screen.getByRole('button', { name: '규칙 감사' }).click();
  await expect.element(app.screen.getByText('어긴 규칙이 없습니다.')).toBeVisible();
  expect(rules(app)[6]).toMatch(/^7지켜짐7 실패는 드러내고 성공은 꾸미지 않는다/);
});
