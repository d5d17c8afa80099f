// Builders for tests of verifiers: contracts, requests, and a runner process per test file.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { VerifyRequest } from '#electron/verifiers/api.ts';
import { manifestOf } from '#electron/verifiers/candidate.ts';
import { forkRunner, type ForkedRunner } from '#electron/verifiers/fork-runner.ts';
import { memoryFolderOf } from '#electron/verifiers/sandbox/memory-folder.ts';
import { createVerifierService } from '#electron/verifiers/service.ts';
import { contractSha } from '#shared/domain/bundle-id.ts';
import { ContractBody, type Contract } from '#shared/domain/contract.ts';
import { treeId } from '#shared/domain/tree-id.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { contractBodyOf, obligationOf } from '../../support/contract.ts';

const encoder = new TextEncoder();

export const textFile = (name: string, text: string | Uint8Array, mode: 'file' | 'exec' = 'file'): TreeFile => ({
  path: name,
  mode,
  bytes: typeof text === 'string' ? encoder.encode(text) : text,
});

type Changes = {
  readonly verifier?: Partial<ContractBody['verifier']>;
  readonly artifact?: Partial<ContractBody['artifact']>;
  readonly obligations?: readonly Partial<ContractBody['obligations'][number]>[];
  readonly advisory?: ContractBody['advisory'];
};

/** Two obligations, a (cap 10) and b (cap 5), unless others are named. */
export function makeContract({
  verifier = {},
  artifact = {},
  obligations = [
    { key: 'a', cap: 10 },
    { key: 'b', cap: 5 },
  ],
  advisory = [],
}: Changes = {}): Contract {
  const body = ContractBody.parse(
    contractBodyOf(
      obligations.map(({ key = 'a', ...changes }) => obligationOf(key, { cap: 10, ...changes })),
      {
        advisory,
        verifier: {
          timeoutsMs: { setup: 20_000, transfer: 20_000, run: 20_000, parse: 20_000 },
          limits: { memoryMb: 64, cpuS: 60, processes: 64, fileMb: 16, outputKb: 64 },
          ...verifier,
        },
        artifact: { protectedPaths: ['locked.txt'], ...artifact },
      },
    ),
  );
  return { ...body, sha: contractSha(body) };
}

export const seed: readonly TreeFile[] = [textFile('data.json', '[1, 2, 3]\n'), textFile('locked.txt', 'do not touch\n')];

export const request = (contract: Contract, verifierFiles: readonly TreeFile[], files: readonly TreeFile[] = seed): VerifyRequest => ({
  contract,
  tree: treeId(manifestOf(files)),
  files,
  verifierFiles,
  program:
    contract.verifier.kind === 'command'
      ? { path: contract.verifier.command[0] === 'sh' ? '/bin/sh' : (contract.verifier.command[0] ?? ''), version: 'test' }
      : null,
});

/** `body` is the body of verify(pawl); `echo` in it stands for the three fields to repeat. */
export const jsRequest = (body: string, changes: Changes = {}): VerifyRequest =>
  request(makeContract(changes), [
    textFile(
      'verifier/check.js',
      `function verify(pawl) { const echo = { nonce: pawl.nonce, tree: pawl.tree, contract: pawl.contract };\n${body}\n}`,
    ),
  ]);

/** A /bin/sh verifier. `report VALUES` writes a complete report. */
export const shRequest = (script: string, changes: Changes = {}): VerifyRequest =>
  request(
    makeContract({ ...changes, verifier: { kind: 'command', command: ['sh', 'verifier/check.sh'], file: null, ...changes.verifier } }),
    [textFile('verifier/check.sh', `${shReport}\n${script}\n`), textFile('verifier/expected.txt', 'expected\n')],
  );

const shReport = `report() { printf '{"nonce":"%s","tree":"%s","contract":"%s","values":%s}' "$PAWL_NONCE" "$PAWL_TREE" "$PAWL_CONTRACT" "$1" > "$PAWL_REPORT"; }`;

export const runnerEntry = new URL('../../../electron/verifiers/runner.ts', import.meta.url);

/** `fork` starts the runner, which has to be able to write into the folder that it is given. */
export async function startVerifiers(concurrency = 2, fork: (tmpDir: string) => ForkedRunner = () => forkRunner(runnerEntry)) {
  const tmpDir = await mkdtemp(path.join(os.tmpdir(), 'pawl-verifiers-'));
  const runner = fork(tmpDir);
  const service = createVerifierService(runner.port, { tmpDir, concurrency });
  return {
    tmpDir,
    runner,
    service,
    /** What verifications have left behind: folders and living processes. */
    leftovers: () => {
      const memory = memoryFolderOf(tmpDir);
      const inMemory = memory !== null && existsSync(memory) ? [memory, ...readdirSync(memory)] : [];
      return [...readdirSync(tmpDir), ...inMemory, ...processesOf(tmpDir), ...(memory === null ? [] : processesOf(memory))];
    },
    stop: async () => {
      runner.kill();
      await runner.exited;
      await rm(tmpDir, { recursive: true, force: true });
    },
  };
}

/** Living processes that were started by a verification in `tmpDir`. */
export function processesOf(tmpDir: string): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`PAWL_REPORT=${tmpDir}/`)) found.push(`process ${pid}`);
    } catch {
      // Gone meanwhile.
    }
  }
  return found;
}

export const never = new AbortController().signal;
