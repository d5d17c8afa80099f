// What `@anthropic-ai/sandbox-runtime` is asked for, from a spec. Pure. The package keeps a command from files and from the network; the
// environment, the limits that a shell can set and the argv are ours, in a script that is the first thing inside.
import type { SandboxCommand, SandboxLimits, SandboxSpec } from './api.ts';
import { quote } from './quote.ts';
import { checkEnvironment, environmentOf, isPlainPath } from './spec-rules.ts';

/** A path that is no pattern, whatever is in its name. */
type LiteralPath = { readonly path: string; readonly literal: true };

/** The part of the package's `FilesystemConfig` that is used. */
export type RuntimeFiles = {
  readonly denyRead: readonly LiteralPath[];
  readonly allowRead: readonly LiteralPath[];
  readonly allowWrite: readonly LiteralPath[];
  readonly denyWrite: readonly LiteralPath[];
};

/** The part of the package's `SandboxRuntimeConfig` that is used. */
export type RuntimeConfig = {
  readonly network: {
    readonly allowedDomains: readonly string[];
    readonly deniedDomains: readonly string[];
    readonly allowUnixSockets: readonly string[];
    readonly allowLocalBinding: boolean;
    readonly httpProxyPort: number;
    readonly socksProxyPort: number;
  };
  readonly filesystem: RuntimeFiles;
};

/**
 * What every program needs to be able to read, by platform; a path that a machine has not is no harm. The whole of /Library, /Users and
 * /private is left out. Nothing of a list for macOS could be tried on one: a program that needs more fails in the probe or says so itself.
 */
export const readableSystem: Readonly<Record<'darwin' | 'linux', readonly string[]>> = {
  darwin: [
    '/usr',
    '/bin',
    '/sbin',
    '/System',
    '/Library/Apple',
    '/Library/Developer/CommandLineTools',
    '/Library/Frameworks',
    '/Applications/Xcode.app',
    '/opt/homebrew',
    '/private/etc/localtime',
    '/private/etc/ssl',
    '/private/var/db/dyld',
    '/private/var/db/timezone',
    '/private/var/db/xcode_select_link',
    '/private/var/select',
    '/dev/null',
    '/dev/zero',
    '/dev/random',
    '/dev/urandom',
    '/dev/fd',
    '/dev/dtracehelper',
  ],
  linux: ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc/alternatives', '/etc/ld.so.cache'],
};

const literal = (path: string): LiteralPath => ({ path, literal: true });

/** Places that the package lets every command write to unless they are denied; they outlive a verification. */
const packagesOwn = ['/tmp/claude', '/private/tmp/claude'];

/** Throws a RangeError that names what such a backend cannot give: a path that is another inside, a file beneath nothing of the spec. */
function checkUnmapped({ readOnly, writableFiles, scratch, cwd, home, env }: SandboxSpec): void {
  for (const { source, target } of [...readOnly, ...writableFiles]) {
    if (source !== target) throw new RangeError(`${source} cannot be ${target} inside: this sandbox maps no paths`);
  }
  for (const path of [...readOnly, ...writableFiles, ...scratch].map(({ target }) => target).concat(cwd))
    if (!isPlainPath(path)) throw new RangeError(`${JSON.stringify(path)} is no absolute path without "." and ".."`);
  if (!scratch.some(({ target }) => target === home)) throw new RangeError(`${home} is no scratch space`);
  checkEnvironment(env);
}

/**
 * Files of `spec`: everything is denied but `system`, what the package itself needs (`own`) and what the spec names. What is read-only stays
 * so inside a scratch folder.
 */
export function filesOf(spec: SandboxSpec, system: readonly string[], own: readonly string[]): RuntimeFiles {
  checkUnmapped(spec);
  const readOnly = spec.readOnly.map(({ target }) => target);
  const writable = [...spec.writableFiles, ...spec.scratch].map(({ target }) => target);
  return {
    denyRead: [literal('/')],
    allowRead: [...system, ...own, ...readOnly, ...writable].map(literal),
    allowWrite: [...writable, '/dev/null'].map(literal),
    denyWrite: [...readOnly, ...packagesOwn].map(literal),
  };
}

/** What the package is set up with, once: no host is allowed, and the proxies that it would start for others are said to be elsewhere. */
export const runtimeConfig = (system: readonly string[]): RuntimeConfig => ({
  network: {
    allowedDomains: [],
    deniedDomains: [],
    allowUnixSockets: [],
    allowLocalBinding: false,
    // A port that nobody but root can listen at, and nobody does: it is the only one that the package leaves open.
    httpProxyPort: 1,
    socksProxyPort: 1,
  },
  filesystem: { denyRead: [literal('/')], allowRead: system.map(literal), allowWrite: [], denyWrite: packagesOwn.map(literal) },
});

/** Limits that a shell sets, in the units of bash: seconds, blocks of 1,024 bytes. RLIMIT_DATA binds on Linux, and nothing on macOS. */
const ulimits = ({ cpuS, fileMb, memoryMb }: SandboxLimits): string[] => [
  `ulimit -t ${cpuS}`,
  `ulimit -f ${fileMb * 1024}`,
  `ulimit -d ${memoryMb * 1024} 2> /dev/null`,
  'ulimit -n 256',
  'ulimit -c 0',
];

/**
 * The script that is the first thing inside, for bash: goes to the working folder, reports that it is there, closes every descriptor but
 * the first three, sets the limits, and becomes the argv that `outerScript` has put into the environment, with the environment of `spec` and nothing else.
 */
export function innerScript(spec: SandboxSpec): string {
  const env = Object.entries(environmentOf(spec)).map(([name, value]) => quote(`${name}=${value}`));
  return [
    `cd -- ${quote(spec.cwd)} || exit 125`,
    'if [ -n "${PAWL_REPORTS-}" ]; then echo started >&8; fi',
    'for f in /dev/fd/*; do n=${f##*/}; case $n in 0 | 1 | 2 | *[!0-9]*) ;; *) eval "exec $n>&-" ;; esac; done',
    ...ulimits(spec.limits),
    'set --; i=0; while [ "$i" -lt "$PAWL_WORDS" ]; do i=$((i + 1)); n=PAWL_WORD_$i; set -- "$@" "${!n}"; done',
    // env(1) would take a program with = in its name for a variable.
    `exec /usr/bin/env -i ${env.join(' ')} /bin/sh -c 'exec "$@"' sh "$@"`,
  ].join('\n');
}

/** Starts `wrapped`, which the package has made of the inner script, with the words of an argv in an environment that holds nothing else. */
function outerScript(wrapped: string): string {
  return [
    'PAWL_WORDS=0',
    'for word in "$@"; do PAWL_WORDS=$((PAWL_WORDS + 1)); export "PAWL_WORD_$PAWL_WORDS=$word"; done',
    'export PAWL_WORDS',
    wrapped,
  ].join('\n');
}

const scrubbed = 'env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin';

/** How a script starts what the package has wrapped. */
export function runtimeCommand(wrapped: string): SandboxCommand {
  const outer = quote(outerScript(wrapped));
  return {
    files: {},
    run: `${scrubbed} /bin/sh -c ${outer} sandbox "$@"`,
    // The package gives one exit code for what it could not set up and for what has run: only what has run has said so.
    runReporting: `{ ${scrubbed} PAWL_REPORTS=1 /bin/sh -c ${outer} sandbox "$@"; code=$?; [ ! -s "$status" ] || echo "exit-code: $code" >&8; }`,
  };
}
