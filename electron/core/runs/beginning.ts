// What a new run begins with: a task's folder, or a certified bundle of an earlier run and nothing but the store's copies.
import { hash } from 'node:crypto';
import { RpcError } from '#shared/contract/errors.ts';
import type { RunStart } from '#shared/contract/run.ts';
import { budgetWith } from '#shared/domain/budget.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { RunHeader } from '#shared/domain/header.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { ensure } from '#shared/lib/assert.ts';
import type { BlobInput, CreateRun, ResumeState, Store, TreeInput } from '#electron/store/api.ts';
import type { VerifierService } from '#electron/verifiers/api.ts';
import type { ChatServers } from '../servers/chat-servers.ts';
import type { LoadedTask } from '../tasks/load-task.ts';
import { humanSpec, newProposer, proposerOf } from './proposers.ts';
import { noSuchRun } from './run-views.ts';
import { prepareTask, programOf, sandboxOrRefuse } from './seed.ts';
import { loadFiles, schemaOf } from './stored-files.ts';
import { watchTask } from './watch-task.ts';

/** K of the stop `verifier_dead`. */
const verifierDeadAfter = 8;

export type Beginning = {
  readonly header: RunHeader;
  readonly contract: Contract;
  readonly task: CreateRun['task'];
  readonly seedFiles: readonly TreeFile[];
  readonly verifierFiles: readonly TreeFile[];
  readonly schema: Uint8Array | null;
  /** What the store does not hold yet. */
  readonly blobs: readonly BlobInput[];
  readonly trees: readonly TreeInput[];
  readonly from?: CreateRun['from'];
  /** Made once the run exists; see GovernorDeps. */
  readonly contractChanged: (state: ResumeState) => () => Promise<string | null>;
};

type Deps = { readonly store: Store; readonly verifiers: VerifierService; readonly servers: ChatServers };

/** Throws bad_input for what cannot be started, naming the field, and not_found for a bundle that is not there. */
export function prepareRun(deps: Deps, input: RunStart): Promise<Beginning> {
  if (input.from !== undefined) return fromBundle(deps, input, input.from);
  return fromTask(deps, input, ensure(input.task, 'task of a run that is no branch'));
}

// Nothing to be let off from in a task that runs no candidate code: its header is that of every other.
const runsFreely = (input: RunStart, { verifier }: Contract): boolean =>
  input.unsandboxed === true && verifier.runsCandidate && verifier.kind === 'command';

// Two candidates of one person for the same base are two attempts, one after the other: the second is written knowing the first's verdict.
function refuseSlots({ proposer, slots }: RunStart): void {
  if (proposer === 'human' && slots !== 1)
    throw new RpcError('bad_input', `a person proposes one candidate at a time, so slots is 1 and not ${slots}`, { field: 'slots' });
}

async function fromTask({ store, verifiers, servers }: Deps, input: RunStart, folder: string): Promise<Beginning> {
  refuseSlots(input);
  const { task, contract } = await prepareTask(folder, input);
  const { info } = task;
  const { spec, blobs } = await newProposer(servers, store, input.proposer, input, info);
  const unsandboxed = runsFreely(input, contract);
  const sandbox = await sandboxOrRefuse(verifiers, contract, unsandboxed);
  const header = RunHeader.parse({
    format: 'pawl.header/1',
    contract: contract.sha,
    seedTree: task.seedTree,
    proposer: spec,
    slots: input.slots,
    seed: input.seed,
    budget: budgetWith(task.budget, input),
    verifierDeadAfter,
    parent: null,
    verifierProgram: await programOf(verifiers, task),
    ...(unsandboxed ? { unsandboxed } : {}),
    ...sandbox,
  });
  return {
    header,
    contract,
    task: { id: info.id, title: info.title, path: info.path },
    seedFiles: task.seedFiles,
    verifierFiles: task.verifierFiles,
    schema: task.schemaFile?.bytes ?? null,
    blobs: [...blobsOf(task), ...blobs],
    trees: [{ tree: task.seedTree, manifest: task.seedManifest }],
    contractChanged: (state) => watchTask(info.path, state, task),
  };
}

/**
 * A branch goes on under the contract of the run that it comes from. Its verifier, schema and seed are the store's copies, so that it does
 * not matter what has become of the task's folder, and nobody watches it.
 */
async function fromBundle({ store, verifiers }: Deps, input: RunStart, from: NonNullable<RunStart['from']>): Promise<Beginning> {
  const parent = await store.getRun(from.run);
  if (parent === null) throw noSuchRun(from.run);
  const found = await store.getBundle(from);
  const state = await store.getResumeState(from.run);
  if (found === null || state === null)
    throw new RpcError('not_found', `run ${from.run} has no bundle ${from.seq} to branch from`, { field: 'from' });
  for (const field of ['quarantine', 'median'] as const) {
    if ((input[field] ?? []).length > 0)
      throw new RpcError('bad_input', 'a branch goes on under the contract of its parent; another contract is a new run of the task', {
        field,
      });
  }
  for (const field of ['command', 'record', 'server'] as const) {
    if (input[field] !== undefined)
      throw new RpcError(
        'bad_input',
        'a branch is proposed as its parent was, or by a person; another proposer needs a task to be set up',
        { field },
      );
  }
  const { bundle, files } = found;
  const { contract, header: before, task } = state;
  if (bundle.contract !== contract.sha)
    throw new RpcError('bad_input', `bundle ${from.seq} was certified under another contract than the run has now`, { field: 'from' });
  if (input.proposer !== before.proposer.kind && input.proposer !== 'human') {
    throw new RpcError(
      'bad_input',
      `the run was proposed by "${before.proposer.kind}" and its branches are too, or by a person ("human"); "${input.proposer}" needs a task to be set up`,
      { field: 'proposer' },
    );
  }
  refuseSlots(input);
  const proposer = input.proposer === 'human' ? humanSpec : proposerOf(before);
  const unsandboxed = runsFreely(input, contract);
  const sandbox = await sandboxOrRefuse(verifiers, contract, unsandboxed);
  const header = RunHeader.parse({
    format: 'pawl.header/1',
    contract: contract.sha,
    seedTree: bundle.tree,
    proposer: { kind: proposer.kind, version: proposer.version, options: proposer.options },
    slots: input.slots,
    seed: input.seed,
    budget: budgetWith(before.budget, input),
    verifierDeadAfter: before.verifierDeadAfter,
    parent: bundle.id,
    verifierProgram: await programNow(verifiers, contract, task.path, before),
    ...(unsandboxed ? { unsandboxed } : {}),
    ...sandbox,
  });
  const [seedFiles, verifierFiles, schema] = await Promise.all([
    loadFiles(store, files),
    loadFiles(store, contract.verifier.files),
    schemaOf(store, contract),
  ]);
  return {
    header,
    contract,
    task,
    seedFiles,
    verifierFiles,
    schema,
    blobs: [],
    trees: [],
    from: { ...from, transitions: parent.transitions },
    contractChanged: () => () => Promise.resolve(null),
  };
}

// The program as this machine has it now; one that came with the task's folder is the parent's where the folder is gone.
async function programNow(
  verifiers: VerifierService,
  { verifier }: Contract,
  folder: string,
  before: RunHeader,
): Promise<RunHeader['verifierProgram']> {
  if (verifier.kind !== 'command') return null;
  const resolved = await verifiers.resolveProgram(verifier.command, folder);
  return 'error' in resolved ? before.verifierProgram : { path: resolved.path, version: resolved.version };
}

// Everything that verifications will need, so that the run depends on its folder no more.
function blobsOf({ seedFiles, verifierFiles, schemaFile, instruction }: LoadedTask): BlobInput[] {
  const all = [...seedFiles, ...verifierFiles, ...(schemaFile === null ? [] : [schemaFile])].map(({ bytes }) => bytes);
  return [...all, instruction].map((bytes) => ({ sha: hash('sha256', bytes, 'hex'), bytes }));
}
