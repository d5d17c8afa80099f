// What the backend of macOS asks its package for. The package itself is a fake here: nothing of macOS runs in this test.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { type SandboxSpec } from '#electron/verifiers/sandbox/api.ts';
import { createBackend } from '#electron/verifiers/sandbox/backend.ts';
import { createSandboxRuntime } from '#electron/verifiers/sandbox/runtime-backend.ts';
import { filesOf, innerScript, readableSystem, runtimeCommand, runtimeConfig } from '#electron/verifiers/sandbox/runtime-config.ts';
import { loadRuntimePackage, type RuntimePackage } from '#electron/verifiers/sandbox/runtime-package.ts';

const folder = '/Users/ann/Library/Application Support/Pawl/tmp/verify/v-1';
const at = (name: string) => ({ source: `${folder}/${name}`, target: `${folder}/${name}` });
const spec = (changes: Partial<SandboxSpec> = {}): SandboxSpec => ({
  readOnly: [at('task/artifact'), at('task/verifier')],
  writableFiles: [at('report/report.json')],
  scratch: [
    { target: `${folder}/task`, bytes: 1 },
    { target: `${folder}/call/tmp`, bytes: 1 },
  ],
  cwd: `${folder}/task`,
  home: `${folder}/call/tmp`,
  env: { PAWL_NONCE: 'abc' },
  limits: { memoryMb: 128, cpuS: 7, processes: 3, fileMb: 4 },
  ...changes,
});
const paths = (list: readonly { readonly path: string }[]) => list.map(({ path }) => path);

describe('files', () => {
  test('everything is denied but the system, the package and what the spec names', () => {
    const files = filesOf(spec(), readableSystem.darwin, ['/Applications/Pawl.app/own']);
    expect(paths(files.denyRead)).toEqual(['/']);
    const allowed = paths(files.allowRead);
    expect(allowed).toEqual(expect.arrayContaining(['/usr', '/System', '/Applications/Pawl.app/own', `${folder}/task/artifact`]));
    // Nothing of a user, nothing of the machine's settings as a whole.
    for (const path of [
      '/',
      '/Users',
      '/Library',
      '/private',
      '/private/etc',
      '/private/var',
      '/etc',
      '/tmp',
      '/private/tmp',
      '/dev',
      '/Volumes',
      folder,
    ])
      expect(allowed).not.toContain(path);
    expect(allowed.filter((path) => path.startsWith('/Users/')).every((path) => path.startsWith(`${folder}/`))).toBe(true);
  });

  test('only scratch space and the result channel can be written; what is read-only stays so inside it', () => {
    const { allowWrite, denyWrite } = filesOf(spec(), [], []);
    expect(paths(allowWrite)).toEqual([`${folder}/report/report.json`, `${folder}/task`, `${folder}/call/tmp`, '/dev/null']);
    expect(paths(denyWrite)).toEqual([`${folder}/task/artifact`, `${folder}/task/verifier`, '/tmp/claude', '/private/tmp/claude']);
    const separate = spec({ readOnly: [at('task/artifact')], writableFiles: [], scratch: [{ target: `${folder}/call/tmp`, bytes: 1 }] });
    expect(paths(filesOf(separate, [], []).allowWrite)).toEqual([`${folder}/call/tmp`, '/dev/null']);
  });

  test('no path is a pattern, whatever is in its name', () => {
    const odd = { source: '/Users/ann/a[1]*?/x', target: '/Users/ann/a[1]*?/x' };
    const files = filesOf(spec({ readOnly: [odd] }), readableSystem.darwin, []);
    const all = [files.denyRead, files.allowRead, files.allowWrite, files.denyWrite].flat();
    expect(all.every(({ literal }) => literal)).toBe(true);
    expect(paths(files.allowRead)).toContain('/Users/ann/a[1]*?/x');
  });

  test.each<[string, Partial<SandboxSpec>, RegExp]>([
    ['another path inside', { readOnly: [{ source: '/a', target: '/task/artifact' }] }, /\/a cannot be \/task\/artifact inside/],
    ['a file that is another inside', { writableFiles: [{ source: '/a', target: '/b' }] }, /maps no paths/],
    ['a way out', { readOnly: [{ source: '/a/../b', target: '/a/../b' }] }, /absolute path/],
    ['a relative working folder', { cwd: 'task' }, /absolute path/],
    ['a home that is no scratch space', { home: '/Users/ann' }, /is no scratch space/],
    ['a variable that is fixed', { env: { PATH: '/x' } }, /PATH is fixed/],
    ['NUL in a variable', { env: { A: 'b\0c' } }, /NUL in A/],
  ])('refuses %s', (_, changes, message) => {
    expect(() => filesOf(spec(changes), [], [])).toThrow(message);
  });
});

test('no host is allowed, no local port, no socket, and no proxy is started', () => {
  expect(runtimeConfig(['/usr']).network).toEqual({
    allowedDomains: [],
    deniedDomains: [],
    allowUnixSockets: [],
    allowLocalBinding: false,
    httpProxyPort: 1,
    socksProxyPort: 1,
  });
});

describe('the way in', () => {
  // The package puts a command between quotes for bash; here it is nothing else.
  const wrapped = (command: string) => `/bin/bash -c '${command.replaceAll("'", `'\\''`)}'`;
  const here = spec({ cwd: '/', home: `${folder}/call/tmp` });
  const run = (form: 'run' | 'runReporting', argv: readonly string[], env: Record<string, string> = {}) => {
    const command = runtimeCommand(wrapped(innerScript(here)))[form];
    const script = form === 'run' ? command : `status=$(mktemp); ${command} 8> "$status"; cat "$status"; rm "$status"`;
    return spawnSync('/bin/sh', ['-c', script, 'sh', ...argv], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin', ...env } });
  };

  test('words arrive as they are, whatever is in them', () => {
    const odd = ['a b', '', "it's", '$(echo no)', '`no`', '*', '-n', '--', 'a=b', '\\', 'two\nlines', '한글'];
    expect(
      run('run', ['/usr/bin/printf', '%s\\0', ...odd])
        .stdout.split('\0')
        .slice(0, -1),
    ).toEqual(odd);
  });

  test('the environment is that of the spec and nothing else', () => {
    const { stdout } = run('run', ['/usr/bin/env'], { SECRET: 'seen', PAWL_REPORT: '/x' });
    const env = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
    );
    expect(env).toMatchObject({ PAWL_NONCE: 'abc', HOME: `${folder}/call/tmp`, TMPDIR: `${folder}/call/tmp`, TZ: 'UTC' });
    expect(
      Object.keys(env).filter(
        (name) => name === 'SECRET' || name.startsWith('PAWL_W') || name === 'PAWL_REPORT' || name === 'PAWL_REPORTS',
      ),
    ).toEqual([]);
  });

  test('limits of time, of files and of descriptors are set; no descriptor is left open', () => {
    const shown = 'ulimit -t; ulimit -n; ulimit -c; for f in /dev/fd/*; do echo "${f##*/}"; done';
    const [cpu, descriptors, core, ...open] = run('run', ['/bin/bash', '-c', shown]).stdout.trim().split('\n');
    expect([cpu, descriptors, core]).toEqual(['7', '256', '0']);
    // The fourth is of the listing itself.
    expect(open.filter((fd) => Number(fd) > 3)).toEqual([]);
  });

  test('an exit code is reported by what has run, and by nothing else', () => {
    expect(run('runReporting', ['/bin/sh', '-c', 'exit 7']).stdout).toBe('started\nexit-code: 7\n');
    expect(run('runReporting', ['/bin/sh', '-c', 'echo forged >&8; kill -9 $$']).stdout).toBe('started\nexit-code: 137\n');
    const broken = runtimeCommand('echo "it cannot be set up" >&2; exit 3').runReporting;
    const { stdout } = spawnSync('/bin/sh', ['-c', `status=$(mktemp); ${broken} 8> "$status"; cat "$status"; rm "$status"`], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });
});

describe('the package', () => {
  const fake = (changes: Partial<RuntimePackage> = {}): RuntimePackage => ({
    version: '9.9.9',
    folder: '/packages/it',
    initialize: () => Promise.resolve(),
    wrap: () => Promise.resolve('true'),
    missing: () => Promise.resolve([]),
    reset: () => Promise.resolve(),
    ...changes,
  });

  test('is not there, is another, misses something: not available, with the reason', async () => {
    const probe = (load: () => Promise<RuntimePackage>) => createSandboxRuntime('darwin', load).probe();
    expect(await probe(() => loadRuntimePackage('no-such-package'))).toMatchObject({
      available: false,
      backend: 'sandbox-runtime',
      experimental: true,
      message: expect.stringMatching(/no-such-package cannot be loaded/),
    });
    // Any package that is no sandbox.
    expect((await probe(() => loadRuntimePackage('zod'))).message).toMatch(/is not as it was: SandboxManager is missing/);
    expect((await probe(() => Promise.resolve(fake({ missing: () => Promise.resolve(['no sandbox-exec']) })))).message).toMatch(
      /no sandbox-exec/,
    );
    expect((await probe(() => Promise.resolve(fake({ initialize: () => Promise.reject(new Error('refused')) })))).message).toMatch(
      /refused/,
    );
  });

  test('one that runs its command without any sandbox is found out', async () => {
    const open = fake({ wrap: (command, shell) => Promise.resolve(`${shell} -c '${command.replaceAll("'", `'\\''`)}'`) });
    const found = await createSandboxRuntime('darwin', () => Promise.resolve(open)).probe();
    expect(found).toMatchObject({ available: false, guarantees: { filesystem: false, network: false } });
    expect(found.message).toMatch(/does not hold what it must: .*filesystem: /);
  });

  test('is loaded and set up once, not before it is needed, and given back', async () => {
    const seen: string[] = [];
    const backend = createSandboxRuntime('darwin', () => {
      seen.push('load');
      return Promise.resolve(
        fake({
          initialize: () => Promise.resolve(void seen.push('initialize')),
          reset: () => Promise.resolve(void seen.push('reset')),
        }),
      );
    });
    expect(seen).toEqual([]);
    await Promise.all([backend.command(spec()), backend.command(spec())]);
    expect(seen).toEqual(['load', 'initialize']);
    await backend.close();
    expect(seen).toEqual(['load', 'initialize', 'reset']);
    await createSandboxRuntime('darwin', () => Promise.reject(new Error('never loaded'))).close();
  });

  test('programs of the system can be started, others not', () => {
    const backend = createSandboxRuntime('darwin', () => Promise.resolve(fake()));
    const sees = (program: string) => backend.sees(program);
    expect(['/usr/bin/python3', '/opt/homebrew/bin/python3'].map(sees)).toEqual([true, true]);
    expect(['/Users/ann/bin/python3', '/usrlocal/x', '/private/tmp/x'].map(sees)).toEqual([false, false, false]);
  });

  test('Linux never loads it; other systems have no sandbox', async () => {
    expect([createBackend('linux').name, createBackend('darwin').name]).toEqual(['bubblewrap', 'sandbox-runtime']);
    expect(await createBackend('freebsd').probe()).toMatchObject({ available: false, backend: null });
  });
});
