// One chat server: what it is, how it counts, and one completion at a time through a limiter.
import { z } from 'zod';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { type ChatAnswer, AnswerReader, isEventStream, type ReadOptions } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { createLimiter } from './limiter.ts';
import { chatBody, type ChatMessage, type ChatRequest, type ServerAbilities } from './request.ts';
import { createTransport, type TransportOptions } from './transport.ts';

export type ServedModel = { readonly id: string; readonly root: string | null; readonly maxModelLen: number | null };

export type ServerIdentity = {
  /** Of `/version`, which vLLM has; null elsewhere. */
  readonly version: string | null;
  readonly models: readonly ServedModel[];
};

/** What stands in the way of asking a server who it is. */
export class ServerProblem extends Error {
  override readonly name = 'ServerProblem';
}

export type Progress = { readonly content: string; readonly reasoning: string };

export type ChatClient = {
  readonly baseUrl: string;
  /** Throws a ServerProblem in words that say what to do. */
  identify(signal: AbortSignal): Promise<ServerIdentity>;
  /** Tokens of the messages under the server's own template; null where it cannot count. */
  countTokens(model: string, messages: readonly ChatMessage[], signal: AbortSignal): Promise<number | null>;
  /** One request. Rejects only when `signal` aborts while it waits for room. */
  complete(
    request: ChatRequest,
    abilities: ServerAbilities,
    options: ReadOptions & { readonly signal: AbortSignal; readonly id?: string; readonly onProgress?: (progress: Progress) => void },
  ): Promise<{ readonly exchange: Exchange; readonly answer: ChatAnswer }>;
  /** Text of `/metrics`; null where there is none. */
  metrics(signal: AbortSignal): Promise<string | null>;
  close(): Promise<void>;
};

export type ChatClientOptions = TransportOptions & { readonly concurrency: number };

const Models = z.object({
  data: z.array(z.object({ id: z.string(), root: z.string().nullish(), max_model_len: z.number().nullish() })),
});
const Version = z.object({ version: z.string() });
const Tokenized = z.object({ count: z.int().min(0) });

const askMs = 10_000;
const decoder = new TextDecoder();

const parsed = <T extends z.ZodType>(schema: T, { response }: Exchange): z.output<T> | null => {
  if (response === null || response.status !== 200) return null;
  try {
    return schema.safeParse(JSON.parse(decoder.decode(response.body))).data ?? null;
  } catch {
    return null;
  }
};

export function createChatClient({ concurrency, ...options }: ChatClientOptions): ChatClient {
  const transport = createTransport(options);
  const limiter = createLimiter(concurrency);
  return {
    baseUrl: options.baseUrl,
    identify: async (signal) => {
      const [models, version] = await Promise.all([
        transport.get('models', { signal, timeoutMs: askMs }),
        transport.get('../version', { signal, timeoutMs: askMs }),
      ]);
      signal.throwIfAborted();
      const list = parsed(Models, models);
      if (list === null) {
        const { response, failure } = models;
        const what =
          response === null
            ? (failure?.message ?? 'no response came')
            : response.status === 401
              ? 'it asks for a key (401): name the variable that holds it'
              : `${options.baseUrl}/models answered ${response.status} and no list of models`;
        throw new ServerProblem(what);
      }
      return {
        version: parsed(Version, version)?.version ?? null,
        models: list.data.map(({ id, root = null, max_model_len: length = null }) => ({ id, root, maxModelLen: length })),
      };
    },
    countTokens: async (model, messages, signal) => {
      const body = new TextEncoder().encode(
        canonicalJson({ model, messages: messages.map(({ role, content }) => ({ role, content })), add_generation_prompt: true }),
      );
      const exchange = await transport.post('../tokenize', body, { signal });
      signal.throwIfAborted();
      return parsed(Tokenized, exchange)?.count ?? null;
    },
    complete: (request, abilities, { signal, id, onProgress, ...read }) =>
      limiter.run(signal, async () => {
        const reader = new AnswerReader(read);
        const exchange = await transport.post('chat/completions', chatBody(request, abilities), {
          signal,
          ...(id === undefined ? {} : { id }),
          onBytes: (bytes, contentType) => {
            if (!isEventStream(contentType)) return;
            reader.push(bytes);
            onProgress?.({ content: reader.content, reasoning: reader.reasoning });
          },
        });
        return { exchange, answer: reader.finish(exchange) };
      }),
    metrics: async (signal) => {
      const { response } = await transport.get('../metrics', { signal, timeoutMs: askMs });
      signal.throwIfAborted();
      return response?.status === 200 ? decoder.decode(response.body) : null;
    },
    close: () => transport.close(),
  };
}
