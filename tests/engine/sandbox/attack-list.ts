// What a candidate may try, as data: each once against something weakened, where it succeeds, and then against every backend that is there.
// A success is rank [0, 0] without a repair, or "WON" from a program that reached what it must not reach.
import { readFileSync } from 'node:fs';
import type { SandboxGuarantees } from '#electron/verifiers/sandbox/api.ts';
import { type Given, seedCode } from './support.ts';
import { exitCode, inProcess, unittestExitCode, verifier, won } from './weak.ts';

export type Attack = {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** The verification that it fools. */
  readonly weak: Given;
  /** The verification that it must not fool, beside the isolation, which is `separate`. */
  readonly real: Given;
  /** Ranks of the seed with the attack under `real`. */
  readonly defeat: readonly number[];
  /** What defeats it; a backend without it need not. Null for what no backend has a part in. */
  readonly needs: keyof SandboxGuarantees | null;
  /** Has to be quicker than somebody else, so that it may try again against what is weak. */
  readonly races?: true;
  /** Why it cannot succeed on this machine against anything; null where it can. */
  readonly impossible?: () => string | null;
};

const unsandboxed: Given = { unsandboxed: true };

// ---- On the verdict: the verifier is the task's own, and asks the candidate through PAWL_RUN.

const verdict = (
  name: string,
  files: Readonly<Record<string, string>>,
  weak: Given,
  defeat: readonly number[],
  more: Partial<Attack> = {},
): Attack => ({ name, files, weak, real: {}, defeat, needs: null, ...more });

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

/** Seed ranks [1, 3]: an attack that leaves the seed's functions as they are comes to that. */
export const verdictAttacks: readonly Attack[] = [
  verdict(
    'exit 0 from inside the tests',
    { 'numbers_.py': `import os\nos._exit(0)\n` },
    { isolation: 'shared', verifierFiles: exitCode },
    [3, 3],
  ),
  verdict(
    'a planted conftest.py',
    { 'conftest.py': `def outcome(passed):\n    return True\n` },
    { isolation: 'shared', verifierFiles: exitCode },
    [1, 3],
  ),
  verdict(
    'a planted sitecustomize.py',
    { 'sitecustomize.py': `import os\nos._exit(0)\n` },
    { isolation: 'shared', verifierFiles: exitCode },
    [1, 3],
  ),
  verdict(
    'a planted sitecustomize.py under unittest',
    { 'sitecustomize.py': `import os\nos._exit(0)\n` },
    { isolation: 'shared', verifierFiles: unittestExitCode },
    [1, 3],
  ),
  verdict(
    'exit 0 from inside a unittest',
    { 'numbers_.py': `import os\nos._exit(0)\n` },
    { isolation: 'shared', verifierFiles: unittestExitCode },
    [3, 3],
  ),
  verdict(
    'skipped tests under unittest',
    { 'numbers_.py': `import unittest\nraise unittest.SkipTest("not today")\n` },
    { isolation: 'shared', verifierFiles: unittestExitCode },
    [3, 3],
  ),
  verdict(
    'a result of unittest that takes every failure for a success',
    {
      'numbers_.py': `import unittest\nunittest.TestResult.addFailure = unittest.TextTestResult.addFailure = lambda self, *a: self.addSuccess(a[0])\n${seedCode}`,
    },
    { isolation: 'shared', verifierFiles: unittestExitCode },
    [1, 3],
  ),
  verdict(
    'a unittest.py in place of the standard one',
    {
      'unittest/__init__.py': 'class TestCase:\n    pass\n',
      'unittest/__main__.py': 'import sys\nsys.exit(0)\n',
    },
    { isolation: 'shared', verifierFiles: unittestExitCode },
    [1, 3],
  ),
  verdict(
    'a shadowed standard module',
    { 'json.py': `def load(file):\n    return {}\ndef loads(text):\n    return {}\ndef dumps(value):\n    return ""\n` },
    { isolation: 'shared', verifierFiles: exitCode },
    [1, 3],
  ),
  verdict(
    'overwritten tests, restored at the end',
    { 'numbers_.py': overwriteTests + seedCode },
    { unsandboxed: true, verifierFiles: inProcess },
    [3, 3],
    { needs: 'filesystem' },
  ),
  verdict(
    'deleted tests, restored at the end',
    { 'numbers_.py': deleteTests + seedCode },
    { unsandboxed: true, verifierFiles: inProcess },
    [3, 3],
    { needs: 'filesystem' },
  ),
  verdict(
    'a report forged from its own environment',
    { 'numbers_.py': forgeFromOwn },
    { isolation: 'shared', verifierFiles: inProcess },
    [3, 3],
    { needs: 'filesystem' },
  ),
  verdict("a report forged from its parent's environment", { 'numbers_.py': forgeFromParent + seedCode }, { isolation: 'shared' }, [3, 3], {
    races: true,
    needs: 'filesystem',
  }),
  verdict(
    'a monkey-patched assertion',
    { 'numbers_.py': `import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n${seedCode}` },
    { isolation: 'shared', verifierFiles: inProcess },
    [1, 3],
  ),
  verdict(
    'an __eq__ that always holds',
    {
      'numbers_.py': `class Yes(int):\n    def __eq__(self, other):\n        return True\n    def __ne__(self, other):\n        return False\n    __hash__ = int.__hash__\ndef clamp(*a):\n    return Yes()\ndef middle(*a):\n    return Yes()\n`,
    },
    { isolation: 'shared', verifierFiles: inProcess },
    [3, 3],
  ),
  verdict(
    'the expectations read from the verifier',
    {
      'numbers_.py': `import json\nwith open("/task/verifier/cases.json") as file:\n    cases = json.load(file)\ndef answer(name, args):\n    return next(value for known, value in cases[name] if known == list(args))\ndef clamp(*a):\n    return answer("clamp", a)\ndef middle(*a):\n    return answer("middle", a)\n`,
    },
    { isolation: 'shared' },
    [3, 3],
    { needs: 'filesystem' },
  ),
];

// ---- On what is around: attack.py is run once and says what it has reached; rank [3, 0] is that of one that has reached nothing.

type Around = {
  readonly weak?: Given;
  readonly verifierFiles?: Given['verifierFiles'];
  readonly files?: Readonly<Record<string, string>>;
  readonly impossible?: () => string | null;
};

/** Content of a file below /proc/sys, trimmed; null where there is none. */
const sysctl = (name: string): string | null => {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return null;
  }
};

const around = (
  name: string,
  needs: Attack['needs'],
  program: string,
  { weak = unsandboxed, verifierFiles = won(), files = {}, impossible = () => null }: Around = {},
): Attack => ({
  name,
  files: { ...files, 'attack.py': program },
  weak: { verifierFiles, ...weak },
  real: { verifierFiles },
  defeat: [3, 0],
  needs,
  impossible,
});

/** Patches the verifier's memory: `maps` of the parent say where, `write` how. */
const patchParent = (read: string, write: string): string => `
import ctypes, os, re
parent = os.getppid()
libc = ctypes.CDLL(None, use_errno=True)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
def transfer(call, address, buffer):
    local, remote = Vector(ctypes.addressof(buffer), len(buffer)), Vector(address, len(buffer))
    return call(parent, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
with open(f"/proc/{parent}/maps") as maps:
    for line in maps:
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
        if not found or "[v" in line:
            continue
        begin, end = (int(part, 16) for part in found.groups())
        try:
            ${read}
        except OSError:
            continue
        for hit in re.finditer(b"EXPECTED:3", data):
            ${write}
`;

const secretPatched = won('', `win = secret == "EXPECTED:2"`);

export const aroundAttacks: readonly Attack[] = [
  around(
    'the environment of every process it can see',
    'filesystem',
    `
import glob, os
for name in glob.glob("/proc/[0-9]*/environ"):
    try:
        if b"PAWL_NONCE" in open(name, "rb").read():
            print("WON", name)
    except OSError:
        pass
`,
    { weak: { isolation: 'shared' } },
  ),
  around(
    'the result channel, found beside the folder that is mounted',
    'filesystem',
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
  ),
  around(
    'writing into the tree and the system',
    'filesystem',
    `
import os
for name in ("new.py", "numbers_.py", "/usr/x", "/usr/local/x", "/proc/sys/kernel/hostname"):
    try:
        open(name, "a").close()
        print("WON", name)
    except OSError:
        pass
`,
  ),
  around(
    'writing beside the scratch space: the root, the devices',
    // Not all sandboxes keep them from being written; what is written is gone at once.
    'scratch',
    `
import os
for name in ("new.py", "/usr/x", "/x", "/etc/x", "/dev/x", "/proc/sys/kernel/hostname", "/home/x"):
    try:
        open(name, "w").close()
        print("WON", name)
    except OSError:
        pass
`,
  ),
  around(
    "another process's memory and limits, through files of /proc",
    'processes',
    `
import os
child = os.fork()
if child == 0:
    import time
    time.sleep(20)
    os._exit(0)
for name, text in (("oom_score_adj", "0"), ("comm", "other"), ("coredump_filter", "0xff")):
    try:
        with open(f"/proc/{child}/{name}", "w") as file:
            file.write(text)
        print("WON", name)
    except OSError:
        pass
os.kill(child, 9)
`,
  ),
  around('a memory bomb', 'memory', `x = bytearray(300 << 20)\nprint("WON", len(x))\n`),
  around(
    'a memory bomb that no process holds: segments of System V',
    'systemCalls',
    `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.shmdt.argtypes = [ctypes.c_void_p]
keys = []
for _ in range(10):
    key = libc.shmget(0, 20 << 20, 0o1600)
    if key < 0:
        break
    address = libc.shmat(key, None, 0)
    ctypes.memset(address, 1, 20 << 20)
    libc.shmdt(address)
    keys.append(key)
print("WON" if len(keys) == 10 else "", len(keys))
for key in keys:
    libc.shmctl(key, 0, None)
`,
  ),
  around(
    'a message to the next verification',
    'scratch',
    // The second run finds what the first has left.
    `
import os, sys
places = ["/dev/shm/pawl-test-left", "/tmp/pawl-test-left", "/var/tmp/pawl-test-left", os.path.expanduser("~/pawl-test-left")]
found = [place for place in places if os.path.exists(place)]
for place in found:
    os.unlink(place)
if found:
    print("WON", *found)
else:
    for place in places:
        try:
            open(place, "w").close()
        except OSError:
            pass
`,
    {
      verifierFiles: won(
        '',
        `
done = subprocess.run([*run, "python3", "-B", "attack.py"], cwd=os.environ["PAWL_CANDIDATE"], stdin=subprocess.DEVNULL, capture_output=True)
win = b"WON" in done.stdout
details["clamp"] = done.stdout.decode()
`,
      ),
    },
  ),
  around(
    'a terminal that its verifier reads from',
    'systemCalls',
    `
import fcntl, os, termios
if os.fork() == 0:
    os.setsid()
    try:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        for letter in b"WON\\n":
            fcntl.ioctl(0, termios.TIOCSTI, bytes([letter]))
    except OSError as error:
        print(error)
    os._exit(0)
os.wait()
`,
    {
      verifierFiles: won(
        'import pty, select\nmaster, terminal = pty.openpty()',
        `
done = subprocess.run([*run, "python3", "-B", "attack.py"], cwd=os.environ["PAWL_CANDIDATE"], stdin=terminal, capture_output=True)
win = bool(select.select([terminal], [], [], 0)[0]) and b"WON" in os.read(terminal, 100)
details["clamp"] = done.stdout.decode()
`,
      ),
      impossible: () =>
        sysctl('dev/tty/legacy_tiocsti') === '0' ? 'the system refuses TIOCSTI to everybody (dev.tty.legacy_tiocsti = 0)' : null,
    },
  ),
  around(
    'stopping itself, so that a polite end does not reach it',
    'processes',
    `
import os, signal
os.kill(0, signal.SIGSTOP)
`,
    {
      // Asks it to end as one does that does not know of stopped processes.
      verifierFiles: verifier({
        'check.py': `
import glob, json, os, subprocess, sys, time
run = [os.environ["PAWL_RUN"], "--"] if "PAWL_RUN" in os.environ else []
child = subprocess.Popen([*run, "python3", "-B", "attack.py", "pawl-test-stopped"], cwd=os.environ["PAWL_CANDIDATE"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
def states():
    found = []
    for name in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if open(name, "rb").read().startswith(b"python3\\0-B\\0attack.py\\0pawl-test-stopped"):
                found.append(open(name.replace("cmdline", "stat")).read().split()[2])
        except OSError:
            pass
    return found
def alive():
    return [state for state in states() if state not in "ZX"]
def wait_until(done, seconds):
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.01)
    return done()
assert wait_until(lambda: "T" in states(), 10)
child.terminate()
wait_until(lambda: not alive(), 2)
win = bool(alive())
echo = {key: os.environ["PAWL_" + key.upper()] for key in ("nonce", "tree", "contract")}
json.dump({**echo, "values": {"clamp": 0 if win else 3, "middle": 0}, "details": {"clamp": " ".join(alive())}}, open(os.environ["PAWL_REPORT"], "w"))
`,
      }),
    },
  ),
];

const withYama = (): string | null =>
  (sysctl('kernel/yama/ptrace_scope') ?? '0') === '0' ? null : 'with Yama no process may look into its parent (kernel.yama.ptrace_scope)';

export const parentAttacks: readonly Attack[] = [
  around(
    'the memory of its parent, as a file',
    'filesystem',
    patchParent(
      'memory = open(f"/proc/{parent}/mem", "r+b", 0); memory.seek(begin); data = memory.read(end - begin)',
      'memory.seek(begin + hit.start()); memory.write(b"EXPECTED:2")',
    ),
    { verifierFiles: secretPatched, impossible: withYama },
  ),
  around(
    'the memory of its parent, by system calls',
    'filesystem',
    patchParent(
      'buffer = ctypes.create_string_buffer(end - begin); data = buffer.raw if transfer(libc.process_vm_readv, begin, buffer) > 0 else b""',
      'transfer(libc.process_vm_writev, begin + hit.start(), (ctypes.c_char * 10)(*b"EXPECTED:2"))',
    ),
    { verifierFiles: secretPatched, impossible: withYama },
  ),
  around(
    'tracing its parent',
    'systemCalls',
    `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
PTRACE_SEIZE = 0x4206
if os.getppid() > 0 and libc.ptrace(PTRACE_SEIZE, os.getppid(), None, None) == 0:
    print("WON")
`,
    { impossible: withYama },
  ),
];
