// From the bytes of a chat completion to what it came to: streamed or not, whole or broken off. Fed as bytes arrive or all at once from a
// record, with the same result. It throws for nothing that a server can send.
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { readServerError, type ServerError, serverErrorOf } from './server-error.ts';
import type { Exchange } from './exchange.ts';
import { splitReasoning, type Split } from './reasoning.ts';

/** Tokens as the server counted them. */
export type ChatUsage = { readonly promptTokens: number; readonly completionTokens: number; readonly cachedTokens: number | null };

export type ToolCall = {
  readonly id: string;
  readonly name: string;
  /** As it came; `parsed` is null where that is no JSON object: it was cut or doubled, and is never repaired. */
  readonly raw: string;
  readonly parsed: Readonly<Record<string, unknown>> | null;
};

/** What a request came to. Only `answered` may become a candidate. */
export type ChatOutcome =
  | { readonly kind: 'answered' }
  /** The model was cut off by a limit: while reasoning (then there is no answer), in its answer or in a tool call. */
  | { readonly kind: 'truncated'; readonly where: 'reasoning' | 'answer' | 'tool_call' }
  /** The server broke off: it was paused, put to sleep or ended. */
  | { readonly kind: 'aborted_by_server' }
  /** The server stopped a model that repeated itself. */
  | { readonly kind: 'repetition' }
  | { readonly kind: 'error_in_stream'; readonly error: ServerError }
  | { readonly kind: 'http_error'; readonly error: ServerError }
  /** The connection or the stream ended before the answer did. */
  | { readonly kind: 'cut'; readonly message: string }
  | { readonly kind: 'stalled'; readonly message: string }
  | { readonly kind: 'aborted_by_user' }
  /** No connection; nothing was generated. */
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'malformed'; readonly message: string };

/** Oddities that did not decide the outcome; each is known from servers in the wild. */
export type Anomaly =
  | 'not_streamed'
  | 'no_done'
  | 'cut_after_finish'
  | 'extra_choice'
  | 'both_reasoning_fields'
  | 'reasoning_not_closed'
  | 'no_usage'
  | 'length_behind_tool_calls'
  | 'unparsed_tool_call'
  | 'token_ids_incomplete';

export type ChatAnswer = {
  readonly outcome: ChatOutcome;
  /** Text as it came, reasoning included where the server does not send it apart. */
  readonly content: string;
  readonly split: Split;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | null;
  /** Null where the server reported none, or something that is no count. */
  readonly usage: ChatUsage | null;
  readonly promptTokenIds: readonly number[] | null;
  /** Ids of the sampled tokens; null where the server sent none. */
  readonly tokenIds: readonly number[] | null;
  /** Natural logarithms, one per sampled token; null stands for what the server writes as -9999 or lower, which is minus infinity or nothing. */
  readonly logprobs: readonly (number | null)[] | null;
  readonly id: string | null;
  readonly model: string | null;
  readonly fingerprint: string | null;
  readonly anomalies: readonly Anomaly[];
};

export type ReadOptions = {
  /** The template opens `<think>` in the prompt (see `splitReasoning`). */
  readonly startsInReasoning: boolean;
  /** What was asked for, to see a limit that the finish reason hides; null where it is not known. */
  readonly maxTokens: number | null;
};

type Dict = Readonly<Record<string, unknown>>;
const isDict = (value: unknown): value is Dict => typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const textOr = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const idsOf = (value: unknown): number[] | null => (Array.isArray(value) && value.every(isCount) ? value : null);

/** Larger than any event that a server sends on purpose. */
const maxEventChars = 64 * 1024 * 1024;

type PartialCall = { id: string | null; name: string | null; parts: string[] };

const parseArguments = (raw: string): Dict | null => {
  try {
    const value: unknown = JSON.parse(raw === '' ? '{}' : raw);
    return isDict(value) ? value : null;
  } catch {
    return null;
  }
};

const usageOf = (value: unknown): ChatUsage | null => {
  if (!isDict(value)) return null;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens, prompt_tokens_details: details } = value;
  if (!isCount(promptTokens) || !isCount(completionTokens)) return null;
  const cached = isDict(details) ? details['cached_tokens'] : null;
  return { promptTokens, completionTokens, cachedTokens: isCount(cached) ? cached : null };
};

export class AnswerReader {
  readonly #options: ReadOptions;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #anomalies = new Set<Anomaly>();
  readonly #calls = new Map<number, PartialCall>();
  readonly #tokenIds: number[] = [];
  readonly #logprobs: (number | null)[] = [];
  #events: EventSourceParser | null = null;
  #content = '';
  #reasoning: string | null = null;
  #finish: string | null = null;
  #usage: ChatUsage | null = null;
  #promptTokenIds: readonly number[] | null = null;
  #id: string | null = null;
  #model: string | null = null;
  #fingerprint: string | null = null;
  #error: ServerError | null = null;
  #done = false;
  #unreadable = 0;
  #chunksWithoutIds = 0;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  /** What has come so far, for a view of a running request. */
  get content(): string {
    return this.#content;
  }

  get reasoning(): string {
    return this.#reasoning ?? '';
  }

  /** Bytes of a stream of events (`text/event-stream`), in any pieces. */
  push(bytes: Uint8Array): void {
    this.#events ??= createParser({
      maxBufferSize: maxEventChars,
      onEvent: ({ data }) => this.#event(data),
      onError: () => {
        // Unknown fields are allowed; a buffer that overflows leaves a stream without its end, which is seen there.
      },
    });
    this.#events.feed(this.#decoder.decode(bytes, { stream: true }));
  }

  #event(data: string): void {
    if (data === '[DONE]') {
      this.#done = true;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      // NaN as a number, or a chunk of two servers' making.
      this.#unreadable++;
      return;
    }
    this.#chunk(value, false);
  }

  #chunk(value: unknown, whole: boolean): void {
    if (!isDict(value)) {
      this.#unreadable++;
      return;
    }
    if ('error' in value || value['object'] === 'error') {
      this.#error ??= serverErrorOf(value, null) ?? {
        class: 'server_error',
        message: JSON.stringify(value).slice(0, 500),
        status: null,
        param: null,
      };
      return;
    }
    this.#id ??= textOr(value['id']);
    this.#model ??= textOr(value['model']);
    this.#fingerprint ??= textOr(value['system_fingerprint']);
    this.#promptTokenIds ??= idsOf(value['prompt_token_ids']);
    this.#usage = usageOf(value['usage']) ?? this.#usage;
    for (const choice of listOf(value['choices'])) {
      if (!isDict(choice)) this.#unreadable++;
      else if (choice['index'] !== undefined && choice['index'] !== 0) this.#anomalies.add('extra_choice');
      else this.#choice(choice, whole);
    }
  }

  #choice(choice: Dict, whole: boolean): void {
    const message = choice[whole ? 'message' : 'delta'];
    let wrote = false;
    if (isDict(message)) {
      const content = textOr(message['content']);
      const reasoning = textOr(message['reasoning']);
      const older = textOr(message['reasoning_content']);
      // Versions in between sent both, with the same text.
      if (reasoning !== null && older !== null) this.#anomalies.add('both_reasoning_fields');
      const thought = reasoning ?? older;
      if (content !== null) this.#content += content;
      if (thought !== null) this.#reasoning = (this.#reasoning ?? '') + thought;
      wrote = (content ?? '') !== '' || (thought ?? '') !== '';
      for (const [at, call] of listOf(message['tool_calls']).entries()) this.#toolCall(call, at);
    }
    const ids = idsOf(choice['token_ids']);
    if (ids !== null) this.#tokenIds.push(...ids);
    else if (wrote) this.#chunksWithoutIds++;
    const { logprobs } = choice;
    if (isDict(logprobs)) {
      for (const entry of listOf(logprobs['content'])) {
        const logprob = isDict(entry) ? entry['logprob'] : null;
        this.#logprobs.push(typeof logprob === 'number' && logprob > -9_999 ? logprob : null);
      }
    }
    this.#finish = textOr(choice['finish_reason']) ?? this.#finish;
  }

  #toolCall(value: unknown, at: number): void {
    if (!isDict(value)) {
      this.#unreadable++;
      return;
    }
    const index = isCount(value['index']) ? value['index'] : at;
    const call = this.#calls.get(index) ?? { id: null, name: null, parts: [] };
    this.#calls.set(index, call);
    const fn = isDict(value['function']) ? value['function'] : {};
    // The first that is not null counts: later chunks repeat them as null.
    call.id ??= textOr(value['id']);
    call.name ??= textOr(fn['name']);
    const part = textOr(fn['arguments']);
    if (part !== null) call.parts.push(part);
  }

  /** The whole body of an answer that was not streamed. */
  #body(body: Uint8Array): void {
    try {
      this.#chunk(JSON.parse(this.#decoder.decode(body)), true);
      this.#done = true;
      this.#anomalies.add('not_streamed');
    } catch {
      this.#unreadable++;
    }
  }

  /** Ends the reading. `exchange` is what happened; its body counts only where it was not pushed as a stream. */
  finish(exchange: Exchange): ChatAnswer {
    const { response } = exchange;
    if (response !== null && response.status >= 200 && response.status < 300 && !isEventStream(response.contentType))
      this.#body(response.body);
    this.#events?.reset({ consume: true });
    const split = splitReasoning(this.#content, this.#reasoning, this.#options.startsInReasoning);
    const toolCalls = [...this.#calls.entries()]
      .sort(([a], [b]) => a - b)
      .map(([, { id, name, parts }]): ToolCall => {
        const raw = parts.join('');
        return { id: id ?? '', name: name ?? '', raw, parsed: parseArguments(raw) };
      });
    const outcome = this.#outcome(exchange, split, toolCalls);
    if (outcome.kind === 'answered' || outcome.kind === 'truncated') {
      if (!this.#done && response?.end === 'complete') this.#anomalies.add('no_done');
      if (response !== null && response.end !== 'complete') this.#anomalies.add('cut_after_finish');
      if (this.#usage === null) this.#anomalies.add('no_usage');
      if (split.from === 'open') this.#anomalies.add('reasoning_not_closed');
      if (`${split.reasoning}${split.answer}`.includes('<tool_call>')) this.#anomalies.add('unparsed_tool_call');
      if (this.#tokenIds.length > 0 && this.#chunksWithoutIds > 0) this.#anomalies.add('token_ids_incomplete');
    }
    return {
      outcome,
      content: this.#content,
      split,
      toolCalls,
      finishReason: this.#finish,
      usage: this.#usage,
      promptTokenIds: this.#promptTokenIds,
      tokenIds: this.#tokenIds.length === 0 ? null : this.#tokenIds,
      logprobs: this.#logprobs.length === 0 ? null : this.#logprobs,
      id: this.#id,
      model: this.#model,
      fingerprint: this.#fingerprint,
      anomalies: [...this.#anomalies].sort(),
    };
  }

  #outcome({ response, failure }: Exchange, split: Split, toolCalls: readonly ToolCall[]): ChatOutcome {
    if (response === null) {
      return failure?.code === 'aborted'
        ? { kind: 'aborted_by_user' }
        : { kind: 'unreachable', message: failure?.message ?? 'no response came' };
    }
    if (response.status < 200 || response.status >= 300)
      return { kind: 'http_error', error: readServerError(response.status, new TextDecoder().decode(response.body)) };
    if (this.#error !== null) return { kind: 'error_in_stream', error: this.#error };
    const finished = this.#finish !== null;
    switch (response.end) {
      case 'aborted':
        if (!finished) return { kind: 'aborted_by_user' };
        break;
      case 'stalled':
        if (!finished) return { kind: 'stalled', message: failure?.message ?? 'the stream went silent' };
        break;
      case 'cut':
        // Without usage nobody can tell whether `tool_calls` hides a limit.
        if (!finished || (this.#finish === 'tool_calls' && this.#usage === null))
          return { kind: 'cut', message: failure?.message ?? 'the connection ended in the middle of the answer' };
        break;
      case 'too_long':
        return { kind: 'malformed', message: failure?.message ?? 'the answer is longer than what is kept' };
      case 'complete':
        break;
      default:
        return response.end satisfies never;
    }
    if (this.#unreadable > 0)
      return { kind: 'malformed', message: `${this.#unreadable} parts of the answer are not what a chat completion is made of` };
    return this.#finished(split, toolCalls);
  }

  #finished(split: Split, toolCalls: readonly ToolCall[]): ChatOutcome {
    const { maxTokens } = this.#options;
    const spent = this.#usage?.completionTokens ?? (this.#tokenIds.length === 0 ? null : this.#tokenIds.length);
    const where = split.from === 'open' || (split.answer === '' && split.reasoning !== '') ? 'reasoning' : 'answer';
    switch (this.#finish) {
      case 'stop':
        return { kind: 'answered' };
      case 'length':
        return { kind: 'truncated', where: toolCalls.some(({ parsed }) => parsed === null) ? 'tool_call' : where };
      case 'tool_calls': {
        const cut = toolCalls.some(({ parsed }) => parsed === null);
        if (cut || (maxTokens !== null && spent !== null && spent >= maxTokens)) {
          this.#anomalies.add('length_behind_tool_calls');
          return { kind: 'truncated', where: 'tool_call' };
        }
        return { kind: 'answered' };
      }
      case 'abort':
        return { kind: 'aborted_by_server' };
      case 'repetition':
        return { kind: 'repetition' };
      case null:
        return {
          kind: 'cut',
          message:
            this.#content === '' && this.#reasoning === null
              ? 'the answer is empty: no choice, no finish reason'
              : 'the stream ended without a finish reason',
        };
      default:
        return {
          kind: 'malformed',
          message: `the finish reason is ${JSON.stringify(this.#finish.slice(0, 100))}, which is none that is known`,
        };
    }
  }
}

/** Whether a content type is that of server-sent events. */
export const isEventStream = (contentType: string): boolean => /^\s*text\/event-stream\s*(?:;|$)/i.test(contentType);

/** Reads a recorded exchange. */
export function readAnswer(exchange: Exchange, options: ReadOptions): ChatAnswer {
  const reader = new AnswerReader(options);
  const { response } = exchange;
  if (response !== null && response.status >= 200 && response.status < 300 && isEventStream(response.contentType))
    reader.push(response.body);
  return reader.finish(exchange);
}

/** An outcome in one sentence, for a record and for people. */
export function outcomeText(outcome: ChatOutcome): string {
  switch (outcome.kind) {
    case 'answered':
      return 'the model answered';
    case 'truncated':
      return outcome.where === 'reasoning'
        ? 'the model was cut off while reasoning, before its answer: allow more tokens, or less reasoning'
        : `the model was cut off in its ${outcome.where === 'answer' ? 'answer' : 'tool call'}: allow more tokens`;
    case 'aborted_by_server':
      return 'the server broke off the answer (it was paused, put to sleep or ended)';
    case 'repetition':
      return 'the server stopped the model because it repeated itself';
    case 'error_in_stream':
      return `the server failed in the middle of the answer: ${outcome.error.message}`;
    case 'http_error':
      return `the server refused the request${outcome.error.status === null ? '' : ` (${outcome.error.status})`}: ${outcome.error.message}`;
    case 'cut':
    case 'stalled':
    case 'unreachable':
    case 'malformed':
      return outcome.message;
    case 'aborted_by_user':
      return 'the request was ended here';
    default:
      return outcome satisfies never;
  }
}
