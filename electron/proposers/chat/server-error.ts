// What a server says when it refuses: several shapes of body over the years, all of them read here, into a few classes that differ in
// what can be done about them. The texts and shapes are those of vLLM 0.8 to 0.32 and of OpenAI.
import { z } from 'zod';

export type ServerErrorClass =
  /** The prompt and the answer do not fit the model's context. */
  | 'context_length'
  /** No or the wrong key. */
  | 'unauthorised'
  /** The model or the path is not served. */
  | 'not_found'
  /** The server failed on what the model wrote (a tool call that was cut, say): nothing is wrong with the request. */
  | 'model_output'
  /** Too many requests, or not ready. */
  | 'overloaded'
  /** The request itself is refused. */
  | 'bad_request'
  /** The engine behind the server is gone. */
  | 'engine_dead'
  | 'server_error';

export type ServerError = {
  readonly class: ServerErrorClass;
  /** As the server wrote it, shortened; or that it wrote nothing. */
  readonly message: string;
  readonly status: number | null;
  readonly param: string | null;
};

const Inner = z.object({
  message: z.string(),
  type: z.string().nullish(),
  param: z.string().nullish(),
  code: z.union([z.number(), z.string()]).nullish(),
});
const Body = z.union([
  z.object({ error: Inner }).transform(({ error }) => error),
  // Up to vLLM 0.10 the envelope was missing.
  Inner.extend({ object: z.literal('error') }),
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error, type: null, param: null, code: null })),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail, type: null, param: null, code: null })),
]);

const maxMessage = 2_000;

const contextTexts = [
  /maximum context length/i,
  /model's context length is only/i,
  /context length .* exceed/i,
  /max_model_len/,
  /You passed \d+ input characters/,
];
const contextParams = new Set(['input_tokens', 'input_text']);
const outputTexts = [/validation errors? for list\[function-wrap/i, /Invalid JSON: EOF while parsing/i, /unterminated string/i];

const classify = (message: string, status: number | null, param: string | null, type: string | null): ServerErrorClass => {
  if (
    (status === null || status === 400 || status === 413) &&
    (contextTexts.some((text) => text.test(message)) || (param !== null && contextParams.has(param)))
  )
    return 'context_length';
  if (outputTexts.some((text) => text.test(message))) return 'model_output';
  switch (status) {
    case 401:
    case 403:
      return 'unauthorised';
    case 404:
      return 'not_found';
    case 429:
    case 503:
      return 'overloaded';
    case null:
      return /EngineDead|engine .*(?:dead|died)/i.test(`${type ?? ''} ${message}`) ? 'engine_dead' : 'server_error';
    default:
      if (/EngineDead|EngineGenerate|engine .*(?:dead|died)/i.test(`${type ?? ''} ${message}`)) return 'engine_dead';
      return status >= 500 ? 'server_error' : 'bad_request';
  }
};

/** Reads the `error` of an event inside a stream, or any parsed body; null where it says no error. `status` is that of HTTP, null inside a stream. */
export function serverErrorOf(value: unknown, status: number | null): ServerError | null {
  const parsed = Body.safeParse(value);
  if (!parsed.success) return null;
  const { message, param = null, type = null, code } = parsed.data;
  const known = status ?? (typeof code === 'number' ? code : null);
  return { class: classify(message, known, param, type), message: message.slice(0, maxMessage), status: known, param };
}

/** Reads the body of a response whose status is not 2xx; it may be JSON of any shape, text, or nothing. */
export function readServerError(status: number, body: string): ServerError {
  try {
    const error = serverErrorOf(JSON.parse(body), status);
    if (error !== null) return error;
  } catch {
    // Not JSON: its text is all there is.
  }
  const text = body.trim();
  // vLLM 0.17 answers so when its engine is dead.
  if (text === '' && status === 500)
    return {
      class: 'engine_dead',
      message: 'the server answered 500 with an empty body, as vLLM does when its engine is dead',
      status,
      param: null,
    };
  const message = text === '' ? `the server answered ${status} with an empty body` : text.slice(0, maxMessage);
  return { class: classify(message, status, null, null), message, status, param: null };
}
