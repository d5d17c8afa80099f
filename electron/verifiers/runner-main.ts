// The runner without its transport: answers the procedures of runner-contract.ts on any number of ports.
import type { Worker } from 'node:worker_threads';
import { assertNever } from '#shared/lib/assert.ts';
import type { Port } from '#shared/rpc/port.ts';
import { serve } from '#shared/rpc/server.ts';
import { createAdapterThreads } from './adapters/adapter-thread.ts';
import { adaptExecution, adaptFiles } from './adapters/adapt-execution.ts';
import { runCommand } from './command-run.ts';
import { runProgram } from './program-run.ts';
import { createQuickJsPool } from './quickjs-pool.ts';
import type { ProgramJob, ProgramRun } from './program-contract.ts';
import { resolveProgram } from './resolve-program.ts';
import type { SandboxBackend } from './sandbox/api.ts';
import { createBackend } from './sandbox/backend.ts';
import { runnerContract, runnerProtocol, type Execution, type VerifyJob } from './runner-contract.ts';

/** Threads for pure-js verifiers. */
const quickJsThreads = 2;

export type Runner = {
  serve(port: Port): void;
  /** Ends every verification under way and waits until their processes, folders and threads are gone. */
  close(): Promise<void>;
};

/**
 * `createWorker` makes a thread that runs `serveQuickJs`, `createAdapterWorker` one that runs `serveAdapters`; `sandbox` is that of this
 * system. Sets the umask of this process and ends it on SIGTERM.
 */
export function createRunner({
  createWorker,
  createAdapterWorker,
  sandbox = createBackend(),
}: {
  readonly createWorker: () => Worker;
  readonly createAdapterWorker: () => Worker;
  readonly sandbox?: SandboxBackend;
}): Runner {
  process.umask(0o022);
  const pool = createQuickJsPool(quickJsThreads, createWorker);
  const adapters = createAdapterThreads(createAdapterWorker);
  const closing = new AbortController();
  const active = new Set<Promise<Execution | ProgramRun>>();

  const run = async (job: VerifyJob, signal: AbortSignal): Promise<Execution> => {
    switch (job.runtime) {
      case 'pure-js':
        return pool.run(job, signal);
      case 'files':
        return adaptFiles(job, adapters, signal);
      case 'command': {
        const execution = await runCommand(job, sandbox, signal);
        return job.adapter === undefined ? execution : adaptExecution(job, job.adapter, execution, adapters, signal);
      }
      default:
        return assertNever(job, 'runtime');
    }
  };

  const verify = async (job: VerifyJob, signal: AbortSignal): Promise<Execution> => {
    const both = AbortSignal.any([signal, closing.signal]);
    const execution = run(job, both);
    active.add(execution);
    try {
      return await execution;
    } finally {
      active.delete(execution);
    }
  };

  const program = async (job: ProgramJob, signal: AbortSignal): Promise<ProgramRun> => {
    const run = runProgram(job, AbortSignal.any([signal, closing.signal]));
    active.add(run);
    try {
      return await run;
    } finally {
      active.delete(run);
    }
  };

  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.allSettled(active);
    await Promise.all([pool.close(), adapters.close(), sandbox.close()]);
  };

  // When to end is the host's decision, which reaches us as SIGTERM or a closed channel; runner.ts ignores what comes from a terminal.
  process.once('SIGTERM', () => void close().then(() => process.exit(0)));

  return {
    serve: (port) => {
      serve(
        runnerContract,
        {
          verify: (job, { signal }) => verify(job, signal),
          program: (job, { signal }) => program(job, signal),
          resolveProgram: ({ command, taskDir }) => resolveProgram(command, taskDir),
          info: () => ({ pid: process.pid, active: active.size, rssBytes: process.memoryUsage.rss(), workers: pool.size() }),
          sandbox: () => sandbox.probe(),
        },
        port,
        { hello: { contract: runnerProtocol, version: '1', journal: 0 } },
      );
    },
    close,
  };
}
