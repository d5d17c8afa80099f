// Verifications of the fixture task `repair-py` with hostile candidates, and the same with a verifier that was weakened on purpose.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Verification, VerifyRequest } from '#electron/verifiers/api.ts';
import type { SandboxBackend, SandboxSpec } from '#electron/verifiers/sandbox/api.ts';
import { createBackend } from '#electron/verifiers/sandbox/backend.ts';
import { enterScript } from '#electron/verifiers/sandbox/call-script.ts';
import { writeScript } from '#electron/verifiers/sandbox/launch.ts';
import { giveTo, verifierOwner } from '#electron/verifiers/sandbox/unprivileged.ts';
import type { ContractBody } from '#shared/domain/contract.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { makeContract, request, textFile } from '../verifiers/support.ts';

export const python = '/usr/bin/python3';

/** Why the tests of the sandbox cannot run here, or null; said loudly by whoever skips. */
export async function missingHere(): Promise<string | null> {
  if (process.platform !== 'linux') return `there is no sandbox on ${process.platform}`;
  const probe = await createBackend().probe();
  if (!probe.available) return probe.message;
  return existsSync(python) ? null : `${python} is missing`;
}

const folder = path.resolve(import.meta.dirname, '../../fixtures/tasks/repair-py');
const read = (name: string): TreeFile => textFile(name, readFileSync(path.join(folder, name)));

export const repairVerifier: readonly TreeFile[] = readdirSync(path.join(folder, 'verifier')).map((name) => read(`verifier/${name}`));
export const seedCode = readFileSync(path.join(folder, 'artifact/numbers_.py'), 'utf8');
export const goodCode = `def clamp(value, low, high):\n    return max(low, min(high, value))\n\n\ndef middle(a, b, c):\n    return sorted([a, b, c])[1]\n`;

export type Given = {
  readonly isolation?: 'none' | 'shared' | 'separate';
  readonly limits?: Partial<ContractBody['verifier']['limits']>;
  readonly runMs?: number;
  readonly verifierFiles?: readonly TreeFile[];
  readonly command?: readonly string[];
  readonly env?: readonly string[];
  readonly unsandboxed?: boolean;
};

/** A verification of `files` (paths inside the artifact) by the task's own verifier unless another is given. */
export function repairRequest(files: Readonly<Record<string, string>>, given: Given = {}): VerifyRequest {
  const {
    isolation = 'separate',
    limits = {},
    runMs = 40_000,
    verifierFiles = repairVerifier,
    command = ['python3', 'verifier/check.py'],
  } = given;
  const contract = makeContract({
    obligations: [
      { key: 'clamp', cap: 3 },
      { key: 'middle', cap: 3 },
    ],
    artifact: { protectedPaths: [] },
    verifier: {
      kind: 'command',
      command: [...command],
      file: null,
      runsCandidate: true,
      isolation,
      env: [...(given.env ?? [])],
      timeoutsMs: { setup: 20_000, transfer: 20_000, run: runMs, parse: 20_000 },
      limits: { memoryMb: 128, cpuS: 20, processes: 32, fileMb: 4, outputKb: 64, ...limits },
    },
  });
  const all = Object.entries({ 'numbers_.py': seedCode, ...files }).map(([name, text]) => textFile(name, text));
  const base = request(contract, verifierFiles, all);
  const program = command[0] === 'python3' ? python : (command[0] ?? '');
  return {
    ...base,
    program: { path: program, version: 'test' },
    ...(given.unsandboxed === undefined ? {} : { unsandboxed: given.unsandboxed }),
  };
}

/** What `argv` gives back, run by `backend` as the runner would; `around` is the beginning of an argv that starts it, outside. */
export async function runIn(
  backend: Pick<SandboxBackend, 'command'>,
  argv: readonly string[],
  changes: Partial<SandboxSpec> = {},
  around: readonly string[] = [],
) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pawl-inside-'));
  try {
    mkdirSync(path.join(folder, 'call'));
    const command = await backend.command({
      readOnly: [],
      writableFiles: [],
      scratch: [{ target: '/work', bytes: 16 * 1024 * 1024 }],
      cwd: '/work',
      home: '/tmp',
      env: {},
      limits: { memoryMb: 1024, cpuS: 20, processes: 64, fileMb: 16 },
      ...changes,
    });
    const script = writeScript(path.join(folder, 'call', 'enter'), command, enterScript(command));
    const owner = verifierOwner();
    if (typeof owner === 'string') throw new Error(owner);
    if (owner !== null) giveTo(owner, folder);
    const { status, signal, stdout, stderr } = spawnSync('/usr/bin/env', [...around, '/bin/sh', script, ...argv], {
      encoding: 'utf8',
      env: {},
      cwd: '/',
      timeout: 30_000,
      killSignal: 'SIGKILL',
      ...owner,
    });
    return { status, signal, stdout, stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The rank, or in words why there is none. */
export const rankOf = ({ verdict }: Verification): readonly number[] | string =>
  verdict.kind === 'ranked' ? verdict.rank : `${verdict.kind}: ${verdict.message}`;

/** Processes of this machine whose command line holds `text`. */
export const processesWith = (text: string): string[] =>
  spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line.includes(text));
