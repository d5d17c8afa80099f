// Every attack twice: against a sandbox or a verifier that was weakened on purpose, where it succeeds, and against `separate`, where it
// must not. A success is rank [0, 0] without a repair, or "WON" from a program that reached what it must not reach.
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { Verification } from '#electron/verifiers/api.ts';
import type { SandboxBackend } from '#electron/verifiers/sandbox/api.ts';
import { createBackend } from '#electron/verifiers/sandbox/backend.ts';
import { verifiersOfFile } from '../verifiers/of-file.ts';
import { never } from '../verifiers/support.ts';
import { aroundAttacks, type Attack, parentAttacks, verdictAttacks } from './attack-list.ts';
import { machineAttacks, startMachine } from './machine.ts';
import { type Given, goodCode, missingHere, processesWith, python, rankOf, repairRequest, runIn } from './support.ts';
import { won } from './weak.ts';

const missing = await missingHere();
if (missing !== null) process.stderr.write(`SKIPPED attacks on the sandbox: ${missing}\n`);

// Before the tests are collected, which are made of it.
const machine = await startMachine();
afterAll(() => machine.close());
const it = verifiersOfFile();

const verify = (files: Readonly<Record<string, string>>, given: Given): Promise<Verification> =>
  it.service.verify(repairRequest(files, given), never);
const details = ({ verdict }: Verification) => (verdict.kind === 'ranked' ? verdict.details : {});

const all: readonly Attack[] = [...verdictAttacks, ...aroundAttacks, ...parentAttacks, ...machineAttacks(machine)];
const possible = all.filter(({ name, impossible }) => {
  const why = impossible?.() ?? null;
  if (why !== null) process.stderr.write(`SKIPPED the attack "${name}": ${why}\n`);
  return why === null;
});

describe.skipIf(missing !== null)('attacks of the list', () => {
  test.each(possible)('$name', async ({ files, weak, real, defeat, races }) => {
    let fooled = await verify(files, weak);
    for (let left = races === true ? 4 : 0; left > 0 && String(rankOf(fooled)) !== '0,0'; left--) fooled = await verify(files, weak);
    expect(rankOf(fooled), `weakened, the verifier said ${JSON.stringify(details(fooled))}`).toEqual([0, 0]);
    const held = await verify(files, real);
    expect(rankOf(held), `the verifier said ${JSON.stringify(details(held))}`).toEqual(defeat);
  });

  test('no repair needs any of it', async () => {
    expect(rankOf(await verify({ 'numbers_.py': goodCode }, {}))).toEqual([0, 0]);
    expect(rankOf(await verify({}, {}))).toEqual([1, 3]);
  });
});

describe.skipIf(missing !== null)('attacks on what is around', () => {
  /** Ranks of the same attack against both; what the verifier said about each, for when they are not those of a defeat. */
  const attack = async (program: string, weak: Given, files: Readonly<Record<string, string>> = {}) => {
    const all = { ...files, 'attack.py': program };
    const verifierFiles = weak.verifierFiles ?? won();
    const fooled = await verify(all, { ...weak, verifierFiles });
    const real = await verify(all, { verifierFiles, ...(weak.command === undefined ? {} : { command: weak.command }) });
    const said = [details(fooled), details(real)].map((text) => JSON.stringify(text)).join('\n');
    return { ranks: { weak: rankOf(fooled), real: rankOf(real) }, said, real };
  };
  const defeat = { weak: [0, 0], real: [3, 0] };
  const free: Given = { unsandboxed: true };

  test('endless output', async () => {
    const program = `import sys\nline = b"x" * 65536\nfor _ in range(2000):\n    sys.stdout.buffer.write(line)\n    sys.stderr.buffer.write(b"y" * 1024)\n`;
    const verifierFiles = won(
      '',
      `win = len(done.stdout) > 65536 or len(done.stderr) > 65536\ndetails["middle"] = f"{len(done.stdout)} {len(done.stderr)} {done.returncode}"`,
    );
    const { ranks, said, real } = await attack(program, { ...free, verifierFiles });
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
    const [out = 0, err = 0, code = 0] = (details(real)['middle'] ?? '').split(' ').map(Number);
    expect([out, err <= 65_536, code]).toEqual([65_536, true, expect.any(Number)]);
    expect(code).not.toBe(0);
  });

  test('endless output that never ends ends with the call', async () => {
    const verifierFiles = won('', `details["middle"] = str(len(done.stdout))`);
    const real = await verify({ 'attack.py': `import os\nos.execv("/usr/bin/yes", ["yes"])\n` }, { verifierFiles });
    expect(details(real)['middle']).toBe('65536');
  });

  test('a fork bomb', async () => {
    const program = `
import os, time
born = 0
for _ in range(100):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        os.closerange(0, 64)
        time.sleep(30)
        os._exit(0)
    born += 1
print("WON" if born > 40 else "", born)
`;
    const { ranks, said, real } = await attack(program, free);
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
    const born = Number((details(real)['clamp'] ?? '').trim());
    expect(born).toBeGreaterThan(0);
    // The first process is one of 32 itself.
    expect(born).toBeLessThan(32);
  });

  test('a memory bomb of many processes', async () => {
    const program = `
import os, time
alive = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        x = bytearray(100 << 20)
        for i in range(0, len(x), 4096):
            x[i] = 1
        time.sleep(20)
        os._exit(0)
    alive.append(pid)
deadline = time.monotonic() + 15
while time.monotonic() < deadline:
    resident = sum(int(open(f"/proc/{pid}/statm").read().split()[1]) for pid in alive) * 4096
    if resident > 380 << 20:
        break
    time.sleep(0.05)
time.sleep(1)
print("WON" if resident > 380 << 20 else resident)
for pid in alive:
    os.kill(pid, 9)
`;
    const verifierFiles = won('', `details["middle"] = str(done.returncode)`);
    const { ranks, said, real } = await attack(program, { ...free, verifierFiles });
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
    expect(details(real)).toEqual({ clamp: '', middle: '137' });
  });

  test('a process that outlives its parent', async () => {
    const marker = `pawl-test-background-${process.pid}`;
    const program = `
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        os.execv("/usr/bin/python3", ["python3", "-c", "import time; time.sleep(30)", sys.argv[1]])
    os._exit(0)
time.sleep(0.3)
`;
    const look = `
for name in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        text = open(name, "rb").read()
    except OSError:
        continue
    if b"time.sleep(30)" in text and sys.argv[1].encode() in text:
        win = True
`;
    const { ranks, said } = await attack(program, {
      ...free,
      verifierFiles: won('', look),
      command: ['python3', 'verifier/check.py', marker],
    });
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
    expect(processesWith(marker)).toEqual([]);
  });

  test('stopping everything that it can see, past the wall limit', async () => {
    const program = `import os, signal\ntry:\n    os.kill(-1, signal.SIGSTOP)\nexcept OSError:\n    pass\nos.kill(0, signal.SIGSTOP)\n`;
    const begun = performance.now();
    const verifierFiles = won('', '');
    for (const isolation of ['separate', 'shared'] as const) {
      const held = await verify(
        { 'attack.py': program },
        { isolation, verifierFiles, runMs: 1_500, command: ['python3', 'verifier/check.py', 'pawl-test-all'] },
      );
      expect(rankOf(held)).toEqual([3, 3]);
      expect(processesWith('pawl-test-all')).toEqual([]);
    }
    expect(performance.now() - begun).toBeGreaterThan(2_500);
  });

  const corePattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim();
  const corePlain = /^core[^/|]*$/.test(corePattern);
  if (!corePlain) process.stderr.write(`SKIPPED an attack: a crash leaves its core elsewhere (kernel.core_pattern is ${corePattern})\n`);
  test.skipIf(!corePlain)('the core of a crash', async () => {
    const program = `import os\nif os.fork() == 0:\n    os.abort()\nos.wait()\nprint("WON" if any(name.startswith("core") for name in os.listdir(".")) else "")\n`;
    const backend = createBackend();
    const weak: Pick<SandboxBackend, 'command'> = {
      command: async (spec) => {
        const { files, run, runReporting } = await backend.command(spec);
        return { files, run: run.replace(` '--core=0'`, ''), runReporting };
      },
    };
    const unlimited = ['/bin/sh', '-c', 'ulimit -c unlimited && exec "$@"', 'sh'];
    expect((await runIn(weak, [python, '-c', program], {}, unlimited)).stdout).toBe('WON\n');
    expect((await runIn(backend, [python, '-c', program], {}, unlimited)).stdout).toBe('\n');
  });

  test('descriptors that the verifier left open', async () => {
    const verifierFiles = won(
      `
secret_file = os.open("verifier/cases.json", os.O_RDONLY)
for number in (5, 9, 10, 57):
    os.dup2(secret_file, number, inheritable=True)
`,
      `
done = subprocess.run([*run, "python3", "-B", "attack.py"], cwd=os.environ["PAWL_CANDIDATE"], stdin=subprocess.DEVNULL, capture_output=True, close_fds=False)
win = b"WON" in done.stdout
details["clamp"] = done.stdout.decode()
details["middle"] = done.stderr.decode()
`,
    );
    const program = `
import os
for number in range(3, 256):
    try:
        if b"clamp" in os.pread(number, 100, 0):
            print("WON", number)
    except OSError:
        pass
`;
    const { ranks, said } = await attack(program, { ...free, verifierFiles });
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
  });

  test('hostile names of files', async () => {
    const names = [
      '$(echo WON).py',
      'a; echo WON.py',
      '`echo WON`.py',
      "quote'.py",
      'a b.py',
      '--help',
      '-rf',
      '한글.py',
      `${'n'.repeat(200)}.py`,
    ];
    const files = Object.fromEntries(names.map((name) => [name, 'content\n']));
    const verifierFiles = won(
      '',
      `
read = 0
for name in os.listdir(os.environ["PAWL_CANDIDATE"]):
    if run:
        shown = subprocess.run([*run, "cat", "--", name], capture_output=True)
        read += shown.stdout == b"content\\n"
    else:
        shown = subprocess.run("cat -- " + name, shell=True, cwd=os.environ["PAWL_CANDIDATE"], capture_output=True)
    win = win or b"WON" in shown.stdout + shown.stderr
details["middle"] = str(read)
`,
    );
    const { ranks, said, real } = await attack('', { ...free, verifierFiles }, files);
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
    expect(details(real)['middle']).toBe(String(names.length));
  });
});
