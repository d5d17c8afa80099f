// Every attack twice: against a sandbox or a verifier that was weakened on purpose, where it succeeds, and against `separate`, where it
// must not. A success is rank [0, 0] without a repair, or "WON" from a program that reached what it must not reach.
import { createServer } from 'node:net';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Verification } from '#electron/verifiers/api.ts';
import { never, startVerifiers } from '../verifiers/support.ts';
import { type Given, goodCode, missingHere, processesWith, repairRequest, seedCode } from './support.ts';
import { exitCode, inProcess, won } from './weak.ts';

const missing = await missingHere();
if (missing !== null) process.stderr.write(`SKIPPED attacks on the sandbox: ${missing}\n`);

let it: Awaited<ReturnType<typeof startVerifiers>>;
let secretFolder: string;
let secretFile: string;
beforeAll(async () => {
  it = await startVerifiers();
  secretFolder = mkdtempSync(path.join(os.tmpdir(), 'pawl-secret-'));
  chmodSync(secretFolder, 0o755);
  secretFile = path.join(secretFolder, 'solution.txt');
  writeFileSync(secretFile, 'the reference solution', { mode: 0o644 });
});
afterAll(async () => {
  await it.stop();
  rmSync(secretFolder, { recursive: true });
});
afterEach(() => {
  const left = it.leftovers();
  if (left.length > 0) throw new Error(`the test left ${left.join(', ')}`);
});

const verify = (files: Readonly<Record<string, string>>, given: Given): Promise<Verification> =>
  it.service.verify(repairRequest(files, given), never);
const rankOf = ({ verdict }: Verification) =>
  verdict.kind === 'ranked' ? verdict.rank : `${verdict.kind}: ${'message' in verdict ? verdict.message : ''}`;
const yama = '/proc/sys/kernel/yama/ptrace_scope';
const details = ({ verdict }: Verification) => (verdict.kind === 'ranked' ? verdict.details : {});

/** An attack that has to be quicker than somebody else may try again: once is enough. */
const fool = async (files: Readonly<Record<string, string>>, weak: Given) => {
  for (let tries = 1; ; tries++) {
    const rank = rankOf(await verify(files, weak));
    if (tries === 5 || (Array.isArray(rank) && rank.every((value) => value === 0))) return rank;
  }
};

describe.skipIf(missing !== null)('attacks on the verdict', () => {
  // At import: forge the report out of the parent's environment as soon as the parent has written its own.
  const forgeFromParent = `
import json, os, signal, time
parent = os.getppid()
with open(f"/proc/{parent}/environ") as file:
    env = dict(item.split("=", 1) for item in file.read().split("\\0") if "=" in item)
forged = {key: env["PAWL_" + key.upper()] for key in ("nonce", "tree", "contract")}
forged["values"] = {"clamp": 0, "middle": 0}
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 64)
    if os.path.exists("/tmp/one"):
        os._exit(0)
    open("/tmp/one", "w").close()
    end = time.monotonic() + 20
    while os.stat(env["PAWL_REPORT"]).st_size == 0 and time.monotonic() < end:
        pass
    os.kill(parent, signal.SIGSTOP)
    with open(env["PAWL_REPORT"], "w") as file:
        json.dump(forged, file)
    os.kill(parent, signal.SIGCONT)
    os._exit(0)
`;
  const forgeFromOwn = `
import json, os
forged = {key: os.environ["PAWL_" + key.upper()] for key in ("nonce", "tree", "contract")}
forged["values"] = {"clamp": 0, "middle": 0}
with open(os.environ["PAWL_REPORT"], "w") as file:
    json.dump(forged, file)
os._exit(0)
`;
  const overwriteTests = `
import atexit, json, os
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "verifier", "cases.json")
with open(here) as file:
    original = file.read()
with open(here, "w") as file:
    json.dump({name: [[[1, 1, 1], 1]] for name in ("clamp", "middle")}, file)
atexit.register(lambda: open(here, "w").write(original))
`;
  const deleteTests = overwriteTests.replace(
    'json.dump({name: [[[1, 1, 1], 1]] for name in ("clamp", "middle")}, file)',
    'file.write(\'{"clamp": [], "middle": []}\')',
  );

  test.each<[string, Readonly<Record<string, string>>, Given, readonly number[]]>([
    [
      'exit 0 from inside the tests',
      { 'numbers_.py': `import os\nos._exit(0)\n` },
      { isolation: 'shared', verifierFiles: exitCode },
      [3, 3],
    ],
    [
      'a planted conftest.py',
      { 'conftest.py': `def outcome(passed):\n    return True\n` },
      { isolation: 'shared', verifierFiles: exitCode },
      [1, 3],
    ],
    [
      'a planted sitecustomize.py',
      { 'sitecustomize.py': `import os\nos._exit(0)\n` },
      { isolation: 'shared', verifierFiles: exitCode },
      [1, 3],
    ],
    [
      'a shadowed standard module',
      { 'json.py': `def load(file):\n    return {}\ndef loads(text):\n    return {}\ndef dumps(value):\n    return ""\n` },
      { isolation: 'shared', verifierFiles: exitCode },
      [1, 3],
    ],
    [
      'overwritten tests, restored at the end',
      { 'numbers_.py': overwriteTests + seedCode },
      { unsandboxed: true, verifierFiles: inProcess },
      [3, 3],
    ],
    [
      'deleted tests, restored at the end',
      { 'numbers_.py': deleteTests + seedCode },
      { unsandboxed: true, verifierFiles: inProcess },
      [3, 3],
    ],
    [
      'a report forged from its own environment',
      { 'numbers_.py': forgeFromOwn },
      { isolation: 'shared', verifierFiles: inProcess },
      [3, 3],
    ],
    ["a report forged from its parent's environment", { 'numbers_.py': forgeFromParent + seedCode }, { isolation: 'shared' }, [3, 3]],
    [
      'a monkey-patched assertion',
      { 'numbers_.py': `import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n${seedCode}` },
      { isolation: 'shared', verifierFiles: inProcess },
      [1, 3],
    ],
    [
      'an __eq__ that always holds',
      {
        'numbers_.py': `class Yes(int):\n    def __eq__(self, other):\n        return True\n    def __ne__(self, other):\n        return False\n    __hash__ = int.__hash__\ndef clamp(*a):\n    return Yes()\ndef middle(*a):\n    return Yes()\n`,
      },
      { isolation: 'shared', verifierFiles: inProcess },
      [2 + 1, 2 + 1],
    ],
    [
      'the expectations read from the verifier',
      {
        'numbers_.py': `import json\nwith open("/task/verifier/cases.json") as file:\n    cases = json.load(file)\ndef answer(name, args):\n    return next(value for known, value in cases[name] if known == list(args))\ndef clamp(*a):\n    return answer("clamp", a)\ndef middle(*a):\n    return answer("middle", a)\n`,
      },
      { isolation: 'shared' },
      [3, 3],
    ],
  ])('%s', async (_, files, weak, expected) => {
    expect(await fool(files, weak), 'against the weakened verifier').toEqual([0, 0]);
    expect(rankOf(await verify(files, {})), 'against the real one').toEqual(expected);
  });

  test('neither does a repair need any of it', async () => {
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

  // With Yama a process may not look into its parent: then there is nothing to weaken.
  test.skipIf(existsSync(yama) && readFileSync(yama, 'utf8').trim() !== '0')('the memory of its parent', async () => {
    const { ranks, said } = await attack(
      `
import os, re
parent = os.getppid()
with open(f"/proc/{parent}/maps") as maps, open(f"/proc/{parent}/mem", "r+b", 0) as memory:
    for line in maps:
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
        if not found or "[v" in line:
            continue
        begin, end = (int(part, 16) for part in found.groups())
        memory.seek(begin)
        try:
            data = memory.read(end - begin)
        except OSError:
            continue
        for hit in re.finditer(b"EXPECTED:3", data):
            memory.seek(begin + hit.start())
            memory.write(b"EXPECTED:2")
`,
      { ...free, verifierFiles: won('', `win = secret == "EXPECTED:2"`) },
    );
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
  });

  test('the environment of every process it can see', async () => {
    const { ranks, said, real } = await attack(
      `
import glob, os
for name in glob.glob("/proc/[0-9]*/environ"):
    try:
        if b"PAWL_" in open(name, "rb").read():
            print("WON", name)
    except OSError:
        pass
`,
      { isolation: 'shared' },
    );
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
    expect(details(real)).toEqual({ clamp: '', middle: '' });
  });

  test('a file of ours: the reference solution, a git history', async () => {
    const { ranks, said } = await attack(`import sys\nprint("WON" if "reference" in open(sys.argv[1]).read() else "")\n`, {
      ...free,
      command: ['python3', 'verifier/check.py', secretFile],
    });
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
  });

  test('a symbolic link out of the tree', async () => {
    const { ranks, said } = await attack(
      `
import os, sys
link = "/tmp/link-%d" % os.getpid()
os.symlink(sys.argv[1], link)
try:
    print("WON" if "reference" in open(link).read() else "")
finally:
    os.unlink(link)
`,
      { ...free, command: ['python3', 'verifier/check.py', secretFile] },
    );
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
  });

  test('the result channel, found beside the folder that is mounted', async () => {
    const { ranks, said } = await attack(
      `
import glob, os
places = [os.getcwd()]
with open("/proc/self/mountinfo") as file:
    places += [field for line in file for field in line.split()[3:5] if "artifact" in field]
for place in places:
    for name in glob.glob(os.path.join(place, "..", "..", "report", "*")) + glob.glob("/report*"):
        with open(name, "a") as report:
            print("WON", name)
`,
      free,
    );
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
  });

  test('writing into the tree, the system, the devices', async () => {
    const { ranks, said } = await attack(
      `
import os
for name in ("new.py", "/usr/x", "/x", "/etc/x", "/dev/x", "/proc/sys/kernel/hostname", "/home/x"):
    try:
        open(name, "w").close()
        print("WON", name)
    except OSError:
        pass
`,
      free,
    );
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
  });

  test('a server of ours on the loopback interface', async () => {
    let reached = 0;
    const server = createServer((socket) => {
      reached++;
      socket.end('hello');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const program = `import socket, sys\ns = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 3)\nprint("WON" if s.recv(5) == b"hello" else "")\n`;
    const command = ['python3', 'verifier/check.py', String(port)];
    try {
      const { ranks, said } = await attack(program, { ...free, command });
      expect(ranks, `the verifier said ${said}`).toEqual(defeat);
      expect(reached).toBe(1);
      // Both kinds of sandbox have no network.
      expect(rankOf(await verify({ 'attack.py': program }, { isolation: 'shared', verifierFiles: won(), command }))).toEqual([3, 0]);
      expect(reached).toBe(1);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

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

  test('a memory bomb', async () => {
    const { ranks, said, real } = await attack(`x = bytearray(300 << 20)\nprint("WON", len(x))\n`, free);
    expect(ranks, `the verifier said ${said}`).toEqual(defeat);
    expect(details(real)['middle']).toMatch(/MemoryError/);
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
