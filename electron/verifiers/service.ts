// The engine's side of verification: a nonce for each, the runner's answer judged, the record and the bytes behind it.
import { hash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { RpcError } from '#shared/contract/errors.ts';
import type { AutoCommand } from '#shared/domain/auto-registry.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { createClient } from '#shared/rpc/client.ts';
import type { Port } from '#shared/rpc/port.ts';
import type { AutoService, Verification, VerifierService, VerifyRequest } from './api.ts';
import { writableMatcher } from '#shared/domain/writable.ts';
import { judgeReport, verdictOf, type Judgement } from './judge.ts';
import { killByEnvironment } from './process-tree.ts';
import {
  type CommandJob,
  runnerProtocol,
  type AdapterSpec,
  noExecution,
  type Execution,
  type RunnerContract,
  type RunnerInfo,
  type VerifyJob,
  maxReportBytes,
  ownReportBytes,
} from './runner-contract.ts';
import type { ProgramService } from './program-api.ts';
import { noGuarantees } from './sandbox/api.ts';
import { dropMemoryFolder, memoryFolderOf } from './sandbox/memory-folder.ts';
import { verificationFolder } from './sandbox/unprivileged.ts';
import { removeLeftovers, removeTree, tempFolder } from './temp-folder.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type VerifierServiceOptions = {
  /** Absolute path of the data folder's tmp/, used by this service alone; made when missing, cleared of what an earlier engine left. */
  readonly tmpDir: string;
  /** Verifications that run at once; more wait for their turn. */
  readonly concurrency: number;
};

const inFolder = (folder: string, files: readonly TreeFile[]) =>
  files.map(({ path, mode, bytes }) => ({ path: `${folder}/${path}`, mode, bytes }));

/**
 * Verification through the runner behind `runnerPort`. When the runner dies, every verification under way and every later one is
 * `no_verdict/infra`, and what it had started is ended and removed from here.
 */
export function createVerifierService(
  runnerPort: Port,
  { tmpDir, concurrency }: VerifierServiceOptions,
): VerifierService &
  AutoService &
  ProgramService & { /** The runner's process and what it does now; rejects with an RpcError. */ info(): Promise<RunnerInfo> } {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(`verifications at once: ${concurrency}, must be an integer from 1`);
  const client = createClient<RunnerContract>(runnerPort, runnerProtocol);
  // Whatever names our folder in its environment before the first verification was left by an engine that was killed with its runner.
  const ready = (async () => {
    const place = await verificationFolder(tmpDir);
    await killByEnvironment(`PAWL_REPORT=${place}/`, new Set(), true);
    await killByEnvironment(`PAWL_INSTRUCTION=${place}/`, new Set(), true);
    await removeLeftovers(place);
    const memory = memoryFolderOf(place);
    if (memory !== null) {
      await killByEnvironment(`PAWL_REPORT=${memory}/`, new Set(), true);
      await removeLeftovers(memory);
      dropMemoryFolder(place);
    }
    return place;
  })();
  // Each verification awaits it and reports its failure; this keeps a failure before the first one from being unhandled.
  ready.catch(() => {});
  /** Nonces of verifications under way, by id. */
  const underWay = new Map<string, string>();
  let lost = false;
  client.closed
    .then(() => {
      lost = true;
    })
    .catch(() => {});
  // A runner that was killed cleans nothing up. Only our own are touched: another engine may own the folder by now.
  const cleared = client.closed.then(async () => {
    for (const [id, nonce] of underWay) {
      await killByEnvironment(`PAWL_NONCE=${nonce}`, new Set());
      const place = await ready;
      for (const folder of [place, memoryFolderOf(place)]) if (folder !== null) await removeTree(tempFolder(folder, id));
      dropMemoryFolder(place);
    }
  });
  cleared.catch(() => {});

  let running = 0;
  const waiting: (() => void)[] = [];
  /** Resolves with true at our turn, with false when aborted before it. */
  const turn = (signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve(false);
        return;
      }
      const begin = () => {
        signal.removeEventListener('abort', onAbort);
        running++;
        resolve(true);
      };
      const onAbort = () => {
        waiting.splice(waiting.indexOf(begin), 1);
        resolve(false);
      };
      if (running < concurrency) begin();
      else {
        waiting.push(begin);
        signal.addEventListener('abort', onAbort, { once: true });
      }
    });
  const done = () => {
    running--;
    waiting.shift()?.();
  };

  const ask = async (prepared: VerifyJob, signal: AbortSignal): Promise<Execution> => {
    const startedAt = new Date().toISOString();
    const begun = performance.now();
    try {
      const tmpDir = await ready;
      underWay.set(prepared.id, prepared.nonce);
      const job = prepared.runtime === 'command' ? { ...prepared, tmpDir } : prepared;
      return await client.call('verify', job, { signal });
    } catch (error) {
      const aborted = signal.aborted || (error instanceof RpcError && error.code === 'cancelled');
      if (error instanceof RpcError && error.code === 'closed') await cleared.catch(() => {});
      return {
        ...noExecution,
        startedAt,
        durationMs: performance.now() - begun,
        ending: aborted ? 'aborted' : 'infra',
        message: aborted
          ? ''
          : error instanceof RpcError && error.code === 'closed'
            ? 'the process that runs verifiers has ended'
            : messageOf(error),
      };
    } finally {
      underWay.delete(prepared.id);
    }
  };

  return {
    concurrency,
    lost: () => lost,
    info: () => client.call('info', {}),
    sandbox: async () => {
      try {
        return await client.call('sandbox', {});
      } catch (error) {
        const message = `the sandbox could not be looked for: ${messageOf(error)}`;
        return { available: false, backend: null, version: null, experimental: false, guarantees: noGuarantees, message, remedy: null };
      }
    },
    verify: async (request, signal) => {
      const { contract, tree, unsandboxed = false } = request;
      const id = `vrun_${uuidv7()}`;
      const nonce = randomBytes(16).toString('hex');
      const prepared = jobOf(request, id, nonce, tmpDir);
      let execution: Execution;
      if (typeof prepared === 'string')
        execution = { ...noExecution, startedAt: new Date().toISOString(), ending: 'infra', message: prepared };
      else if (await turn(signal)) {
        try {
          execution = await ask(prepared, signal);
        } finally {
          done();
        }
      } else execution = { ...noExecution, startedAt: new Date().toISOString(), ending: 'aborted' };
      const ranFreely = unsandboxed && contract.verifier.runsCandidate;
      return recordOf({ id, nonce, tree, execution, unsandboxed: ranFreely }, judgeReport({ contract, nonce, tree, execution }));
    },
    runAuto: async (request, auto, signal) => {
      const prepared = autoJobOf(request, auto, `auto_${uuidv7()}`, randomBytes(16).toString('hex'), tmpDir);
      let execution: Execution = { ...noExecution, startedAt: new Date().toISOString(), ending: 'aborted' };
      if (await turn(signal)) {
        try {
          execution = await ask(prepared, signal);
        } finally {
          done();
        }
      }
      const output = execution.output === null ? '' : decoder.decode(execution.output);
      return { ending: endingOf(execution), output };
    },
    runProgram: async (start, signal) => {
      const id = `prog_${uuidv7()}`;
      const nonce = randomBytes(16).toString('hex');
      try {
        const job = { ...start, files: [...start.files], id, nonce, tmpDir: await ready, outputBytes: programOutputBytes };
        underWay.set(id, nonce);
        return await client.call('program', job, { signal });
      } catch (error) {
        const aborted = signal.aborted || (error instanceof RpcError && error.code === 'cancelled');
        if (error instanceof RpcError && error.code === 'closed') await cleared.catch(() => {});
        const message = aborted ? '' : `the program could not be run: ${messageOf(error)}`;
        return { ...noProgram, ending: aborted ? 'aborted' : 'infra', message };
      } finally {
        underWay.delete(id);
      }
    },
    resolveProgram: async (command, taskDir) => {
      try {
        return await client.call('resolveProgram', { command: [...command], taskDir });
      } catch (error) {
        return { error: messageOf(error) };
      }
    },
  };
}

const decoder = new TextDecoder();

const endingOf = ({ ending, exitCode, signal, message }: Execution): string => {
  switch (ending) {
    case 'exited':
      return exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit ${exitCode}`;
    case 'timeout':
    case 'setup_timeout':
      return 'took too long';
    case 'output':
      return 'wrote too much and was ended';
    case 'out_of_memory':
      return 'took too much memory';
    case 'aborted':
      return 'ended by a stop';
    case 'infra':
      // A single line: what follows in an excerpt is the command's own.
      return `not run: ${message.split('\n', 1)[0] ?? ''}`;
    case 'returned':
    case 'threw':
      return ending;
    default:
      return ending satisfies never;
  }
};

/** Of what an automatic command writes so much is kept; more ends it. */
const autoOutputBytes = 64 * 1024;

// Only the candidate is there: a command that runs its code must not let it read the verifier.
function autoJobOf(
  { contract, tree, files, unsandboxed = false }: VerifyRequest,
  { command, timeoutMs, registered }: AutoCommand,
  id: string,
  nonce: string,
  tmpDir: string,
): CommandJob {
  const { runsCandidate, env, limits, timeoutsMs } = contract.verifier;
  return {
    runtime: 'command',
    id,
    nonce,
    tree,
    contract: contract.sha,
    // The folder is laid out as for a verifier, with an empty file in place of it.
    files: [...inFolder('artifact', files), { path: 'verifier/none', mode: 'file', bytes: new Uint8Array() }],
    runMs: timeoutMs,
    // The shell finds the program on the PATH of verifiers, inside a sandbox that of the sandbox.
    program: '/bin/sh',
    args: ['-c', 'exec "$@"', 'auto', ...command],
    tmpDir,
    env,
    guarded: [],
    setupMs: timeoutsMs.setup,
    outputBytes: autoOutputBytes,
    reportBytes: maxReportBytes,
    // What a proposer asked for is a model's word: it runs nowhere else.
    isolation: registered || (runsCandidate && !unsandboxed) ? 'shared' : 'none',
    cpuS: limits.cpuS,
    fileMb: limits.fileMb,
    memoryMb: limits.memoryMb,
    processes: limits.processes,
  };
}

/** Of what a program writes, the last so many bytes are kept. */
const programOutputBytes = 64 * 1024;

const noProgram = {
  exitCode: null,
  signal: null,
  output: new Uint8Array(),
  outputBytes: 0,
  tree: { kind: 'problem', code: 'no_candidate', message: 'the program left no tree' },
  register: null,
} as const;

/** What the runner is asked for, or why it cannot be asked. */
function jobOf(
  { contract, tree, files, verifierFiles, program, unsandboxed = false }: VerifyRequest,
  id: string,
  nonce: string,
  tmpDir: string,
): VerifyJob | string {
  const { verifier } = contract;
  const common = {
    id,
    nonce,
    tree,
    contract: contract.sha,
    files: [...inFolder('artifact', files), ...verifierFiles],
    runMs: verifier.timeoutsMs.run,
  };
  const adapter = adapterOf(contract);
  if (typeof adapter === 'string') return adapter;
  // An adapter that needs no tool starts nothing.
  if (adapter !== null && verifier.kind === 'pure-js') return { ...common, runtime: 'files', adapter };
  if (verifier.kind === 'pure-js') {
    if (verifier.file === null) return 'the contract names no file for its pure-js verifier';
    // QuickJS in QuickJS needs no sandbox of the system.
    if (verifier.runsCandidate && verifier.isolation !== 'separate')
      return `the contract runs candidate code in pure-js with isolation ${verifier.isolation}; there is "separate" only`;
    return {
      ...common,
      runtime: 'pure-js',
      file: verifier.file,
      reportBytes: ownReportBytes(verifier.limits.outputKb),
      memoryMb: verifier.limits.memoryMb,
      runsCandidate: verifier.runsCandidate,
    };
  }
  if (program === null) return 'the program of the verifier was not resolved before the run';
  const isWritable = writableMatcher(contract.artifact);
  return {
    ...common,
    runtime: 'command',
    program: program.path,
    args: verifier.command.slice(1),
    tmpDir,
    env: verifier.env,
    guarded: [
      ...verifierFiles.map(({ path }) => path),
      ...files.filter(({ path }) => !isWritable(path)).map(({ path }) => `artifact/${path}`),
    ],
    setupMs: verifier.timeoutsMs.setup,
    outputBytes: verifier.limits.outputKb * 1024,
    reportBytes: adapter === null ? ownReportBytes(verifier.limits.outputKb) : maxReportBytes,
    isolation: verifier.runsCandidate && !unsandboxed ? isolationOf(verifier.isolation) : 'none',
    cpuS: verifier.limits.cpuS,
    fileMb: verifier.limits.fileMb,
    memoryMb: verifier.limits.memoryMb,
    processes: verifier.limits.processes,
    ...(adapter === null ? {} : { adapter }),
    ...(verifier.places === undefined ? {} : { places: verifier.places }),
  };
}

/** What the contract's adapter is asked for; null without one, a text where the contract leaves something out. */
function adapterOf({ verifier, obligations, from, advisory }: VerifyRequest['contract']): AdapterSpec | string | null {
  if (verifier.adapter === null) return null;
  const wanted: AdapterSpec['obligations'] = [];
  for (const [i, { key, cap, kind }] of obligations.entries()) {
    const place = from[i];
    if (typeof place !== 'string') return `the contract does not say from what its adapter finds ${key}`;
    wanted.push({ key, cap, kind, from: place });
  }
  return {
    name: verifier.adapter,
    report: verifier.report,
    obligations: wanted,
    advisory: advisory.map(({ key }) => key),
    parseMs: verifier.timeoutsMs.parse,
  };
}

// A contract that runs candidates and names no isolation is no reason to run them without one.
const isolationOf = (isolation: VerifyRequest['contract']['verifier']['isolation']): 'shared' | 'separate' =>
  isolation === 'separate' ? 'separate' : 'shared';

type Run = {
  readonly id: string;
  readonly nonce: string;
  readonly tree: Sha;
  readonly execution: Execution;
  readonly unsandboxed: boolean;
};

function recordOf({ id, nonce, tree, execution, unsandboxed }: Run, judgement: Judgement): Verification {
  const blobs = new Map<Sha, Uint8Array>();
  const keep = (bytes: Uint8Array | null): Sha | null => {
    if (bytes === null || bytes.length === 0) return null;
    const sha = hash('sha256', bytes, 'hex');
    blobs.set(sha, bytes);
    return sha;
  };
  const report = keep(execution.report);
  const output = keep(execution.output);
  // Found again by the SHA-256 in the report that was made from it.
  keep(execution.toolReport ?? null);
  const { startedAt, durationMs, exitCode, signal, sandbox } = execution;
  const result = judgement.kind === 'ranked' ? 'ranked' : judgement.code;
  return {
    verdict: verdictOf(judgement, {
      id,
      durationMs,
      output,
      ...(unsandboxed ? { unsandboxed } : {}),
      ...(sandbox === undefined ? {} : { sandbox }),
    }),
    runs: [{ id, nonce, tree, startedAt, durationMs, exitCode, signal, report, output, result }],
    blobs: [...blobs].map(([sha, bytes]) => ({ sha, bytes })),
  };
}
