// Every proposer from the screen of a new run, and proposing by hand, in the built app: real engine, real verifier, real browser.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { expect, test, type Page } from '@playwright/test';
import { z } from 'zod';
import { writeSmallTask } from '../support/engine/small-task.ts';
import { pawl, startPawl, type Running } from '../support/pawl.ts';

const RunDocument = z.looseObject({
  id: z.string(),
  status: z.string(),
  stop: z.string().nullable(),
  headerSha: z.string(),
  header: z.looseObject({ slots: z.int(), seed: z.int(), budget: z.looseObject({ attempts: z.int() }) }),
  bundles: z.array(z.looseObject({ transition: z.int().nullable(), rank: z.array(z.int()) })),
  transitions: z.array(z.looseObject({ n: z.int(), outcome: z.string(), tree: z.string().nullable(), rank: z.array(z.int()).nullable() })),
});

let dir = '';
let server: Running;
let url = '';
let task: { readonly path: string; remove(): Promise<void> };

/** A run as the command line shows it: the page is not asked what it did. */
async function shown(run: string): Promise<z.infer<typeof RunDocument>> {
  const { code, stdout, stderr } = await pawl(['show', run, '--json', '--data', dir]);
  expect(code, stderr).toBe(0);
  return RunDocument.parse(JSON.parse(stdout));
}
const runIn = async (page: Page): Promise<string> => {
  await page.waitForURL(/#\/v1\/run\/run_/);
  return /run_[0-9a-f-]+/.exec(page.url())?.[0] ?? '';
};
/** What nobody who depends on the keyboard or a screen reader could use. The editor is Monaco's own. */
async function inaccessible(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).exclude('.monaco-editor').analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
async function newRun(page: Page, proposer: string) {
  await page.keyboard.press('Shift+L');
  await page.getByRole('button', { name: /New run|Use a task folder of your own/ }).click();
  const form = page.getByRole('form', { name: 'New run' });
  await form.getByRole('textbox', { name: 'Task folder' }).fill(task.path);
  await expect(form.getByText('Small numbers')).toBeVisible();
  await form.getByRole('radio', { name: proposer, exact: true }).check();
  return form;
}
/** Writes the whole of the file that is shown, as a person would. */
async function write(page: Page, text: string) {
  await page
    .getByTestId('candidate-editor')
    .locator('.editor.modified .view-lines[role=presentation]')
    .click({ position: { x: 4, y: 4 } });
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
}

test.describe('@browser', () => {
  test.beforeEach(async ({ page }) => {
    dir = mkdtempSync(path.join(tmpdir(), 'pawl-propose-'));
    task = await writeSmallTask({ numbers: [2, 0, 1, 0], attempts: 30 });
    server = startPawl(['serve', '--data', dir]);
    [url = ''] = await server.seen(/http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/);
    await page.goto(url);
    await expect(page.getByText('Engine running')).toBeVisible();
  });
  test.afterEach(async () => {
    server.child.kill('SIGINT');
    expect(await server.finished).toMatchObject({ code: 0 });
    rmSync(dir, { recursive: true, force: true });
    await task.remove();
  });

  test('a command proposes; the record of its run gives the same chain', async ({ page }) => {
    const form = await newRun(page, 'command');
    await expect(form.getByRole('note')).toContainText('It runs outside of any sandbox');
    expect(await inaccessible(page)).toEqual([]);
    // Lowers the first number that is not 0 yet, but raises the last one in every second attempt.
    const script =
      'const fs=require("fs");const f="numbers.json";const {numbers}=JSON.parse(fs.readFileSync(f));' +
      'if(process.env.PAWL_N%2===0)numbers[3]++;else numbers[numbers.findIndex((x)=>x>0)]--;fs.writeFileSync(f,JSON.stringify({numbers}))';
    await form.getByRole('textbox', { name: 'Command' }).fill(`"${process.execPath}" -e '${script}'`);
    await form.getByRole('textbox', { name: 'Slots per round' }).fill('1');
    await form.getByRole('textbox', { name: 'Seed' }).fill('11');
    await form.getByText('Other limits').click();
    await form.getByRole('textbox', { name: 'Rounds' }).fill('20');
    await form.getByRole('button', { name: 'Measure seed' }).click();
    await expect(form.getByText('1 measurement of the seed agree.')).toBeVisible();
    await expect(form.getByTestId('forecast')).toContainText('about 20 attempts, limited by: Rounds');
    const header = form.getByTestId('header-json');
    await expect(header).toContainText('"rounds":20');
    const promised = await header.textContent();
    await form.getByRole('button', { name: 'Start run' }).click();
    const first = await runIn(page);
    await expect(page.getByText('done: nothing left to fix')).toBeVisible();
    const original = await shown(first);
    expect(original.header).toEqual(JSON.parse(promised ?? ''));
    expect(original.transitions.map(({ outcome }) => outcome)).toEqual(['commit', 'regression', 'commit', 'regression', 'commit']);

    const again = await newRun(page, 'recorded');
    await again.getByRole('radio', { name: 'seed 11' }).check();
    await expect(again.getByRole('textbox', { name: 'Slots per round' })).toHaveValue('1');
    await expect(again.getByRole('textbox', { name: 'Attempts at most' })).toHaveValue('5');
    await expect(again.getByTestId('header-json')).toContainText('"kind":"recorded"');
    await again.getByRole('button', { name: 'Start run' }).click();
    await expect(page.getByText('recorded · 1 slot · seed 11')).toBeVisible();
    await expect(page.getByText('done: nothing left to fix')).toBeVisible();
    const second = await runIn(page);
    expect(second).not.toBe(first);
    const copy = await shown(second);
    const facts = ({ transitions, bundles }: typeof copy) => ({
      transitions: transitions.map(({ n, outcome, tree, rank }) => ({ n, outcome, tree, rank })),
      bundles: bundles.map(({ transition, rank }) => ({ transition, rank })),
    });
    expect(facts(copy)).toEqual(facts(original));
    expect(copy.headerSha).not.toBe(original.headerSha);
  });

  test('a start that the engine refuses says why at its field, and starts nothing', async ({ page }) => {
    const form = await newRun(page, 'command');
    await form.getByRole('textbox', { name: 'Command' }).fill('   ');
    await expect(form.getByText('the proposer "command" needs the command that is to be run')).toBeVisible();
    await expect(form.getByRole('textbox', { name: 'Command' })).toHaveAttribute('aria-invalid', 'true');
    await expect(form.getByRole('button', { name: 'Start run' })).toBeDisabled();
    // The task changes under the header that is on the screen.
    await form.getByRole('radio', { name: 'human', exact: true }).check();
    await expect(form.getByTestId('header-json')).toContainText('"kind":"human"');
    writeFileSync(path.join(task.path, 'instruction.md'), 'Something else.\n');
    await form.getByRole('button', { name: 'Start run' }).click();
    await expect(form.getByRole('alert')).toContainText('would begin with another header than the one that was shown');
    expect(JSON.parse((await pawl(['runs', '--json', '--data', dir])).stdout)).toEqual({ runs: [] });
  });

  test('what a person writes commits, or is rejected with its reason, in the page and on the command line', async ({ page }) => {
    const form = await newRun(page, 'human');
    await form.getByRole('button', { name: 'Start run' }).click();
    const run = await runIn(page);
    await expect(page.getByText('waits for your proposal', { exact: true })).toBeVisible();
    expect((await shown(run)).status).toBe('waiting');
    const panel = page.getByRole('region', { name: /^Your proposal on/ });
    await write(page, '{"numbers":[0,0,1,0]}\n');
    await panel.getByRole('button', { name: 'Propose' }).click();
    await expect(panel.getByText('left improved from 2 to 0', { exact: false })).toBeVisible();
    await expect(page.getByRole('region', { name: 'Your proposal on bundle 1' })).toBeVisible();
    await expect(page.getByTestId('why')).toContainText('Committed.');

    await write(page, '{"numbers":[1,0,0,0]}\n');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(panel.getByText('A gain never buys a loss.', { exact: false })).toBeVisible();
    await expect(panel.getByText('What you wrote is still here.', { exact: false })).toBeVisible();
    await expect(page.getByTestId('candidate-editor').locator('.editor.modified .view-lines[role=presentation]')).toContainText(
      '[1,0,0,0]',
    );
    expect(await inaccessible(page)).toEqual([]);

    // Somewhere else and back: the text is there, and the page would ask before it goes.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Shift+L');
    await page.getByRole('link', { name: 'Small numbers' }).click();
    await page.getByRole('button', { name: 'Propose, 1 unsent' }).click();
    await expect(page.getByTestId('candidate-editor').locator('.editor.modified .view-lines[role=presentation]')).toContainText(
      '[1,0,0,0]',
    );
    const asked = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    await expect(panel.getByText('1 file changed, not proposed yet')).toBeVisible();

    // The other door to the same run, seen live here.
    const file = path.join(dir, 'mine.json');
    writeFileSync(file, '{"numbers":[0,0,9,0]}\n');
    const worse = await pawl(['propose', run, '--file', `numbers.json=${file}`, '--data', dir]);
    expect(worse.code, worse.stderr).toBe(3);
    expect(worse.stdout).toMatch(/reason +worse: right from 1 to 9; nothing improved/);
    await expect(page.getByText('of 3 transitions')).toBeVisible();
    writeFileSync(file, '{"numbers":[0,0,0,0]}\n');
    const done = await pawl(['propose', run, '--file', `numbers.json=${file}`, '--json', '--data', dir]);
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ outcome: 'commit', stop: 'zero_rank' });
    await expect(page.getByText('done: nothing left to fix')).toBeVisible();
    await expect(panel.getByText('This run has ended: nothing left to fix.', { exact: false })).toBeVisible();
    await expect(panel.getByRole('button', { name: 'Propose' })).toBeDisabled();

    const { transitions } = await shown(run);
    expect(transitions.map(({ outcome, rank }) => [outcome, rank])).toEqual([
      ['commit', [0, 1]],
      ['incomparable', [1, 0]],
      ['regression', [0, 9]],
      ['commit', [0, 0]],
    ]);
    expect((await pawl(['replay', run, '--decisions', '--data', dir])).code).toBe(0);
  });
});
