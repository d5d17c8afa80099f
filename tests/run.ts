// `npm test`: says what this machine has, installs what it may, builds, runs every suite, and counts.
// Nothing is skipped silently: what cannot run here is named with its reason, and the last line counts passed, failed and skipped tests.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { ensureBuilt } from '#electron/build.ts';
import { electronBinary } from './support/launch-shell.ts';
import { chromiumPath } from './support/chromium.ts';

const root = path.resolve(import.meta.dirname, '..');
const say = (text: string) => process.stdout.write(`${text}\n`);
const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;

const hasPytest = () => spawnSync('/usr/bin/python3', ['-c', 'import pytest'], { stdio: 'ignore' }).status === 0;

/** Installs browser, fonts, sandbox, strace and pytest where that needs no question: as root on a Debian-like machine. Elsewhere prints the command. */
function provide(): void {
  const missing = [
    ...(chromiumPath() === null ? ['chromium', 'fonts-noto-cjk'] : []),
    ...(process.platform === 'linux' && !has('bwrap') ? ['bubblewrap'] : []),
    ...(process.platform === 'linux' && !has('strace') ? ['strace'] : []),
    ...(process.platform === 'linux' && !hasPytest() ? ['python3-pytest'] : []),
    // What the sandbox of macOS needs on Linux, where it is tested.
    ...(process.platform === 'linux' && !has('socat') ? ['socat'] : []),
    ...(process.platform === 'linux' && !has('rg') ? ['ripgrep'] : []),
  ];
  if (missing.length === 0) return;
  const command = `apt-get update && apt-get install -y ${missing.join(' ')}`;
  if (process.platform === 'linux' && has('apt-get') && process.getuid?.() === 0) {
    say(`Missing: ${missing.join(', ')}. Root on a Debian-like machine, so they are installed now: ${command}`);
    const result = spawnSync('sh', ['-c', command], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: 10 * 60_000,
    });
    if (result.status !== 0) say(`That failed (exit ${result.status ?? result.signal}); what needs them is skipped below.`);
  } else if (process.platform === 'linux') {
    say(`Missing: ${missing.join(', ')}. What needs them is skipped. To have it run: sudo sh -c '${command}'`);
  } else {
    say(`Missing: ${missing.join(', ')}. What needs them is skipped. Set PAWL_CHROMIUM to a Chromium or Chrome to run the browser tests.`);
  }
}

type Counts = { passed: number; failed: number; skipped: number };
const total: Counts = { passed: 0, failed: 0, skipped: 0 };
const skippedSuites: string[] = [];

/** Runs a test program whose JSON report goes to `report`; a program that dies without a report counts as one failure. */
async function suite(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  read: (json: unknown) => Counts,
  report: string,
): Promise<void> {
  const started = performance.now();
  say(`\n-- ${name}`);
  const code = await new Promise<number | null>((resolve) => {
    const child = spawn(process.execPath, [...args], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
    });
    child.on('exit', resolve);
  });
  const counts = existsSync(report) ? read(JSON.parse(readFileSync(report, 'utf8'))) : { passed: 0, failed: 1, skipped: 0 };
  // A runner may fail for what is no test: an error outside tests, a file that does not load, no test found.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += counts[key];
  say(
    `-- ${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${Math.round((performance.now() - started) / 1000)} s`,
  );
}

const VitestReport = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numFailedTestSuites: z.int(),
  numPendingTests: z.int(),
  numTodoTests: z.int(),
});
const fromVitest = (json: unknown): Counts => {
  const r = VitestReport.parse(json);
  return { passed: r.numPassedTests, failed: r.numFailedTests, skipped: r.numPendingTests + r.numTodoTests };
};

const PlaywrightReport = z.object({ stats: z.object({ expected: z.int(), unexpected: z.int(), flaky: z.int(), skipped: z.int() }) });
const fromPlaywright = (json: unknown): Counts => {
  const { stats } = PlaywrightReport.parse(json);
  // A test that passes only when repeated is not a test that passes.
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped };
};

provide();
const browser = chromiumPath();
const binary = electronBinary();
const display = process.platform !== 'linux' || Boolean(process.env['DISPLAY'] ?? process.env['WAYLAND_DISPLAY']);
say(`Node ${process.versions.node} on ${process.platform}-${process.arch}${process.getuid?.() === 0 ? ', as root' : ''}`);
say(`Browser:  ${browser ?? 'none: component, end-to-end and shell tests are skipped'}`);
say(`Electron: ${binary ?? 'no binary: the shell specs run the built main process against the double of the electron module'}`);
say(`Display:  ${display ? 'yes' : 'none (browsers run headless)'}`);
say(
  `Sandbox:  ${has('bwrap') ? 'bubblewrap is installed; whether it works here is probed by the tests of the sandbox' : 'no bubblewrap: the tests of the sandbox are skipped'}`,
);
say(
  `strace:   ${has('strace') ? 'yes; whether it may trace here is probed by its test' : 'no: failures are injected into the store, and not into its system calls'}`,
);
say(
  `python3:  ${existsSync('/usr/bin/python3') || existsSync('/usr/local/bin/python3') ? 'yes' : "none on a verifier's PATH: the python twin of the sample's verifier is skipped"}${hasPytest() ? ', with pytest' : '; no pytest: SWE-bench under pytest is skipped'}`,
);

await ensureBuilt();

const reports = mkdtempSync(path.join(tmpdir(), 'pawl-test-'));
try {
  const report = (name: string) => path.join(reports, `${name}.json`);
  const vitest = (name: string, projects: readonly string[]) =>
    suite(
      name,
      [
        'node_modules/vitest/vitest.mjs',
        'run',
        ...projects.flatMap((p) => ['--project', p]),
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report(name)}`,
      ],
      {},
      fromVitest,
      report(name),
    );
  const playwright = (name: string) =>
    suite(
      name,
      ['node_modules/@playwright/test/cli.js', 'test', '--project', name, '--reporter=list,json'],
      { PLAYWRIGHT_JSON_OUTPUT_NAME: report(name) },
      fromPlaywright,
      report(name),
    );

  await vitest('node', ['unit', 'property', 'store', 'engine']);
  if (browser === null) skippedSuites.push('component, e2e, shell: no Chromium (see above)');
  else {
    await vitest('component', ['component']);
    await playwright('e2e');
    await playwright('shell');
  }
} finally {
  rmSync(reports, { recursive: true, force: true });
}

for (const line of skippedSuites) say(`SKIPPED ${line}`);
say(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
