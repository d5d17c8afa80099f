// The filter of system calls, run by a small machine of the test: the instructions of classic BPF that the kernel knows, as in its
// Documentation/networking/filter.rst, over a struct seccomp_data.
import { existsSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conditionalCalls, deniedCalls, filterAction, systemCallFilter } from '#electron/verifiers/sandbox/system-calls.ts';

type Call = { readonly arch: number; readonly nr: number; readonly args?: readonly bigint[] };

/** What `filter` answers to `call`. Throws where the kernel would not take the program: an unknown instruction, a jump past the end. */
function answerOf(filter: Uint8Array, { arch, nr, args = [] }: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, nr, true);
  data.setUint32(4, arch, true);
  for (const [i, arg] of args.entries()) data.setBigUint64(16 + 8 * i, arg, true);
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  const length = filter.byteLength / 8;
  let accumulator = 0;
  for (let pc = 0; pc < length; pc++) {
    const code = program.getUint16(pc * 8, true);
    const k = program.getUint32(pc * 8 + 4, true);
    const jump = (holds: boolean) => {
      pc += program.getUint8(pc * 8 + (holds ? 2 : 3));
    };
    switch (code) {
      case 0x20: // BPF_LD | BPF_W | BPF_ABS
        if (k % 4 !== 0 || k > 60) throw new Error(`load at ${k}`);
        accumulator = data.getUint32(k, true);
        break;
      case 0x15: // BPF_JMP | BPF_JEQ | BPF_K
        jump(accumulator === k);
        break;
      case 0x35: // BPF_JMP | BPF_JGE | BPF_K
        jump(accumulator >= k);
        break;
      case 0x45: // BPF_JMP | BPF_JSET | BPF_K
        jump((accumulator & k) !== 0);
        break;
      case 0x06: // BPF_RET | BPF_K
        return k;
      default:
        throw new Error(`instruction ${code} at ${pc}`);
    }
  }
  throw new Error('the program has no end');
}

const machines = [
  { name: 'x64', arch: 0xc000_003e, column: 0, headers: ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm/unistd_64.h'] },
  { name: 'arm64', arch: 0xc000_00b7, column: 1, headers: ['/usr/include/asm-generic/unistd.h'] },
] as const;
const { allow, kill, eperm, enosys } = filterAction;

describe.each(machines)('on $name', ({ name, arch, column, headers }) => {
  const filter = systemCallFilter(name) ?? new Uint8Array();
  const ask = (nr: number, ...args: readonly number[]) => answerOf(filter, { arch, nr, args: args.map((arg) => BigInt(arg)) });
  const denied = deniedCalls
    .flatMap(({ calls }) => Object.entries(calls))
    .flatMap(([call, { [column]: nr }]) => (nr === null ? [] : [{ call, nr }]));
  const nrOf = (call: keyof typeof conditionalCalls) => conditionalCalls[call][column];

  test('is a program that the kernel can take', () => {
    expect(filter.byteLength % 8).toBe(0);
    expect(filter.byteLength / 8).toBeLessThanOrEqual(4096);
    expect(filter.byteLength).toBeGreaterThan(400);
  });

  test('refuses each of the list with EPERM, whatever the arguments are', () => {
    expect(denied.map(({ nr }) => ask(nr))).toEqual(denied.map(() => eperm));
    expect(denied.map(({ nr }) => ask(nr, -1 >>> 0, -1 >>> 0, -1 >>> 0))).toEqual(denied.map(() => eperm));
    expect(denied.map(({ call }) => call)).toEqual(
      expect.arrayContaining([
        'ptrace',
        'process_vm_readv',
        'process_vm_writev',
        'keyctl',
        'bpf',
        'userfaultfd',
        'io_uring_setup',
        'mount',
      ]),
    );
    expect(eperm & 0xffff).toBe(1);
    expect(enosys & 0xffff).toBe(38);
  });

  test('the calls of another processor, and of x32, end the process', () => {
    for (const other of [0x4000_0003, 0xc000_003e, 0xc000_00b7, 0x4000_0028, 0].filter((other) => other !== arch))
      expect(answerOf(filter, { arch: other, nr: 1 })).toBe(kill);
    expect(ask(0x4000_0000 + 1)).toBe(name === 'x64' ? kill : allow);
    expect(ask(0x4000_0000 + 101)).toBe(name === 'x64' ? kill : allow);
    expect(ask(0xffff_ffff)).toBe(name === 'x64' ? kill : allow);
  });

  test.each([
    ['a thread', 'clone', [0x003d_0f00], allow],
    ['a process', 'clone', [0x0120_0011], allow],
    ['a process with 0x80 in the number of its signal', 'clone', [0x80], allow],
    ['a user namespace', 'clone', [0x1000_0011], eperm],
    ['a network namespace beside other flags', 'clone', [0x4000_0f11], eperm],
    ['a process whose flags cannot be seen', 'clone3', [0], enosys],
    ['a table of descriptors of its own', 'unshare', [0x400], allow],
    ['leaving the user namespace', 'unshare', [0x1000_0000], eperm],
    ['leaving the mount namespace', 'unshare', [0x2_0000], eperm],
    ['leaving the time namespace', 'unshare', [0x80], eperm],
    ['the size of a terminal', 'ioctl', [0, 0x5413], allow],
    ['typing into a terminal', 'ioctl', [0, 0x5412], eperm],
    ['pasting into a console', 'ioctl', [0, 0x541c], eperm],
    ['a driver for the line', 'ioctl', [0, 0x5423], eperm],
    ['asking for the personality', 'personality', [0xffff_ffff], allow],
    ['the usual personality', 'personality', [0], allow],
    ['addresses that are not random', 'personality', [0x004_0000], eperm],
    ['code in data', 'personality', [0x040_0000], eperm],
    ['a socket of the file system', 'socket', [1, 1], allow],
    ['an internet socket', 'socket', [2, 1], allow],
    ['a socket of IPv6', 'socket', [10, 2], allow],
    ['a question about the interfaces', 'socket', [16, 3], allow],
    ['a socket to the host of a virtual machine', 'socket', [40, 1], eperm],
    ["the kernel's ciphers", 'socket', [38, 5], eperm],
    ['packets as they are', 'socket', [17, 3], eperm],
  ] as const)('%s: %s %j', (_, call, args, expected) => {
    expect(ask(nrOf(call), ...args)).toBe(expected);
    // The kernel takes 32 bits of each of these arguments: what stands above them changes nothing.
    const high = args.map((arg) => BigInt(arg) | 0xdead_beef_0000_0000n);
    expect(answerOf(filter, { arch, nr: nrOf(call), args: high })).toBe(expected);
  });

  test('everything else is allowed', () => {
    const listed = new Set([...denied.map(({ nr }) => nr), ...Object.values(conditionalCalls).map(({ [column]: nr }) => nr)]);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0x3fff_ffff }),
        fc.array(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), { maxLength: 6 }),
        (nr, args) => {
          fc.pre(!listed.has(nr));
          expect(answerOf(filter, { arch, nr, args })).toBe(allow);
        },
      ),
    );
    const others = Array.from({ length: 600 }, (_, nr) => nr).filter((nr) => !listed.has(nr));
    expect(others.filter((nr) => ask(nr, 0x5412, 0x5412) !== allow)).toEqual([]);
  });

  const header = headers.find(existsSync);
  if (header === undefined)
    process.stderr.write(`SKIPPED the numbers of ${name}: none of ${headers.join(', ')} is here (linux-libc-dev)\n`);
  test.skipIf(header === undefined)("the numbers are those of the kernel's headers", () => {
    const text = readFileSync(header ?? '', 'utf8');
    const known = new Map([...text.matchAll(/^#define\s+__NR(?:3264)?_(\w+)\s+(\d+)/gm)].map(([, call, nr]) => [call, Number(nr)]));
    const all = [
      ...denied.map(({ call, nr }) => [call, nr] as const),
      ...Object.entries(conditionalCalls).map(([call, numbers]) => [call, numbers[column]] as const),
    ];
    const newer = all.filter(([call]) => !known.has(call)).map(([call]) => call);
    expect(all.filter(([call]) => known.has(call))).toEqual(
      all.filter(([call]) => known.has(call)).map(([call]) => [call, known.get(call)]),
    );
    // Younger than Linux 6.1, whose headers a machine may have.
    expect(['open_tree_attr']).toEqual(expect.arrayContaining(newer));
  });
});

test('there is none for another processor', () => {
  expect(['ia32', 'arm', 'riscv64', 'ppc64', ''].map(systemCallFilter)).toEqual([null, null, null, null, null]);
});
