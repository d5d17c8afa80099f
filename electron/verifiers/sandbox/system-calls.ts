// Which system calls what runs in a sandbox may not make, as a program for the kernel's filter (seccomp, classic BPF). A list of what is
// denied, because candidates are written in any language: what a program that computes something needs works, and the parts of the kernel
// that look into other processes, change what a process is, or keep memory that no limit binds are closed. Numbers are those of the kernel's
// asm/unistd_64.h (x86_64) and asm-generic/unistd.h (aarch64); a number of the kernel is never used again.

/** x86_64, aarch64; null where that processor has no such call. */
type Numbers = readonly [x64: number | null, arm64: number | null];

type Group = { readonly why: string; readonly calls: Readonly<Record<string, Numbers>> };

/** Refused whatever the arguments are. */
export const deniedCalls: readonly Group[] = [
  {
    why: 'looks into other processes, or changes them',
    calls: {
      ptrace: [101, 117],
      process_vm_readv: [310, 270],
      process_vm_writev: [311, 271],
      process_madvise: [440, 440],
      process_mrelease: [448, 448],
      pidfd_getfd: [438, 438],
      kcmp: [312, 272],
      move_pages: [279, 239],
      migrate_pages: [256, 238],
    },
  },
  {
    why: 'the kernel keeps it beyond the sandbox, or for other sandboxes of this user',
    calls: { keyctl: [250, 219], add_key: [248, 217], request_key: [249, 218] },
  },
  {
    why: 'large parts of the kernel that programs do without, and known ways to run code in it',
    calls: {
      bpf: [321, 280],
      perf_event_open: [298, 241],
      userfaultfd: [323, 282],
      // Its requests pass no filter.
      io_uring_setup: [425, 425],
      io_uring_enter: [426, 426],
      io_uring_register: [427, 427],
      fanotify_init: [300, 262],
      lookup_dcookie: [212, 18],
      modify_ldt: [154, null],
      iopl: [172, null],
      ioperm: [173, null],
      uselib: [134, null],
      nfsservctl: [180, 42],
    },
  },
  {
    why: 'changes what is mounted where, or leaves the namespaces of the sandbox',
    calls: {
      mount: [165, 40],
      umount2: [166, 39],
      pivot_root: [155, 41],
      chroot: [161, 51],
      setns: [308, 268],
      open_tree: [428, 428],
      move_mount: [429, 429],
      fsopen: [430, 430],
      fsconfig: [431, 431],
      fsmount: [432, 432],
      fspick: [433, 433],
      mount_setattr: [442, 442],
      open_tree_attr: [467, 467],
      open_by_handle_at: [304, 265],
    },
  },
  {
    why: 'is about the whole machine',
    calls: {
      kexec_load: [246, 104],
      kexec_file_load: [320, 294],
      reboot: [169, 142],
      init_module: [175, 105],
      finit_module: [313, 273],
      delete_module: [176, 106],
      swapon: [167, 224],
      swapoff: [168, 225],
      acct: [163, 89],
      quotactl: [179, 60],
      quotactl_fd: [443, 443],
      syslog: [103, 116],
      settimeofday: [164, 170],
      clock_settime: [227, 112],
      vhangup: [153, 58],
    },
  },
  {
    why: 'keeps memory in the kernel that neither a limit of a process nor a look at its pages finds',
    calls: { shmget: [29, 194], msgget: [68, 186], semget: [64, 190], memfd_secret: [447, 447] },
  },
];

/** Calls that depend on an argument, of which the kernel takes the low 32 bits. */
export const conditionalCalls = {
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  ioctl: [16, 29],
  personality: [135, 92],
  socket: [41, 198],
} as const satisfies Readonly<Record<string, Numbers>>;

/** CLONE_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET: the flags of clone that make a namespace. */
const namespaceFlags = 0x7e02_0000;
/** unshare takes CLONE_NEWTIME as well, which in clone is part of a signal's number. */
const unshareFlags = namespaceFlags | 0x80;

/** TIOCSTI types into the terminal; TIOCLINUX pastes into a console; TIOCSETD loads a driver for the line. */
const deniedIoctls = [0x5412, 0x541c, 0x5423];

/** What a process is without any (PER_LINUX), and the question. Others switch randomisation or the check of addresses off. */
const allowedPersonalities = [0, 0xffff_ffff];

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Not all others know network namespaces: AF_VSOCK reaches the host of a virtual machine. */
const allowedFamilies = [1, 2, 10, 16];

/** Instructions of classic BPF, linux/bpf_common.h. */
const op = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, ret: 0x06 } as const;

/** linux/seccomp.h; the low 16 bits are the error number. */
export const filterAction = { allow: 0x7fff_0000, kill: 0x8000_0000, eperm: 0x0005_0001, enosys: 0x0005_0026 } as const;

/** Offsets in struct seccomp_data; arguments are 64 bits, their low half first on both processors. */
const at = { nr: 0, arch: 4, arg: (index: number) => 16 + 8 * index } as const;

/** linux/audit.h. */
const processors = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
} as const;

/** Numbers from here on are those of the x32 ABI, which has the same name of processor and other rules. */
const x32 = 0x4000_0000;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number];

const load = (offset: number): Instruction => [op.load, 0, 0, offset];
const answer = (action: number): Instruction => [op.ret, 0, 0, action];
/** Goes `skip` further when `k` is not what the test wants, else on with the next. */
const unless = (code: number, k: number, skip: number): Instruction => [code, 0, skip, k];

/** `rule` for the calls of number `nr`; it ends with an answer of its own. */
const only = (nr: number, rule: readonly Instruction[]): readonly Instruction[] => [unless(op.equal, nr, rule.length), ...rule];

/** Denies when argument `index` has one of `bits`. */
const deniesBits = (index: number, bits: number): readonly Instruction[] => [
  load(at.arg(index)),
  unless(op.anyBit, bits, 1),
  answer(filterAction.eperm),
  answer(filterAction.allow),
];

/** `found` when argument `index` is one of `values`, `otherwise` when it is none. */
const byValue = (index: number, values: readonly number[], found: number, otherwise: number): readonly Instruction[] => [
  load(at.arg(index)),
  ...values.flatMap((value) => [unless(op.equal, value, 1), answer(found)]),
  answer(otherwise),
];

/**
 * The filter for `arch` (a name of Node's `process.arch`) as bytes of struct sock_filter, or null where there is none for it.
 * Denied calls fail with EPERM, and clone3 with ENOSYS, because its flags lie in memory that a filter cannot read and every C library
 * falls back to clone then. A call of another processor's or of the x32 ABI ends the process.
 */
export function systemCallFilter(arch: string): Uint8Array | null {
  if (arch !== 'x64' && arch !== 'arm64') return null;
  const { audit, column } = processors[arch];
  const { allow, eperm, enosys, kill } = filterAction;
  const program: Instruction[] = [
    load(at.arch),
    [op.equal, 1, 0, audit],
    answer(kill),
    load(at.nr),
    ...(arch === 'x64' ? [unless(op.atLeast, x32, 1), answer(kill)] : []),
    ...deniedCalls.flatMap(({ calls }) =>
      Object.values(calls).flatMap(({ [column]: nr }) => (nr === null ? [] : only(nr, [answer(eperm)]))),
    ),
    ...only(conditionalCalls.clone3[column], [answer(enosys)]),
    ...only(conditionalCalls.clone[column], deniesBits(0, namespaceFlags)),
    ...only(conditionalCalls.unshare[column], deniesBits(0, unshareFlags)),
    ...only(conditionalCalls.ioctl[column], byValue(1, deniedIoctls, eperm, allow)),
    ...only(conditionalCalls.personality[column], byValue(0, allowedPersonalities, allow, eperm)),
    ...only(conditionalCalls.socket[column], byValue(0, allowedFamilies, allow, eperm)),
    answer(allow),
  ];
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [i, [code, jumpTrue, jumpFalse, k]] of program.entries()) {
    view.setUint16(i * 8, code, true);
    view.setUint8(i * 8 + 2, jumpTrue);
    view.setUint8(i * 8 + 3, jumpFalse);
    view.setUint32(i * 8 + 4, k, true);
  }
  return bytes;
}
