// A model behind an OpenAI-shaped server as the proposer: one request an attempt, the answer's text made a tree by an edit format. What the
// model says about itself decides nothing.
import { z } from 'zod';
import type { Obligation } from '#shared/domain/obligation.ts';
import { retrievalVersion } from '#shared/domain/retrieve.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { err, type Result } from '#shared/lib/result.ts';
import { type ChatAnswer, outcomeText, readAnswer } from './chat/answer.ts';
import type { ChatClient } from './chat/client.ts';
import { decodeResponse, encodeResponse, type Exchange, StoredExchange } from './chat/exchange.ts';
import { chatBody, type ChatRequest, Sampling, type ServerAbilities } from './chat/request.ts';
import { EditFormat, editVersion, materialiseAnswer } from './materialise/materialise.ts';
import { editAnswerSchema } from './materialise/structured.ts';
import { fitPrompt, promptVersion } from './prompt/prompt.ts';
import type { MaterialiseError, ProposalResult, Proposer } from './proposer.ts';
import { readStored } from './tree-changes.ts';

/** What stands in the header: all that determines what is asked and what is made of an answer. No address and no key. */
export const OpenAiOptions = z.strictObject({
  model: z.string().min(1),
  sampling: Sampling,
  /** Tokens that a prompt may take. */
  maxPromptTokens: z.int().min(1),
  edit: z.strictObject({ format: EditFormat, version: z.literal(editVersion) }),
  prompt: z.strictObject({ version: z.literal(promptVersion) }),
  /** The chat template opens reasoning in the prompt, so that an answer begins inside it. */
  startsInReasoning: z.boolean(),
  abilities: z.strictObject({
    vllm: z.boolean(),
    logprobs: z.boolean(),
    structured: z.enum(['response_format', 'structured_outputs']).nullable(),
  }),
  memory: z.strictObject({ version: z.literal(retrievalVersion), k: z.int().min(0), tokenCap: z.int().min(0), quota: z.int().min(0) }),
  /** How often a request that got no answer is sent again, each time as a request of its own in record and budget. */
  retries: z.int().min(0).max(10),
  /** Nothing of a conversation is carried from one proposal to the next. */
  latent: z.literal('none'),
});
export type OpenAiOptions = z.infer<typeof OpenAiOptions>;

/** Raised when the same header could ask something else, or a stored response give another tree. */
export const openAiVersion = 1;

export const openAiMemory = { version: retrievalVersion, k: 8, tokenCap: 4_000, quota: 4 } as const;

/** The server is not there or cannot generate: a fact about this machine, not about a candidate. The round is aborted and the run can go on later. */
export class ProposerLost extends Error {
  override readonly name = 'ProposerLost';
}

const Response = z.strictObject({
  format: z.literal('pawl.chat/1'),
  exchanges: z.array(StoredExchange).min(1),
  startsInReasoning: z.boolean(),
  maxTokens: z.int().min(1),
  edit: EditFormat,
});
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The seed of an attempt: different for each draw, the same when the draw is repeated, and never negative (-1 is none to vLLM). */
export const seedOf = (seed: number, draw: number): number => (seed + draw) % 2 ** 31;

const responseBytes = (exchanges: readonly Exchange[], { edit, sampling, startsInReasoning }: OpenAiOptions): Uint8Array =>
  encoder.encode(
    canonicalJson({
      format: 'pawl.chat/1',
      exchanges: exchanges.map(encodeResponse),
      startsInReasoning,
      maxTokens: sampling.maxTokens,
      edit: edit.format,
    }),
  );

const problemOf = ({ outcome, split }: ChatAnswer): string | null => {
  if (outcome.kind !== 'answered') return outcomeText(outcome);
  return split.from === 'open' ? 'the answer is all reasoning: it ended before </think>' : null;
};

/** The last answer in a stored response; null where the bytes are none. */
export function readChatResponse(response: Uint8Array): { readonly answer: ChatAnswer; readonly edit: EditFormat } | null {
  const stored = readStored(Response, response);
  const last = stored?.exchanges.at(-1);
  if (stored === null || last === undefined) return null;
  return {
    answer: readAnswer(decodeResponse(last), { startsInReasoning: stored.startsInReasoning, maxTokens: stored.maxTokens }),
    edit: stored.edit,
  };
}

/** How often a request was sent again before the stored response was whole, and how often of these although the server had answered; null for another response. */
export function resentRequests(response: Uint8Array): { readonly resent: number; readonly freely: number } | null {
  const stored = readStored(Response, response);
  if (stored === null) return null;
  const { startsInReasoning, maxTokens } = stored;
  const before = stored.exchanges.slice(0, -1);
  const freely = before.filter(
    (exchange) => standingOf(readAnswer(decodeResponse(exchange), { startsInReasoning, maxTokens })) !== 'again',
  );
  return { resent: before.length, freely: freely.length };
}

/** Pure. Only a whole answer is a candidate; a cut one is `no_candidate` with what cut it. */
export function materialiseOpenAi(response: Uint8Array, base: readonly TreeFile[]): Result<readonly TreeFile[], MaterialiseError> {
  const read = readChatResponse(response);
  if (read === null) return err({ code: 'no_candidate', message: 'the stored response is not a pawl.chat/1 document' });
  const problem = problemOf(read.answer);
  if (problem !== null) return err({ code: 'no_candidate', message: problem });
  return materialiseAnswer(read.edit, read.answer.split.answer, base);
}

export type OpenAiInput = {
  readonly options: OpenAiOptions;
  readonly client: Pick<ChatClient, 'baseUrl' | 'complete' | 'countTokens'>;
  readonly instruction: Uint8Array;
  readonly obligations: readonly Obligation[];
  readonly isWritable: (path: string) => boolean;
  /** Waits before a repetition; rejects when `signal` aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
};

const firstPauseMs = 500;
const longestPauseMs = 8_000;

/** Tokens of one exchange; null where they are not known and may have been spent all the same. */
const tokensOf = ({ usage, outcome }: ChatAnswer): { readonly prompt: number; readonly completion: number } | null => {
  if (usage !== null) return { prompt: usage.promptTokens, completion: usage.completionTokens };
  return outcome.kind === 'http_error' || outcome.kind === 'unreachable' ? { prompt: 0, completion: 0 } : null;
};

const usageOf = (answers: readonly ChatAnswer[]): ProposalResult['usage'] => {
  const tokens = answers.map(tokensOf);
  const known = tokens.flatMap((one) => (one === null ? [] : [one]));
  if (known.length < tokens.length) return 'missing';
  return {
    requests: answers.length,
    promptTokens: known.reduce((sum, { prompt }) => sum + prompt, 0),
    completionTokens: known.reduce((sum, { completion }) => sum + completion, 0),
  };
};

/** What an outcome says about the server: `again` where a repetition may help, `lost` where it cannot, null where it answered. */
const standingOf = ({ outcome }: ChatAnswer): 'again' | 'lost' | null => {
  switch (outcome.kind) {
    case 'unreachable':
      return 'again';
    case 'http_error':
    case 'error_in_stream':
      switch (outcome.error.class) {
        case 'overloaded':
          return 'again';
        case 'unauthorised':
        case 'not_found':
        case 'engine_dead':
          return 'lost';
        case 'context_length':
        case 'model_output':
        case 'bad_request':
        case 'server_error':
          return null;
        default:
          return outcome.error.class satisfies never;
      }
    case 'answered':
    case 'truncated':
    case 'aborted_by_server':
    case 'repetition':
    case 'cut':
    case 'stalled':
    case 'aborted_by_user':
    case 'malformed':
      return null;
    default:
      return outcome satisfies never;
  }
};

export function createOpenAiProposer({ options, client, instruction, obligations, isWritable, pause }: OpenAiInput): Proposer {
  const { model, sampling, maxPromptTokens, edit, startsInReasoning, abilities, memory: limits, retries } = options;
  const text = decoder.decode(instruction);
  return {
    kind: 'openai',
    version: openAiVersion,
    options,
    memory: limits,
    reserved: { requests: 1 + retries, promptTokens: maxPromptTokens, completionTokens: sampling.maxTokens },
    propose: async ({ n, draw, seed, base, rank, memory }, signal) => {
      const fitted = await fitPrompt(
        { instruction: text, obligations, rank, base, isWritable, memory, format: edit.format },
        maxPromptTokens,
        (messages) => client.countTokens(model, messages, signal),
      );
      if (fitted.kind === 'too_long') {
        const message = `the prompt takes ${fitted.tokens} tokens without anything that could be left out, and ${fitted.limit} are allowed`;
        return {
          request: encoder.encode(canonicalJson({ format: 'pawl.chat.request/1', n, draw, body: null, problem: message })),
          response: null,
          usage: { requests: 0, promptTokens: 0, completionTokens: 0 },
          error: { code: 'context_length', message },
        };
      }
      const request: ChatRequest = {
        model,
        messages: fitted.messages,
        sampling,
        seed: seedOf(seed, draw),
        ...(edit.format === 'json' ? { schema: editAnswerSchema } : {}),
      };
      const exchanges: Exchange[] = [];
      const answers: ChatAnswer[] = [];
      let answer: ChatAnswer;
      for (;;) {
        const done = await client.complete(request, abilities, { signal, startsInReasoning, maxTokens: sampling.maxTokens });
        signal.throwIfAborted();
        exchanges.push(done.exchange);
        answers.push(done.answer);
        ({ answer } = done);
        const standing = standingOf(answer);
        if (standing === null) break;
        if (standing === 'lost' || answers.length > retries)
          throw new ProposerLost(`the model server at ${client.baseUrl}: ${outcomeText(answer.outcome)}`);
        await pause(Math.min(longestPauseMs, firstPauseMs * 2 ** (answers.length - 1)), signal);
      }
      const problem = problemOf(answer);
      return {
        // The exact bytes that went out stand in it as text; they are canonical JSON already.
        request: encoder.encode(
          canonicalJson({
            format: 'pawl.chat.request/1',
            n,
            draw,
            body: decoder.decode(chatBody(request, abilities)),
            left: fitted.left,
            counted: fitted.tokens,
          }),
        ),
        response: responseBytes(exchanges, options),
        usage: usageOf(answers),
        ...(problem === null ? {} : { error: { code: answer.outcome.kind, message: problem } }),
      };
    },
    materialise: materialiseOpenAi,
  };
}

/** Options of a new run. `context` is the model's context length in tokens, null where the server does not say. */
export function openAiOptions(
  given: {
    readonly model: string;
    readonly sampling: Sampling;
    readonly format: EditFormat;
    readonly startsInReasoning: boolean;
    readonly abilities: ServerAbilities;
  },
  maxPromptTokens: number,
): OpenAiOptions {
  const { model, sampling, format, startsInReasoning, abilities } = given;
  return {
    model,
    sampling,
    maxPromptTokens,
    edit: { format, version: editVersion },
    prompt: { version: promptVersion },
    startsInReasoning,
    abilities: { ...abilities },
    memory: openAiMemory,
    retries: 3,
    latent: 'none',
  };
}
