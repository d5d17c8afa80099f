// The screen of a new run: task, proposer, budget, what will run where, seed and forecast, and the header before there is a run.
import { describe, expect, test } from 'vitest';
import { sha256Text } from '#shared/lib/hash.ts';
import { fakeLibrary } from '../support/fake-engine/library.ts';
import { openApp } from './app-harness.tsx';

describe('new run', () => {
  test('reads the task, names what is wrong by file and field, and refuses to start', async () => {
    const app = await openApp({ runs: fakeLibrary(2, false) });
    await app.press('n');
    const panel = app.screen.getByRole('form', { name: 'New run' });
    await expect.element(panel.getByText('8 obligations, 1 seed file, 2.4 KiB')).toBeVisible();
    const start = panel.getByRole('button', { name: 'Start run' });
    await expect.element(start).toBeEnabled();

    await panel.getByLabelText('Task folder').fill('/home/ada/broken');
    await expect.element(panel.getByRole('alert')).toMatchTextContent('obligation[2].cap is 0; a cap is an integer from 1');
    await expect.element(panel.getByRole('alert')).toMatchTextContent('/home/ada/broken/task.toml');
    await expect.element(panel.getByRole('alert')).toMatchTextContent('obligation[2].cap');
    await expect.element(start).toBeDisabled();

    await panel.getByLabelText('Task folder').fill('/home/ada/tasks/mine');
    await expect.element(panel.getByText('A task of my own')).toBeVisible();
    await panel.getByLabelText('Slots per round').fill('65');
    await expect.element(panel.getByText('A whole number from 1 to 64')).toBeVisible();
    await expect.element(start).toBeDisabled();
    await panel.getByLabelText('Slots per round').fill('8');
    await panel.getByLabelText('Seed').fill('42');
    await panel.getByLabelText('Attempts at most').fill('16');
    await start.click();
    await expect.element(app.screen.getByText('search · 8 slots · seed 42')).toBeVisible();
    expect(app.fake.jobs[0]?.detail().header.budget.attempts).toBe(16);
  });

  test('picks a folder where the shell can, and only there', async () => {
    const desktop = await openApp({ runs: fakeLibrary(1, false) });
    await desktop.press('n');
    await desktop.screen.getByRole('button', { name: 'Browse' }).click();
    await expect.element(desktop.screen.getByLabelText('Task folder')).toHaveValue('/home/ada/tasks/repair-intervals');
    await desktop.screen.unmount();
    const web = await openApp({ runs: fakeLibrary(1, false), desktopKind: 'web' });
    await web.press('n');
    await expect.element(web.screen.getByRole('button', { name: 'Browse' })).not.toBeInTheDocument();
  });

  test('keys pause while something is written; Escape leads back', async () => {
    const app = await openApp({ runs: fakeLibrary(4, false) });
    await app.press('n');
    expect(window.location.hash).toBe('#/v1/new');
    await app.screen.getByLabelText('Task folder').click();
    await app.press('jjj');
    await expect.element(app.screen.getByLabelText('Task folder')).toHaveValue('jjj');
    await app.press('{Escape}');
    await expect.element(app.screen.getByRole('row', { selected: true })).toHaveAttribute('aria-rowindex', '2');
  });
});

describe('the seed of a new run', () => {
  const flaky = '/home/ada/tasks/flaky';
  const openPanel = async (options: Parameters<typeof openApp>[0] = {}, folder = flaky) => {
    const app = await openApp({ runs: [{ count: 40, seed: 7 }], ...options });
    await app.press('n');
    const panel = app.screen.getByRole('form', { name: 'New run' });
    await panel.getByRole('textbox', { name: 'Task folder' }).fill(folder);
    await expect.element(panel.getByText('A task of my own')).toBeVisible();
    return { app, panel };
  };

  test('is measured on its own: values, what moved, times and forecast', async () => {
    const { app, panel } = await openPanel();
    await panel.getByRole('button', { name: 'Measure seed' }).click();
    await expect.element(panel.getByText('5 measurements of the seed disagree in 1 obligation.')).toBeVisible();
    await expect.element(panel.getByRole('row', { name: 'clashes 3, 4, 3, 3, 4' })).toBeVisible();
    await expect.element(panel.getByText('One verification takes 41 ms (median), 58 ms (95th percentile).')).toBeVisible();
    await panel.getByRole('group', { name: 'What to do about clashes' }).getByRole('radio', { name: 'Median' }).click();
    await expect.element(panel.getByText('Measured before the last change of a choice.')).toBeVisible();
    await panel.getByRole('button', { name: 'Measure seed' }).click();
    await expect.element(panel.getByText('5 measurements of the seed agree.')).toBeVisible();
    expect(app.fake.jobs.length).toBe(1);
  });

  test('that is unstable is refused with a choice for each obligation, and starts once it is made', async () => {
    const { app, panel } = await openPanel();
    await panel.getByRole('button', { name: 'Start run' }).click();
    await expect.element(panel.getByRole('alert')).toMatchTextContent('measurements of the same seed disagree');
    expect(panel.getByRole('group', { name: /^What to do about/ }).elements().length).toBe(1);
    await panel.getByRole('radio', { name: 'Quarantine' }).click();
    await panel.getByRole('button', { name: 'Start run' }).click();
    await expect.poll(() => app.fake.jobs.length).toBe(2);
    await expect.poll(() => window.location.hash).toContain(app.fake.jobs[0]?.id ?? 'none');
  });

  test('runs candidate code without a sandbox only when that is said, and the run carries it', async () => {
    const sandbox = {
      available: false,
      backend: null,
      experimental: false,
      lacks: [],
      message: 'bubblewrap is missing; this would change it: apt install bubblewrap',
    };
    const { app, panel } = await openPanel({ sandbox }, '/home/ada/tasks/native');
    await expect.element(panel.getByText('apt install bubblewrap', { exact: false })).toBeVisible();
    await expect.element(panel.getByText('tamper-evident only', { exact: true }).first()).toBeVisible();
    expect(panel.getByText('tamper-evident only', { exact: true }).elements().length).toBe(8);
    const start = panel.getByRole('button', { name: 'Start run' });
    await expect.element(start).toBeDisabled();
    await panel.getByRole('checkbox', { name: 'Run candidate code without a sandbox' }).click();
    await start.click();
    await expect.element(app.screen.getByText('unsandboxed', { exact: true })).toBeVisible();
    expect(app.fake.jobs[0]?.detail().header.unsandboxed).toBe(true);
  });
});

describe('the proposer of a new run', () => {
  const open = async (options: Parameters<typeof openApp>[0] = {}) => {
    const app = await openApp({ runs: fakeLibrary(12, false), ...options }, '#/v1/new');
    const form = app.screen.getByRole('form', { name: 'New run' });
    return { app, form, start: form.getByRole('button', { name: 'Start run' }) };
  };
  const where = (form: ReturnType<Awaited<ReturnType<typeof openApp>>['screen']['getByRole']>) =>
    form.getByRole('region', { name: 'What runs, and where' }).first();

  test('a command is written after it was said that nothing contains it; the engine says what is missing', async () => {
    const { app, form, start } = await open();
    await form.getByRole('radio', { name: 'command' }).click();
    await expect.element(form.getByRole('note')).toMatchTextContent('This is your own program. It runs outside of any sandbox');
    await expect.element(where(form)).toMatchTextContent('your own program, as a process of this machine, not sandboxed');
    // Nothing is wrong yet, and nothing can be started.
    await expect.element(start).toBeDisabled();
    await expect.element(form.getByText('There is no header while a field above is missing or marked.')).toBeVisible();
    await form.getByRole('textbox', { name: 'Command' }).fill('  ');
    await expect.element(form.getByText('the proposer "command" needs the command that is to be run')).toBeVisible();
    await form.getByRole('textbox', { name: 'Command' }).fill('python3 fix.py');
    await form.getByRole('textbox', { name: 'Seconds per attempt' }).fill('30');
    await expect.element(form.getByTestId('header-json')).toMatchTextContent('"command":"python3 fix.py"');
    await expect.element(form.getByTestId('header-json')).toMatchTextContent('"timeoutMs":30000');
    await start.click();
    await expect.poll(() => app.fake.starts.length).toBe(1);
    expect(app.fake.starts[0]).toMatchObject({ proposer: 'command', command: { command: 'python3 fix.py', timeoutMs: 30_000 }, slots: 4 });
  });

  test('a record is picked among the runs of the same task, with their rounds, seed and number of responses', async () => {
    const { app, form, start } = await open();
    await form.getByRole('radio', { name: 'recorded' }).click();
    const runs = form.getByRole('group', { name: 'Run to take from' });
    const source = app.fake.jobs[0]?.summary();
    if (!source) throw new Error('there is a run');
    const sameTask = app.fake.jobs.filter((job) => job.summary().task.id === source.task.id);
    const usable = sameTask.filter((job) => job.summary().transitions > 0);
    await expect.element(runs.getByRole('radio').first()).toBeVisible();
    expect(runs.getByRole('radio').elements()).toHaveLength(usable.length);
    await expect.element(runs.getByText('1 run without responses is not listed.', { exact: false })).toBeVisible();
    expect(sameTask.length - usable.length).toBe(1);
    await expect.element(start).toBeDisabled();
    await runs.getByRole('radio', { name: 'seed 7', exact: false }).click();
    await expect.element(form.getByRole('textbox', { name: 'Seed' })).toHaveValue('7');
    await expect.element(form.getByRole('textbox', { name: 'Attempts at most' })).toHaveValue('240');
    await start.click();
    await expect.poll(() => app.fake.starts.length).toBe(1);
    expect(app.fake.starts[0]).toMatchObject({ proposer: 'recorded', record: source.id, slots: 4, seed: 7, attempts: 240 });
  });

  test('a person has one slot, and the run waits', async () => {
    const { app, form, start } = await open();
    await form.getByRole('radio', { name: 'human' }).click();
    await expect.element(form.getByText('One slot a round', { exact: false })).toBeVisible();
    await expect.element(form.getByRole('textbox', { name: 'Slots per round' })).not.toBeInTheDocument();
    await expect.element(where(form)).toMatchTextContent('you; nothing runs until you submit a change');
    await start.click();
    await expect.element(app.screen.getByText('waits for your proposal', { exact: true })).toBeVisible();
    expect(app.fake.starts[0]).toMatchObject({ proposer: 'human', slots: 1 });
    await expect.element(app.screen.getByRole('button', { name: 'Stop' })).toBeEnabled();
  });

  test('the header is shown to the byte with its hash, follows every field, and binds the start', async () => {
    const { app, form } = await open();
    const json = form.getByTestId('header-json');
    await expect.element(json).toMatchTextContent('"slots":4');
    await form.getByText('Other limits', { exact: false }).click();
    await form.getByRole('textbox', { name: 'Wall time, seconds' }).fill('90');
    await expect.element(json).toMatchTextContent('"wallMs":90000');
    await form.getByRole('checkbox', { name: 'No limit: Verifier runs' }).click();
    await expect.element(json).toMatchTextContent('"verifierRuns":null');
    await form.getByRole('textbox', { name: 'Rounds' }).fill('30');
    await expect.element(form.getByTestId('forecast')).toMatchTextContent('The budget buys about 120 attempts, limited by: Rounds.');
    await form.getByRole('textbox', { name: 'Rounds' }).fill('0');
    await expect.element(form.getByText('There is no header while a field above is missing or marked.')).toBeVisible();
    await form.getByRole('textbox', { name: 'Rounds' }).fill('');
    await expect.element(json).toMatchTextContent('"rounds":null');
    const shown = JSON.parse(json.element().textContent ?? '');
    expect(shown.budget).toMatchObject({ attempts: 400, wallMs: 90_000, verifierRuns: null });
    const sha = sha256Text(json.element().textContent ?? '');
    await expect.element(form.getByTitle(sha)).toBeVisible();
    await app.press('{Control>}{Enter}{/Control}');
    await expect.poll(() => app.fake.starts[0]).toMatchObject({ headerSha: sha, limits: { wallMs: 90_000, verifierRuns: null } });
  });

  test('is chosen and started without a mouse, in Korean too', async () => {
    const { app } = await open({ settings: { theme: 'dark', language: 'ko' } });
    // The first field has the focus; then folder, browse, proposer.
    await app.press('{Tab}{Tab}{Tab}');
    await app.press('{ArrowUp}');
    await expect.element(app.screen.getByRole('radio', { name: '사람' })).toHaveFocus();
    await app.press('{Control>}{Enter}{/Control}');
    await expect.element(app.screen.getByText('제안을 기다림', { exact: true })).toBeVisible();
  });
});
