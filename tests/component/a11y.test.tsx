// axe over every screen and overlay, in both themes.
import axe from 'axe-core';
import { describe, expect, test } from 'vitest';
import { fakeLibrary } from '../support/fake-engine/library.ts';
import { nativeVerifier } from '../support/fake-engine/fake-job.ts';
import { openApp, type Harness } from './app-harness.tsx';

async function violations(app: Harness): Promise<string[]> {
  const result = await axe.run(
    { include: [app.screen.container], exclude: [['.monaco-editor']] },
    {
      // The app stands in a test page without landmarks of its own, and the diff editor is not ours to name.
      rules: { region: { enabled: false }, 'page-has-heading-one': { enabled: false } },
    },
  );
  return result.violations.flatMap((v) => v.nodes.map((node) => `${v.id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`));
}

describe.each(['light', 'dark'] as const)('%s', (theme) => {
  const settings = { theme, language: 'en' as const };
  test('first start', async () => {
    expect(await violations(await openApp({ runs: [], settings }))).toEqual([]);
  });
  test('library', async () => {
    expect(await violations(await openApp({ runs: fakeLibrary(12, true), settings }))).toEqual([]);
  });
  test.each(['search', 'command', 'recorded', 'human'])('new run, %s', async (proposer) => {
    const app = await openApp({ runs: fakeLibrary(12, false), settings }, '#/v1/new');
    await app.screen.getByRole('radio', { name: proposer }).click();
    await app.screen.getByText('Other limits', { exact: false }).click();
    await app.screen.getByRole('button', { name: 'Measure seed' }).click();
    await app.idle();
    expect(await violations(app)).toEqual([]);
  });
  test.each(['verdict', 'memory', 'bundle', 'record'])('run, %s', async (tab) => {
    const app = await openApp({ runs: [{ count: 120, seed: 7 }], settings }, `#/v1/run(0)?n=60&tab=${tab}&hide=tie`);
    expect(await violations(app)).toEqual([]);
  });
  test.each([
    ['decisions', '{Shift>}d{/Shift}'],
    ['audit', '{Shift>}a{/Shift}'],
    ['re-verify', '{Shift>}v{/Shift}{Enter}'],
    ['branch', '{Shift>}f{/Shift}'],
    ['comparison', 'c'],
  ])('panel: %s', async (_, keys) => {
    const mismatches = [{ where: 'transition 17', field: 'outcome', stored: '"commit"', recomputed: '"tie"' }];
    const runs = [
      { count: 40, seed: 7, mismatches, again: 'drift' as const, verifier: nativeVerifier },
      { count: 40, seed: 9, parent: { run: 0, seq: 0 } },
    ];
    const app = await openApp({ runs, settings }, '#/v1/run(0)?n=20&tab=verdict');
    await app.press(keys);
    await app.idle();
    expect(await violations(app)).toEqual([]);
  });
  test.each(['writing', 'new file', 'instruction', 'result'])('proposing by hand: %s', async (state) => {
    const app = await openApp({ runs: [{ proposer: 'human', slots: 1, status: 'waiting' }], settings }, '#/v1/run(0)');
    const panel = app.screen.getByRole('region', { name: 'Your proposal on the seed' });
    await app.screen.getByRole('button', { name: /rooms/ }).click();
    if (state === 'new file') await panel.getByRole('button', { name: 'New file' }).click();
    if (state === 'instruction') await panel.getByRole('button', { name: 'Instruction of the task' }).click();
    if (state === 'result') {
      await panel.getByRole('button', { name: 'Remove file' }).click();
      await panel.getByRole('button', { name: 'Propose' }).click();
    }
    await app.idle();
    expect(await violations(app)).toEqual([]);
  });
  test('bundle with related runs', async () => {
    const runs = [
      { count: 40, seed: 7 },
      { count: 40, seed: 9, parent: { run: 0, seq: 0 } },
    ];
    expect(await violations(await openApp({ runs, settings }, '#/v1/run(1)?n=20&tab=bundle'))).toEqual([]);
  });
  test.each([
    ['palette', '{Control>}k{/Control}'],
    ['keys', '{Shift>}{?}{/Shift}'],
    ['go to', '{Shift>}{;}{/Shift}'],
  ])('overlay: %s', async (_, keys) => {
    const app = await openApp({ runs: [{ count: 40, seed: 7 }], settings }, '#/v1/run(0)?n=20&tab=verdict');
    await app.press(keys);
    expect(await violations(app)).toEqual([]);
  });
});
