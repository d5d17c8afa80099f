// Which proposers this version has, and how one is made: from a start for a new run, from the header for one that goes on or is replayed.
import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { RpcError } from '#shared/contract/errors.ts';
import type { ModelChoice, RunStart } from '#shared/contract/run.ts';
import type { TaskInfo } from '#shared/contract/task.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { type ProposerKind, RunHeader } from '#shared/domain/header.ts';
import { ensure } from '#shared/lib/assert.ts';
import {
  CommandOptions,
  commandOptions,
  commandRegistrations,
  commandVersion,
  createCommandProposer,
  materialiseCommand,
} from '#electron/proposers/command.ts';
import { humanVersion, isHumanResponse, materialiseHuman } from '#electron/proposers/human.ts';
import { ServerProblem } from '#electron/proposers/chat/client.ts';
import { neutralSampling, type Sampling } from '#electron/proposers/chat/request.ts';
import { createOpenAiProposer, materialiseOpenAi, OpenAiOptions, openAiOptions, openAiVersion } from '#electron/proposers/openai.ts';
import type { Proposer, ResponseReader } from '#electron/proposers/proposer.ts';
import { createRecordedProposer, readRecord, recordBytes, RecordedOptions, recordedVersion } from '#electron/proposers/recorded.ts';
import { createSearchProposer, materialiseSearch, SearchOperator, searchOperators } from '#electron/proposers/search.ts';
import type { BlobInput, RunServer, Store } from '#electron/store/api.ts';
import { writableMatcher } from '#shared/domain/writable.ts';
import type { ProgramService } from '#electron/verifiers/program-api.ts';
import type { ChatServers } from '../servers/chat-servers.ts';
import { noSuchRun } from './run-views.ts';

type Spec = RunHeader['proposer'];

const Operators = z.array(SearchOperator).min(1);
const SearchOptions = z.strictObject({
  operators: Operators,
  /** Protected globs of the task; absent where it has none. */
  except: z.exactOptional(z.array(z.string()).min(1)),
});

/** Where the documented start of a vLLM listens. */
const usualBaseUrl = 'http://127.0.0.1:8001/v1';
const usualMaxTokens = 8_192;
/** Of a server that does not say how long its model's context is. */
const usualContext = 32_768;
const identifyMs = 20_000;

/** Milliseconds that a program may take unless said. */
const commandTimeoutMs = 600_000;

/** What names the proposer in the header of a new run, and the objects that it needs in the store. */
export type NewProposer = { readonly spec: Spec; readonly blobs: readonly BlobInput[] };

/** Throws bad_input, naming the field, for what a start does not say or says too much of, and not_found for a run that is not there. */
export async function newProposer(
  servers: ChatServers,
  store: Pick<Store, 'getRun' | 'getResponses' | 'getBlob'>,
  kind: ProposerKind,
  { command, record, server }: Pick<RunStart, 'command' | 'record' | 'server'>,
  task: Pick<TaskInfo, 'path' | 'operators' | 'contract'>,
): Promise<NewProposer> {
  if (command !== undefined && kind !== 'command') throw new RpcError('bad_input', belongs('command', 'command'), { field: 'command' });
  if (record !== undefined && kind !== 'recorded') throw new RpcError('bad_input', belongs('record', 'recorded'), { field: 'record' });
  if (server !== undefined && kind !== 'openai') throw new RpcError('bad_input', belongs('server', 'openai'), { field: 'server' });
  switch (kind) {
    case 'openai':
      return { spec: await openAiSpec(servers, server ?? { baseUrl: usualBaseUrl }), blobs: [] };
    case 'search': {
      const { version, options } = searchFor(task);
      return { spec: RunHeader.shape.proposer.parse({ kind, version, options }), blobs: [] };
    }
    case 'command': {
      if (command === undefined)
        throw new RpcError('bad_input', 'the proposer "command" needs the command that is to be run', { field: 'command' });
      const options = commandOptions(command.command, command.timeoutMs ?? commandTimeoutMs);
      return { spec: { kind, version: commandVersion, options }, blobs: [] };
    }
    case 'recorded': {
      if (record === undefined)
        throw new RpcError('bad_input', 'the proposer "recorded" needs the run whose responses it gives again', { field: 'record' });
      const source = await store.getRun(record);
      if (source === null) throw noSuchRun(record);
      const responses = await store.getResponses(record);
      // A record of a record is that record's.
      const of = source.header.proposer.kind === 'recorded' ? recordedOf(source.header.proposer).of : source.header.proposer;
      readerOf(of);
      const bytes = recordBytes(responses);
      const sha = hash('sha256', bytes, 'hex');
      const options: RecordedOptions = { of, record: sha, attempts: responses.length };
      return { spec: { kind, version: recordedVersion, options }, blobs: [{ sha, bytes }] };
    }
    case 'human':
      return { spec: humanSpec, blobs: [] };
    default:
      return kind satisfies never;
  }
}

/** The proposer `human` as it stands in a header: nothing but the person determines what is proposed. */
export const humanSpec: Spec = { kind: 'human', version: humanVersion, options: {} };

const belongs = (field: string, kind: string): string => `${field} belongs to the proposer "${kind}" and to no other`;

function searchFor(task: Pick<TaskInfo, 'path' | 'operators' | 'contract'>): Proposer {
  const operators = Operators.safeParse(task.operators);
  if (!operators.success) {
    const names = searchOperators.map(({ name }) => name).join(', ');
    throw new RpcError('bad_input', `the search needs at least one operator, of these: ${names}`, {
      file: `${task.path}/task.toml`,
      field: 'search.operators',
    });
  }
  const { protectedPaths } = task.contract.artifact;
  return createSearchProposer({ operators: operators.data, ...(protectedPaths.length === 0 ? {} : { except: protectedPaths }) });
}

const incompatible = ({ kind, version }: Spec): RpcError =>
  new RpcError(
    'incompatible',
    `the run was started with the proposer "${kind}" version ${version}, which this version of Pawl cannot go on with`,
  );

function searchOf(spec: Spec): Proposer {
  const options = SearchOptions.safeParse(spec.options);
  const made = spec.kind === 'search' && options.success ? createSearchProposer(options.data) : null;
  if (made?.version !== spec.version) throw incompatible(spec);
  return made;
}

function commandOf(spec: Spec): CommandOptions {
  const options = CommandOptions.safeParse(spec.options);
  if (spec.version !== commandVersion || !options.success) throw incompatible(spec);
  return options.data;
}

function recordedOf(spec: Spec): RecordedOptions {
  const options = RecordedOptions.safeParse(spec.options);
  if (spec.version !== recordedVersion || !options.success) throw incompatible(spec);
  return options.data;
}

// How the responses of a proposer are read. Throws incompatible where this version would make something else of them.
function readerOf(spec: Spec): ResponseReader {
  switch (spec.kind) {
    case 'search':
      searchOf(spec);
      return { materialise: materialiseSearch };
    case 'command':
      commandOf(spec);
      return { materialise: materialiseCommand, registrations: commandRegistrations };
    case 'recorded':
      return readerOf(recordedOf(spec).of);
    case 'human':
      if (spec.version !== humanVersion) throw incompatible(spec);
      return { materialise: materialiseHuman };
    case 'openai':
      openAiOf(spec);
      return { materialise: materialiseOpenAi };
    default:
      return spec.kind satisfies never;
  }
}

// A person may propose in any run: such a response is known by its own form, whoever proposes otherwise.
const orHuman = ({ materialise, registrations }: ResponseReader): ResponseReader => ({
  materialise: (response, base) => (isHumanResponse(response) ? materialiseHuman(response, base) : materialise(response, base)),
  ...(registrations === undefined ? {} : { registrations: (response) => (isHumanResponse(response) ? [] : registrations(response)) }),
});

/**
 * The proposer that a run's header names, as far as stored responses are concerned. Throws incompatible when this version would make
 * something else of them, or propose something else under that name.
 */
export function proposerOf({ proposer }: Pick<RunHeader, 'proposer'>): Pick<Proposer, 'kind' | 'version' | 'options'> & ResponseReader {
  return { ...proposer, ...orHuman(readerOf(proposer)) };
}

export type LiveProposerDeps = { readonly store: Pick<Store, 'getBlob'>; readonly programs: ProgramService; readonly servers: ChatServers };

/** The proposer that a run's header names, ready to propose. Throws as `proposerOf` does, and conflict where only a person can. */
export async function liveProposer(
  { store, programs, servers }: LiveProposerDeps,
  { proposer: spec }: Pick<RunHeader, 'proposer'>,
  contract: Pick<Contract, 'instruction' | 'artifact' | 'obligations'>,
  server: RunServer | null,
): Promise<Proposer> {
  const reader = orHuman(readerOf(spec));
  switch (spec.kind) {
    case 'search':
      return { ...searchOf(spec), ...reader };
    case 'command': {
      const instruction = ensure(await store.getBlob(contract.instruction), 'the instruction in the store');
      const { maxFiles, maxBytes } = contract.artifact;
      const run = programs.runProgram.bind(programs);
      return { ...createCommandProposer({ options: commandOf(spec), instruction, maxFiles, maxBytes, run }), ...reader };
    }
    case 'recorded': {
      const options = recordedOf(spec);
      const list = await store.getBlob(options.record);
      const responses = ensure(list === null ? null : readRecord(list), `the record ${options.record} in the store`);
      const load = async (sha: string) => ensure(await store.getBlob(sha), `the recorded response ${sha} in the store`);
      return createRecordedProposer({ options, responses, load, reader });
    }
    case 'human':
      throw new RpcError('conflict', 'a person proposes in this run, and it waits for that');
    case 'openai': {
      const instruction = ensure(await store.getBlob(contract.instruction), 'the instruction in the store');
      const client = servers.client(server ?? { baseUrl: usualBaseUrl, keyVariable: null });
      const { obligations, artifact } = contract;
      const options = openAiOf(spec);
      const isWritable = writableMatcher(artifact);
      return { ...createOpenAiProposer({ options, client, instruction, obligations, isWritable, pause }), ...reader };
    }
    default:
      return spec.kind satisfies never;
  }
}

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  await setTimeout(ms, undefined, { signal });
};

function openAiOf(spec: Spec): OpenAiOptions {
  const options = OpenAiOptions.safeParse(spec.options);
  if (spec.version !== openAiVersion || !options.success) throw incompatible(spec);
  return options.data;
}

/** Asks the server which models it has. Throws unavailable where it does not answer, bad_input where the model is not one of them. */
async function openAiSpec(servers: ChatServers, choice: ModelChoice): Promise<Spec> {
  const { baseUrl, keyVariable = null, maxTokens = usualMaxTokens } = choice;
  const client = servers.client({ baseUrl, keyVariable });
  const { version, models } = await client.identify(AbortSignal.timeout(identifyMs)).catch((error: unknown) => {
    if (error instanceof ServerProblem)
      throw new RpcError('unavailable', `the model server at ${client.baseUrl}: ${error.message}`, { field: 'server.baseUrl' });
    throw error;
  });
  const names = models.map(({ id }) => id).join(', ');
  const only = models.length === 1 ? models[0] : undefined;
  const model = choice.model === undefined ? only : models.find(({ id }) => id === choice.model);
  if (model === undefined) {
    const what = choice.model === undefined ? 'say which model' : `it does not serve ${JSON.stringify(choice.model)}`;
    throw new RpcError('bad_input', `the model server at ${client.baseUrl}: ${what}; it has ${names === '' ? 'none' : names}`, {
      field: 'server.model',
    });
  }
  const context = model.maxModelLen ?? usualContext;
  const maxPromptTokens = choice.maxPromptTokens ?? context - maxTokens;
  if (maxPromptTokens < 1 || (model.maxModelLen !== null && maxPromptTokens + maxTokens > model.maxModelLen)) {
    throw new RpcError(
      'bad_input',
      `${maxTokens} tokens of an answer and ${Math.max(0, maxPromptTokens)} of a prompt do not fit the ${context} of ${model.id}; allow fewer`,
      { field: 'server.maxTokens' },
    );
  }
  const { temperature, topP, topK, minP } = neutralSampling;
  const sampling: Sampling = {
    ...neutralSampling,
    temperature: choice.temperature ?? temperature,
    topP: choice.topP ?? topP,
    topK: choice.topK ?? topK,
    minP: choice.minP ?? minP,
    maxTokens,
  };
  const vllm = version !== null || model.maxModelLen !== null;
  const options = openAiOptions(
    {
      model: model.id,
      sampling,
      format: choice.edit ?? 'search-replace',
      startsInReasoning: choice.startsInReasoning ?? false,
      abilities: { vllm, logprobs: vllm, structured: choice.edit === 'json' ? 'response_format' : null },
    },
    maxPromptTokens,
  );
  return { kind: 'openai', version: openAiVersion, options };
}
