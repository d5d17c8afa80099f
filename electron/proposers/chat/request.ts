// The body of a chat completion, with every parameter that shapes sampling written out: servers have defaults of their own, and models
// bring others along.
import { z } from 'zod';
import { canonicalJson, type Json } from '#shared/lib/canonical-json.ts';

/** All that sampling depends on; stands in the run's header. `topK` 0 is off. */
export const Sampling = z.strictObject({
  temperature: z.number().min(0),
  topP: z.number().gt(0).max(1),
  topK: z.int().min(0),
  minP: z.number().min(0).max(1),
  repetitionPenalty: z.number().gt(0),
  presencePenalty: z.number(),
  frequencyPenalty: z.number(),
  /** Of one answer, reasoning included. */
  maxTokens: z.int().min(1),
  stop: z.array(z.string().min(1)).max(4),
});
export type Sampling = z.infer<typeof Sampling>;

export const neutralSampling: Omit<Sampling, 'maxTokens'> = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  stop: [],
};

export const ChatMessage = z.union([
  z.strictObject({ role: z.enum(['system', 'user']), content: z.string() }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullable(),
    reasoning: z.exactOptional(z.string()),
    toolCalls: z.exactOptional(z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() }))),
  }),
  z.strictObject({ role: z.literal('tool'), toolCallId: z.string(), content: z.string() }),
]);
export type ChatMessage = z.infer<typeof ChatMessage>;

/** What a server has shown that it understands. Fields that it does not know are left out: some refuse them, most drop them silently. */
export type ServerAbilities = {
  /** vLLM's fields: top_k, min_p, repetition_penalty, return_token_ids. */
  readonly vllm: boolean;
  readonly logprobs: boolean;
  /** How constrained output is asked for; null: not at all. */
  readonly structured: 'response_format' | 'structured_outputs' | null;
};

export type ChatRequest = {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly sampling: Sampling;
  /** An integer of 32 bits from 0: -1 would mean none to vLLM. */
  readonly seed: number;
  /** JSON Schema that the answer has to fit, where the server can constrain it. Whether it does is checked here all the same. */
  readonly schema?: Json;
  /** Passed to the chat template, such as {"enable_thinking": false}. */
  readonly templateArguments?: Readonly<Record<string, Json>>;
  /** Function tools, for servers that parse calls. */
  readonly tools?: readonly Json[];
};

const messageBody = (message: ChatMessage): Json => {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    case 'assistant': {
      const { content, reasoning, toolCalls } = message;
      return {
        role: 'assistant',
        content,
        // vLLM reads `reasoning` from 0.16 on and `reasoning_content` before; each ignores the other.
        ...(reasoning === undefined ? {} : { reasoning, reasoning_content: reasoning }),
        ...(toolCalls === undefined || toolCalls.length === 0
          ? {}
          : {
              tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({ id, type: 'function', function: { name, arguments: text } })),
            }),
      };
    }
    default:
      return message satisfies never;
  }
};

const encoder = new TextEncoder();

/** The exact bytes that are sent: canonical JSON, so that equal requests are equal bytes. Always streamed, always one choice. */
export function chatBody(
  { model, messages, sampling, seed, schema, templateArguments, tools }: ChatRequest,
  server: ServerAbilities,
): Uint8Array {
  const { temperature, topP, topK, minP, repetitionPenalty, presencePenalty, frequencyPenalty, maxTokens, stop } = sampling;
  const constrained: Readonly<Record<string, Json>> =
    schema === undefined || server.structured === null
      ? {}
      : server.structured === 'structured_outputs'
        ? { structured_outputs: { json: schema } }
        : { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } };
  return encoder.encode(
    canonicalJson({
      model,
      messages: messages.map(messageBody),
      temperature,
      top_p: topP,
      presence_penalty: presencePenalty,
      frequency_penalty: frequencyPenalty,
      max_tokens: maxTokens,
      stop,
      seed,
      n: 1,
      stream: true,
      stream_options: { include_usage: true },
      ...(server.vllm ? { top_k: topK, min_p: minP, repetition_penalty: repetitionPenalty, return_token_ids: true } : {}),
      ...(server.logprobs ? { logprobs: true, top_logprobs: 0 } : {}),
      ...(templateArguments === undefined ? {} : { chat_template_kwargs: templateArguments }),
      // An empty list is refused by newer servers.
      ...(tools === undefined || tools.length === 0 ? {} : { tools: [...tools] }),
      ...constrained,
    }),
  );
}
