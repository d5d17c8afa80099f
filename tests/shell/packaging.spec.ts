// electron-builder with a stub in place of Electron: what would ship is listed, taken out of its archive, and started under the double.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import { launchShell } from '../support/launch-shell.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

test('the packed app holds what it needs and nothing else, and starts', { tag: '@slow' }, async () => {
  test.skip(process.platform !== 'linux', 'the stub is that of a Linux Electron');
  test.setTimeout(240_000);
  const temp = mkdtempSync(path.join(tmpdir(), 'pawl-pack-'));
  try {
    const stub = path.join(temp, 'stub');
    mkdirSync(path.join(stub, 'resources'), { recursive: true });
    for (const [name, text] of [
      ['electron', '#!/bin/sh\n'],
      ['version', '45.5.0'],
      ['LICENSE', ''],
      ['LICENSES.chromium.html', ''],
    ] as const) {
      writeFileSync(path.join(stub, name), text, { mode: 0o755 });
    }
    // Fuses are bits of the real program; everything else is the config that ships.
    const config = {
      extends: path.join(root, 'electron-builder.yml'),
      electronDist: stub,
      electronFuses: null,
      directories: { output: path.join(temp, 'dist') },
    };
    writeFileSync(path.join(temp, 'config.json'), JSON.stringify(config));
    await run(
      process.execPath,
      ['node_modules/electron-builder/cli.js', '--linux', 'dir', '--publish', 'never', '--config', path.join(temp, 'config.json')],
      { cwd: root, maxBuffer: 64 << 20 },
    );

    const resources = path.join(temp, 'dist/linux-unpacked/resources');
    const unpacked = path.join(temp, 'app');
    await run(process.execPath, ['node_modules/@electron/asar/bin/asar.js', 'extract', path.join(resources, 'app.asar'), unpacked], {
      cwd: root,
    });
    const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll(path.sep, '/'));
    for (const needed of [
      'package.json',
      'out/node/main.js',
      'out/node/utility.js',
      'out/node/runner.js',
      'out/node/store-worker.js',
      'out/preload/index.cjs',
      'out/renderer/index.html',
      'resources/tasks/repair-csv/task.toml',
    ]) {
      expect(files, needed).toContain(needed);
    }
    expect(
      files.filter((file) => /^(electron|shared|renderer|tests)\//.test(file) || file.endsWith('.ts') || file.endsWith('.stamp')),
    ).toEqual([]);
    expect(files.filter((file) => file.endsWith('.node'))).toEqual([`node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`]);
    expect(new Set(files.flatMap((file) => /^node_modules\/(@[^/]+|[^@/][^/]*)$/.exec(file)?.[1] ?? []))).toEqual(
      new Set(['@jitl', 'better-sqlite3', 'quickjs-emscripten', 'quickjs-emscripten-core', 'ws']),
    );

    // Away from the repository, so that nothing is found in its node_modules by accident.
    const app = path.join(temp, 'elsewhere');
    cpSync(unpacked, app, { recursive: true });
    const shell = await launchShell({ outDir: path.join(app, 'out') });
    try {
      await expect(shell.page.getByText('Engine running')).toBeVisible();
      await shell.page.getByRole('button', { name: /run the sample/i }).click();
      // It has a run of its own: task, verifier and QuickJS came out of the package.
      await expect(shell.page).toHaveURL(/run_/);
    } finally {
      await shell.close();
    }
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
});
