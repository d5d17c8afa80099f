// What a run begins with, as `run.start` and `task.preflight` both need it: the task under the contract that was chosen, and its seed measured.
import { join } from 'node:path';
import { RpcError } from '#shared/contract/errors.ts';
import type { RevisionChoices } from '#shared/contract/preflight.ts';
import { type Budget, dimensionWords } from '#shared/domain/budget.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { type Forecast, forecastRun } from '#shared/domain/forecast.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { reviseContract } from '#shared/domain/revise.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { createCandidateCheck } from '#electron/governor/candidate-check.ts';
import { type Preflight, preflight } from '#electron/governor/preflight.ts';
import { RunnerLost } from '#electron/governor/runner-lost.ts';
import type { VerifierService } from '#electron/verifiers/api.ts';
import { loadOrRefuse } from '../task-handlers.ts';
import type { LoadedTask } from '../tasks/load-task.ts';

export type PreparedTask = {
  /** As it stands in the folder. */
  readonly task: LoadedTask;
  /** The folder's contract, or the new version that the choices make of it. */
  readonly contract: Contract;
};

/** Throws bad_input for a task that cannot be used, or naming the choice that cannot be made. */
export async function prepareTask(folder: string, { quarantine = [], median = [] }: RevisionChoices): Promise<PreparedTask> {
  const task = await loadOrRefuse(folder);
  const revised = reviseContract(task.contract, { quarantine, median });
  if (!revised.ok) throw new RpcError('bad_input', revised.error.message, { field: revised.error.field });
  return { task, contract: revised.value };
}

/** For what was asked of an engine whose runner is gone, before anything of it was stored. Its host replaces it. */
export const runnerLost = (then: string): RpcError => new RpcError('unavailable', `${new RunnerLost().message}; ${then}`);

/** The program of a `command` verifier; null for pure-js. Throws bad_input when there is none. */
export async function programOf(
  verifiers: VerifierService,
  { contract, info: { path } }: LoadedTask,
): Promise<RunHeader['verifierProgram']> {
  if (contract.verifier.kind !== 'command') return null;
  const resolved = await verifiers.resolveProgram(contract.verifier.command, path);
  if ('error' in resolved)
    throw new RpcError('bad_input', `the verifier's program cannot be run: ${resolved.error}`, {
      file: join(path, 'task.toml'),
      field: 'verifier.command',
    });
  return { path: resolved.path, version: resolved.version };
}

/**
 * Throws conflict, with what would change it, for a task that runs candidate code where that is not possible. Candidates of a pure-js task
 * run in a QuickJS of their own, which is everywhere. The result is what the header of a run says of an experimental sandbox.
 */
export async function sandboxOrRefuse(
  verifiers: Pick<VerifierService, 'sandbox'>,
  { verifier }: Contract,
  unsandboxed: boolean,
): Promise<Pick<RunHeader, 'experimentalSandbox'>> {
  if (!verifier.runsCandidate || verifier.kind === 'pure-js') return {};
  if (unsandboxed && verifier.places !== undefined)
    throw new RpcError(
      'conflict',
      `the verifier of this task expects its files at ${verifier.places.map(({ at }) => at).join(', ')}, which only a sandbox has; it cannot be run unsandboxed`,
      { field: 'unsandboxed' },
    );
  if (unsandboxed) return {};
  const { available, backend, experimental, message } = await verifiers.sandbox();
  if (available) return experimental && backend !== null ? { experimentalSandbox: backend } : {};
  throw new RpcError(
    'conflict',
    `this task runs candidate code, which needs a sandbox: ${message}. Without one, it can be run unsandboxed, which is recorded in its header and verdicts`,
    { field: 'unsandboxed' },
  );
}

/** Throws conflict where a run would go on in another kind of sandbox than its header says. `now` is what `sandboxOrRefuse` found. */
export function sameSandbox(
  { experimentalSandbox: then }: RunHeader,
  { experimentalSandbox: now }: Pick<RunHeader, 'experimentalSandbox'>,
): void {
  if (then === now) return;
  const [was, is] = [then, now].map((name) =>
    name === undefined ? 'a sandbox that is not experimental' : `the experimental sandbox ${name}`,
  );
  throw new RpcError(
    'conflict',
    `this run began in ${was ?? ''}, and here there is ${is ?? ''}: go on from one of its bundles with a branch`,
  );
}

/** A seed under a contract, with what verifying it needs. */
export type SeedToMeasure = {
  readonly contract: Contract;
  readonly seedTree: Sha;
  readonly seedFiles: readonly TreeFile[];
  readonly verifierFiles: readonly TreeFile[];
  /** Bytes of the JSON Schema that the contract names. */
  readonly schema: Uint8Array | null;
};

/** The seed of a task under its contract. */
export const seedOf = ({ task, contract }: PreparedTask): SeedToMeasure => ({
  contract,
  seedTree: task.seedTree,
  seedFiles: task.seedFiles,
  verifierFiles: task.verifierFiles,
  schema: task.schemaFile?.bytes ?? null,
});

export type SeedMeasurement = {
  readonly program: RunHeader['verifierProgram'];
  readonly runs: number;
  readonly unsandboxed: boolean;
};

/** Measures the seed `runs` times. It is held to what every candidate is held to, before the verifier sees it. */
export async function measureSeed(
  verifiers: VerifierService,
  { contract, seedTree, seedFiles, verifierFiles, schema }: SeedToMeasure,
  { program, runs, unsandboxed }: SeedMeasurement,
  signal: AbortSignal,
): Promise<Preflight> {
  const checked = createCandidateCheck(contract, schema)(seedFiles, seedFiles);
  if (checked.kind === 'invalid') {
    const { code, message } = checked;
    return { measurements: [], ranks: [], seed: { verdict: { kind: 'invalid', code, message }, runs: [], blobs: [] }, unstable: [] };
  }
  return preflight(
    { verifiers, monotonicMs: () => performance.now() },
    { contract, tree: seedTree, files: seedFiles, verifierFiles, program, unsandboxed },
    runs,
    signal,
  );
}

/** How long the executions of a preflight took: nearest-rank percentiles; null without any. */
export function verifierTimes({ seed: { runs } }: Preflight): { executions: number; medianMs: number; p95Ms: number } | null {
  const sorted = runs.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  const [medianMs, p95Ms] = [at(0.5), at(0.95)];
  return medianMs === undefined || p95Ms === undefined ? null : { executions: sorted.length, medianMs, p95Ms };
}

/** What `budget` buys at what the seed's measurements took in the median. */
export const forecastOf = (contract: Contract, budget: Budget, slots: number, seed: Preflight): Forecast =>
  forecastRun(budget, { slots, measurement: contract.measurement, verifierMs: verifierTimes(seed)?.medianMs ?? 0 });

/** The forecast in a sentence. */
export function forecastText({ attempts, dimension, few }: Forecast): string {
  const what = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  return dimension === 'attempts'
    ? `the budget is ${what}${few ? ', which is very few' : ''}`
    : `the budget buys at least ${what}, limited by ${dimensionWords[dimension]}${few ? ', which is very few' : ''}`;
}
