// How the shell starts, and what may not happen in its utility processes.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { launchShell } from '../support/launch-shell.ts';

const run = promisify(execFile);
const utility = new URL('../support/electron-double/utility.ts', import.meta.url).href;

test('the double refuses fork and process.execPath in utility processes, as the fuses of the packed app do', async () => {
  const inUtility = (code: string) =>
    run(process.execPath, ['--import', utility, '--input-type=module', '-e', code]).then(
      () => 'worked',
      (error: { stderr: string }) => error.stderr,
    );
  expect(await inUtility("import { fork } from 'node:child_process'; fork('x.js')")).toContain('child_process.fork does not work');
  expect(await inUtility('process.execPath')).toContain('process.execPath does not work');
  expect(await inUtility("import { spawn } from 'node:child_process'; spawn('true')")).toBe('worked');
});

test('a data folder that cannot be used is said in the window', async () => {
  const temp = mkdtempSync(path.join(tmpdir(), 'pawl-start-'));
  const file = path.join(temp, 'file');
  writeFileSync(file, '');
  const shell = await launchShell({ dataDir: file });
  try {
    await expect(shell.page.getByText(/the data folder .* cannot be used: there is a file of that name/)).toBeVisible();
  } finally {
    await shell.close();
    rmSync(temp, { recursive: true, force: true });
  }
});
