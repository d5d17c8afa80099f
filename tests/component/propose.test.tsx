// Proposing by hand: the editor of a candidate, its verdict, and that nothing written is lost by looking elsewhere.
import { editor } from 'monaco-editor/editor';
import { describe, expect, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { useDrafts } from '#renderer/state/drafts.ts';
import { ensure } from '#shared/lib/assert.ts';
import { openApp, type Harness } from './app-harness.tsx';

const waiting = { proposer: 'human', slots: 1, status: 'waiting', seed: 1 } as const;

/** The side that is written, once it shows `text`. */
async function written(text: RegExp): Promise<editor.ICodeEditor> {
  return vi.waitFor(
    () => {
      const side = editor.getDiffEditors().at(-1)?.getModifiedEditor();
      expect(side?.getModel()?.getValue() ?? '').toMatch(text);
      return ensure(side, 'the side that is written');
    },
    { timeout: 10_000 },
  );
}
/** Replaces a text in the editor as a person would: an edit that undo takes back. */
function replace(side: editor.ICodeEditor, from: string, to: string) {
  const model = ensure(side.getModel(), 'model');
  const found = ensure(model.findMatches(from, false, false, true, null, false)[0], `${from} in the editor`);
  side.executeEdits('test', [{ range: found.range, text: to }]);
}
const panelOf = (app: Harness) => app.screen.getByRole('region', { name: /^Your proposal on/ });
const fileIn = (app: Harness, name: RegExp) =>
  app.screen.getByRole('list', { name: 'Files of the candidate' }).getByRole('button', { name });
const open = async (hash = '#/v1/run(0)') => {
  const app = await openApp({ runs: [waiting, { count: 40, seed: 7, stop: 'user' }] }, hash);
  return { app, panel: panelOf(app) };
};

describe('a run that waits', () => {
  test('says so and opens on the editor; stopping ends it, resuming waits again', async () => {
    const { app, panel } = await open();
    await expect.element(app.screen.getByText('waits for your proposal', { exact: true })).toBeVisible();
    await expect.element(panel).toBeVisible();
    await expect
      .element(app.screen.getByText('No transition yet. The run waits for your first proposal; nothing is running.'))
      .toBeVisible();
    await expect
      .element(app.screen.getByRole('complementary', { name: 'Inspector' }).getByRole('row', { name: 'clashes 3' }))
      .toBeVisible();
    expect(app.screen.container.querySelectorAll('[class*=breath]')).toHaveLength(0);
    await app.screen.getByRole('button', { name: 'Stop' }).click();
    await expect.element(app.screen.getByText('stopped: stopped by you')).toBeVisible();
    await app.screen.getByRole('button', { name: 'Resume' }).click();
    await expect.element(app.screen.getByText('waits for your proposal', { exact: true })).toBeVisible();
  });

  test('in the library it has a word and a shape of its own', async () => {
    const { app } = await open('#/v1/library');
    await expect.element(app.screen.getByRole('row').nth(1)).toMatchTextContent(/^waits for you/);
  });
});

describe('a candidate that is written', () => {
  test('commits with its reason; the next one is rejected, says why and keeps the text', async () => {
    const { app, panel } = await open();
    await fileIn(app, /timetable/).click();
    const side = await written(/"slot":1,/);
    const submit = panel.getByRole('button', { name: 'Propose' });
    await expect.element(submit).toBeDisabled();
    replace(side, '"slot":1,', '"slot":99,');
    await expect.element(panel.getByText('1 file changed, not proposed yet')).toBeVisible();
    await submit.click();
    const result = panel.getByRole('status').filter({ hasText: 'Committed.' });
    await expect.element(result).toMatchTextContent('Committed. clashes improved from 3 to 2. Nothing got worse.');
    await expect.element(app.screen.getByRole('region', { name: 'Your proposal on bundle 1' })).toBeVisible();
    // It is the head now, so nothing is left to propose.
    await expect.element(panel.getByText('Change a file to propose it.')).toBeVisible();
    expect(app.why()).toContain('Committed.');

    replace(await written(/"slot":99,/), '"slot":99,', '"slot":1,');
    await app.press('{Control>}{Enter}{/Control}');
    await expect.element(panel.getByText('clashes', { exact: true }).first()).toBeVisible();
    await expect
      .element(panel.getByRole('status').filter({ hasText: 'Regression.' }))
      .toMatchTextContent('Regression. clashes went from 2 to 3. Nothing improved. What you wrote is still here.');
    await expect.element(panel.getByText('1 file changed, not proposed yet')).toBeVisible();
    expect((await written(/"slot":1,/)).getModel()?.getValue()).not.toContain('99');
    // It is a transition like any other.
    await panel.getByRole('button', { name: 'Go to transition 2' }).click();
    await expect.element(app.screen.getByText('2 · round 2 · slot 1')).toBeVisible();
    await expect.element(app.screen.getByText('Transition 2, regression')).toBeVisible();
    await expect.element(app.screen.getByRole('button', { name: 'Propose, 1 unsent' })).toBeVisible();
  });

  test('one that gains and loses is incomparable', async () => {
    const { app, panel } = await open();
    await fileIn(app, /timetable/).click();
    replace(await written(/"slot":1,/), '"slot":1,"room":"Aula"', '"slot":9,"room":"Aula"},{"x":"1","room":"Aula"');
    await panel.getByRole('button', { name: 'Propose' }).click();
    await expect.element(panel.getByRole('status').filter({ hasText: 'Incomparable.' })).toMatchTextContent('A gain never buys a loss.');
  });

  test('has several files: changed, new and removed ones, each with its undo; undoing all is no change', async () => {
    const { app, panel } = await open();
    await fileIn(app, /timetable/).click();
    replace(await written(/"slot":1,/), '"slot":1,', '"slot":2,');
    await fileIn(app, /rooms/).click();
    replace(await written(/^Aula/), 'H1', 'H2');
    await expect.element(panel.getByText('2 files changed, not proposed yet')).toBeVisible();
    const rooms = await written(/H2/);
    rooms.trigger('test', 'undo', null);
    await expect.element(fileIn(app, /rooms/)).toHaveAttribute('data-state', 'unchanged');
    await expect.element(panel.getByText('1 file changed, not proposed yet')).toBeVisible();
    // Line ends are what they were, to the byte: a file is not changed by being opened.
    expect([...(useDrafts.getState().drafts.values().next().value?.texts.keys() ?? [])]).toEqual(['timetable.json']);

    await fileIn(app, /timetable/).click();
    (await written(/"term"/)).trigger('test', 'undo', null);
    await expect.element(panel.getByText('Change a file to propose it.')).toBeVisible();

    await panel.getByRole('button', { name: 'New file' }).click();
    await app.press('README.md');
    await expect.element(panel.getByText('There is a file of that path.')).toBeVisible();
    await panel.getByRole('textbox', { name: 'Path' }).fill('secret.txt');
    await expect.element(panel.getByText('A candidate may not write there. Writable is: timetable.json, notes/**')).toBeVisible();
    await panel.getByRole('textbox', { name: 'Path' }).fill('notes/more.txt');
    await app.press('{Enter}');
    (await written(/^$/)).executeEdits('test', [
      { range: { startLineNumber: 1, startColumn: 1, endLineNumber: 1, endColumn: 1 }, text: 'new' },
    ]);
    await fileIn(app, /rooms/).click();
    await panel.getByRole('button', { name: 'Remove file' }).click();
    await expect.element(panel.getByText('The candidate does not have notes/rooms.txt.')).toBeVisible();
    await expect.element(panel.getByText('2 files changed, not proposed yet')).toBeVisible();
    await panel.getByRole('button', { name: 'Propose' }).click();
    await expect.element(panel.getByRole('status').filter({ hasText: 'Tie.' })).toBeVisible();
    const { changes } = ensure(app.fake.jobs[0], 'run').transition(1);
    expect(changes?.map(({ path, status }) => [path, status])).toEqual([
      ['notes/more.txt', 'added'],
      ['notes/rooms.txt', 'removed'],
    ]);
  });

  test('what may not be written is counted, shown when asked for, and read only', async () => {
    const { app, panel } = await open();
    await expect.element(panel.getByRole('button', { name: 'README.md' })).not.toBeInTheDocument();
    await panel.getByRole('button', { name: 'Show 1 file that may not be written' }).click();
    await fileIn(app, /README/).click();
    await expect.element(panel.getByText('README.md may not be written by a candidate; it is shown as it is.')).toBeVisible();
    const side = await written(/^# Timetable/);
    expect(side.getOption(editor.EditorOption.readOnly)).toBe(true);
    await panel.getByRole('button', { name: 'Instruction of the task' }).click();
    await expect.element(panel.getByText('Make a timetable in which nobody sits in two exams at once.')).toBeVisible();
  });

  test('is reset by file with undo, and thrown away as a whole only after a second press', async () => {
    const { app, panel } = await open();
    await fileIn(app, /timetable/).click();
    const side = await written(/"slot":1,/);
    replace(side, '"slot":1,', '"slot":2,');
    await panel.getByRole('button', { name: 'Reset file' }).click();
    await expect.element(panel.getByText('Change a file to propose it.')).toBeVisible();
    side.trigger('test', 'undo', null);
    await expect.element(panel.getByText('1 file changed, not proposed yet')).toBeVisible();
    await panel.getByRole('button', { name: 'Discard all' }).click();
    await expect.element(panel.getByRole('alert')).toMatchTextContent('Discard what you wrote in 1 file?');
    await panel.getByRole('button', { name: 'Keep' }).click();
    await expect.element(panel.getByText('1 file changed, not proposed yet')).toBeVisible();
    await panel.getByRole('button', { name: 'Discard all' }).click();
    await panel.getByRole('button', { name: 'Discard', exact: true }).click();
    await expect.element(panel.getByText('Change a file to propose it.')).toBeVisible();
    expect((await written(/"slot":1,/)).getModel()?.getValue()).not.toContain('"slot":99');
  });

  test('survives stepping, other screens and other runs; leaving the page is warned of while something is unsent', async () => {
    const { app, panel } = await open();
    const leave = () => {
      const event = new Event('beforeunload', { cancelable: true });
      window.dispatchEvent(event);
      return event.defaultPrevented;
    };
    expect(leave()).toBe(false);
    await fileIn(app, /timetable/).click();
    const side = await written(/"slot":1,/);
    replace(side, '"slot":1,', '"slot":77,');
    await expect.poll(leave).toBe(true);
    side.focus();
    await app.press('{Escape}');
    await expect.element(fileIn(app, /timetable/)).toHaveFocus();
    await app.press('{Escape}');
    await expect.element(panel).not.toBeInTheDocument();
    await app.press('{Shift>}l{/Shift}');
    await app.screen.getByRole('row').nth(2).click();
    await app.press('kkk');
    await app.press('{Shift>}l{/Shift}');
    await app.screen.getByRole('row').nth(1).click();
    await app.press('e');
    await written(/"slot":77,/);
    await expect.element(panel.getByText('1 file changed, not proposed yet')).toBeVisible();
    await panel.getByRole('button', { name: 'Discard all' }).click();
    await panel.getByRole('button', { name: 'Discard', exact: true }).click();
    await expect.poll(leave).toBe(false);
  });

  test('a head that has moved meanwhile is said, and the text is compared with it', async () => {
    const { app, panel } = await open();
    await fileIn(app, /timetable/).click();
    replace(await written(/"slot":1,/), '"room":"Aula"', '"room":"H9"');
    const job = ensure(app.fake.jobs[0], 'run');
    // Somebody else, by the command line.
    await app.fake.engine.call('run.propose', {
      run: job.id,
      base: 0,
      files: [{ path: 'timetable.json', text: '{"slot":1,"room":"Aula"}' }],
    });
    await expect.element(panel.getByText('The head is bundle 1 by now.', { exact: false })).toBeVisible();
    await written(/"room":"H9"/);
    await panel.getByRole('button', { name: 'I have seen it' }).click();
    await expect.element(panel.getByText('The head is bundle 1 by now.', { exact: false })).not.toBeInTheDocument();
  });

  test('the keyboard is enough: open, choose, write, submit', async () => {
    const { app, panel } = await open();
    await app.press('{Escape}');
    await app.press('e');
    await expect.element(fileIn(app, /rooms/)).toBeVisible();
    ensure(app.screen.container.querySelector<HTMLElement>('[data-path="notes/rooms.txt"]'), 'the file').focus();
    await app.press('{ArrowDown}');
    await expect.element(fileIn(app, /timetable/)).toHaveFocus();
    await app.press('{Enter}');
    await written(/"term"/);
    await expect.poll(() => document.activeElement?.closest('.monaco-editor') !== null).toBe(true);
    await userEvent.keyboard('{Control>}{Home}{/Control}x');
    await expect.element(panel.getByText('1 file changed, not proposed yet')).toBeVisible();
    await userEvent.keyboard('{Control>}{Enter}{/Control}');
    await expect.element(panel.getByRole('status').filter({ hasText: 'Tie.' })).toBeVisible();
  });
});

test('in a run of another proposer it takes an attempt, and while that is live it waits', async () => {
  const app = await openApp(
    {
      runs: [
        { count: 40, shown: 8, status: 'running', seed: 3 },
        { count: 40, seed: 7, stop: 'user' },
      ],
    },
    '#/v1/run(1)?n=3',
  );
  await app.press('e');
  await expect.element(panelOf(app).getByText('This run is proposed by search.', { exact: false })).toBeVisible();
  await app.screen.unmount();
  const live = await openApp({ runs: [{ count: 40, shown: 8, status: 'running', seed: 3 }] }, '#/v1/run(0)');
  await expect.element(live.screen.getByRole('button', { name: 'Propose' })).not.toBeInTheDocument();
});
