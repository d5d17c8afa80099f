// The filter of system calls as the kernel applies it: what it refuses works in the same sandbox without it, and what programs need works.
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createBubblewrap } from '#electron/verifiers/sandbox/bubblewrap.ts';
import { conditionalCalls, deniedCalls, systemCallFilter } from '#electron/verifiers/sandbox/system-calls.ts';
import { missingHere, python, runIn } from './support.ts';

const missing = (await missingHere()) ?? (systemCallFilter(process.arch) === null ? `there is no filter for ${process.arch}` : null);
if (missing !== null) process.stderr.write(`SKIPPED tests of the filter of system calls: ${missing}\n`);

const column = process.arch === 'arm64' ? 1 : 0;
const numbers = Object.fromEntries(
  [...deniedCalls.map(({ calls }) => calls), conditionalCalls].flatMap((calls) =>
    Object.entries(calls).map(([name, { [column]: nr }]) => [name, nr] as const),
  ),
);

/** Runs `program`, which has `call(name, ...)`: the result, or the negative error number. */
const runPython = async (filtered: boolean, program: string, around: readonly string[] = []) => {
  const backend = filtered ? createBubblewrap() : createBubblewrap(undefined, null);
  const prelude = `
import ctypes, json, os, sys
numbers = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(name, *args):
    result = libc.syscall(ctypes.c_long(numbers[name] if isinstance(name, str) else name), *[ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args])
    return -ctypes.get_errno() if result == -1 else result
`;
  return await runIn(backend, [python, '-c', prelude + program, JSON.stringify(numbers)], {}, around);
};
const eperm = -1;

describe.skipIf(missing !== null)('a system call that no candidate needs', () => {
  test('each of the list gives EPERM', async () => {
    const names = deniedCalls
      .flatMap(({ calls }) => Object.entries(calls))
      .flatMap(([name, { [column]: nr }]) => (nr === null ? [] : [name]));
    const { stdout, stderr } = await runPython(
      true,
      `print(json.dumps({name: call(name, 0, 0, 0, 0, 0, 0) for name in ${JSON.stringify(names)}}))`,
    );
    expect(JSON.parse(stdout || `"${stderr}"`)).toEqual(Object.fromEntries(names.map((name) => [name, eperm])));
  });

  // Each succeeds without the filter where the kernel has it; `absent` are the answers of one that has not, or of a system that forbids it.
  test.each<[string, string, readonly number[]]>([
    ['being traced', `call("ptrace", 0, 0, 0, 0)`, []],
    [
      "reading another process's memory",
      `
secret = ctypes.create_string_buffer(b"secret")
child = os.fork()
if child == 0:
    import time
    time.sleep(10)
    os._exit(0)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
mine = ctypes.create_string_buffer(6)
local, remote = Vector(ctypes.addressof(mine), 6), Vector(ctypes.addressof(secret), 6)
result = call("process_vm_readv", child, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
os.kill(child, 9)
result`,
      [],
    ],
    ['a key for later', `call("add_key", b"user", b"pawl-test", b"left", 4, -3)`, [-38]],
    ["looking for somebody's key", `call("keyctl", 0, -3, 1)`, [-38]],
    ['a ring of the kernel', `call("io_uring_setup", 8, ctypes.create_string_buffer(120))`, [-38]],
    ['faults of its own', `call("userfaultfd", 1)`, [-38]],
    ['comparing two processes', `call("kcmp", os.getpid(), os.getpid(), 0, 0, 0)`, [-38]],
    [
      'counting events',
      `call("perf_event_open", (ctypes.c_uint32 * 32)(1, 112, 0, 0, 0, 0, 0, 0, 0, 0, 0x60), 0, -1, -1, 0)`,
      [-38, -2, -13],
    ],
    ['memory that survives its process', `call("shmget", 0, 4096, 0o1600)`, [-38]],
    ['messages in the kernel', `call("msgget", 0, 0o1600)`, [-38]],
    ['semaphores in the kernel', `call("semget", 0, 1, 0o1600)`, [-38]],
    ['addresses that are not random', `call("personality", 0x40000)`, []],
    ['the host of a virtual machine', `call("socket", 40, 1, 0)`, [-97]],
    ['the ciphers of the kernel', `call("socket", 38, 5, 0)`, [-97]],
    [
      'typing into a terminal',
      `
import fcntl, pty, termios
os.setsid() if os.getsid(0) != os.getpid() else None
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
call("ioctl", slave, 0x5412, ctypes.c_char_p(b"x"))`,
      // Since Linux 6.2 a system may refuse it to everybody (dev.tty.legacy_tiocsti).
      [-5],
    ],
  ])('%s', async (_, program, absent) => {
    const lines = program.trim().split('\n');
    const whole = `${lines.slice(0, -1).join('\n')}\nprint(${lines.at(-1) ?? ''})\n`;
    const [weak, real] = [await runPython(false, whole), await runPython(true, whole)];
    const without = Number(weak.stdout.trim() || Number.NaN);
    expect(absent.includes(without) || without >= 0, `without the filter: ${weak.stdout} ${weak.stderr}`).toBe(true);
    if (without < 0) process.stderr.write(`NOT SHOWN: "${_}" fails here without the filter as well (${without})\n`);
    expect([real.stdout.trim(), real.status], `with the filter: ${real.stderr}`).toEqual([String(eperm), 0]);
  });

  test('a key that is left for the next sandbox of the same session', async () => {
    const leave = `print(call("add_key", b"user", b"pawl-test", b"left", 4, -3) > 0 if call("keyctl", 10, -3, b"user", b"pawl-test", 0) < 0 else "FOUND")\n`;
    // Joins a keyring as a login does, and starts it twice.
    const twice = `import ctypes, subprocess, sys\nctypes.CDLL(None).syscall(${numbers['keyctl']}, 1, None)\nfor _ in range(2): subprocess.run(sys.argv[1:])\n`;
    const [weak, real] = [await runPython(false, leave, [python, '-c', twice]), await runPython(true, leave, [python, '-c', twice])];
    expect(weak.stdout).toBe('True\nFOUND\n');
    expect(real.stdout).toBe('False\nFalse\n');
  });

  test('a process whose flags cannot be read is made in the older way', async () => {
    expect((await runPython(true, 'print(call("clone3", 0, 0))')).stdout.trim()).toBe('-38');
    expect((await runPython(true, 'print(call("unshare", 0x10000000), call("clone", 0x10000011, 0, 0, 0, 0))')).stdout.trim()).toBe(
      '-1 -1',
    );
  });

  test.skipIf(process.arch !== 'x64')('a call by the numbers of another processor ends the process', async () => {
    // mov eax, 20 (getpid of i386); int 0x80; ret
    const other = `
import mmap
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
child = os.fork()
if child == 0:
    os._exit(0 if function() == os.getpid() else 1)
print(os.waitpid(child, 0)[1])
`;
    const x32 = `
child = os.fork()
if child == 0:
    call(0x40000000 + 39)
    os._exit(0)
print(os.waitpid(child, 0)[1])
`;
    // SIGSYS, with or without the mark of a core.
    for (const program of [other, x32]) {
      expect(Number((await runPython(true, program)).stdout) & 0x7f).toBe(31);
      expect(Number((await runPython(false, program)).stdout) & 0x7f).not.toBe(31);
    }
  });
});

describe.skipIf(missing !== null)('what programs do', () => {
  test('Python: threads, processes, pools, sockets, files', async () => {
    const program = `
import asyncio, concurrent.futures, mmap, multiprocessing, socket, subprocess, tempfile, threading
def square(n): return n * n
if __name__ == "__main__":
    with concurrent.futures.ThreadPoolExecutor(4) as pool: assert list(pool.map(square, range(4))) == [0, 1, 4, 9]
    with multiprocessing.Pool(2) as pool: assert pool.map(square, range(4)) == [0, 1, 4, 9]
    shared = multiprocessing.Value("i", 5)
    with shared.get_lock(): shared.value += 1
    assert subprocess.run(["sh", "-c", "echo $((6 * 7)) | tr 4 5"], capture_output=True).stdout == b"52\\n"
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    client.sendall(b"x")
    assert server.accept()[0].recv(1) == b"x"
    a, b = socket.socketpair()
    a.sendall(b"y")
    assert b.recv(1) == b"y"
    assert socket.if_nameindex()
    async def main():
        process = await asyncio.create_subprocess_exec("true")
        return await process.wait()
    assert asyncio.run(main()) == 0
    with tempfile.NamedTemporaryFile() as file: file.write(b"z")
    mmap.mmap(-1, 4096).write(b"m")
    print("all of it")
`;
    const { stdout, stderr } = await runPython(true, program);
    expect([stdout, stderr]).toEqual(['all of it\n', '']);
  });

  const node = ['/usr/bin/node', '/usr/local/bin/node'].find(existsSync);
  if (node === undefined) process.stderr.write('SKIPPED Node inside the sandbox: there is none in /usr\n');
  test.skipIf(missing !== null || node === undefined)('Node: files, processes, threads', async () => {
    const program = `
const fs = require('node:fs'), { execFileSync } = require('node:child_process'), { Worker } = require('node:worker_threads');
fs.writeFileSync('/tmp/x', 'x');
fs.promises.readFile('/tmp/x', 'utf8').then((text) => {
  if (text !== 'x' || execFileSync('echo', ['y']).toString() !== 'y\\n') process.exit(1);
  new Worker('require("node:worker_threads").parentPort.postMessage("z")', { eval: true }).once('message', (message) => console.log(message));
});
`;
    const limits = { memoryMb: 4096, cpuS: 20, processes: 64, fileMb: 16 };
    expect(await runIn(createBubblewrap(), [node ?? '', '-e', program], { limits })).toMatchObject({ stdout: 'z\n', stderr: '' });
  });
});
