// HTTP as chat servers need it: no time limit of the library's on a generation or a wait in the queue, an abort that closes the socket
// (which is how a server learns of it), idle sockets dropped before the server drops them, and every byte kept.
import { Agent, request } from 'undici';
import type { Exchange } from './exchange.ts';

export type TransportOptions = {
  /** Such as http://127.0.0.1:8001/v1, without a slash at the end. */
  readonly baseUrl: string;
  /** Goes into a header and nowhere else: no record, no log, no message. */
  readonly apiKey: string | null;
  /** How long a stream may be silent once its first byte has come; before that a request may wait in the server's queue for hours. */
  readonly stallMs: number;
  readonly maxBodyBytes: number;
};

export type Transport = {
  /** `onBytes` gets the body of a 2xx response as it comes. Rejects for nothing that happens on the way. */
  post(
    path: string,
    body: Uint8Array,
    options: { readonly signal: AbortSignal; readonly id?: string; readonly onBytes?: (bytes: Uint8Array, contentType: string) => void },
  ): Promise<Exchange>;
  get(path: string, options: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<Exchange>;
  close(): Promise<void>;
};

const connectTimeoutMs = 5_000;
/** uvicorn closes idle connections after 5 s; a request must not meet one that is being closed. */
const keepAliveMs = 4_000;

type Failure = NonNullable<Exchange['failure']>;

const codeOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return 'cause' in error ? codeOf(error.cause) : '';
};

const failureOf = (error: unknown, url: string): Failure => {
  const code = codeOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return { code: 'refused', message: `nothing listens at ${url}: is the server running?` };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return { code: 'unreachable', message: `${url} cannot be reached (${code})` };
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return { code: 'timeout', message: `${url} did not accept a connection within ${connectTimeoutMs / 1_000} s` };
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
    case 'EPIPE':
      return { code: 'reset', message: `the connection to ${url} was reset` };
    default:
      return {
        code: 'unreachable',
        message: `${url}: ${code === '' ? (error instanceof Error ? error.message.slice(0, 300) : 'the request failed') : code}`,
      };
  }
};

/** A path of an API that stands beside `/v1`, such as `../health`, is taken from the base URL's parent. */
export function urlOf(baseUrl: string, path: string): string {
  return path.startsWith('../') ? `${baseUrl.replace(/\/v1$/, '')}/${path.slice(3)}` : `${baseUrl}/${path}`;
}

/** A timer that is started again by every byte. */
const watchdog = (ms: number, onSilence: () => void): { readonly touch: () => void; readonly stop: () => void } => {
  let timer: NodeJS.Timeout | undefined;
  return {
    touch: () => {
      if (timer === undefined) timer = setTimeout(onSilence, ms);
      else timer.refresh();
    },
    stop: () => clearTimeout(timer),
  };
};

export function createTransport({ baseUrl, apiKey, stallMs, maxBodyBytes }: TransportOptions): Transport {
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs },
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // The number of requests under way is the limiter's to bound.
    connections: null,
    pipelining: 1,
  });

  const send = async (
    method: 'GET' | 'POST',
    path: string,
    body: Uint8Array,
    {
      signal,
      id,
      onBytes,
    }: { signal: AbortSignal; id?: string | undefined; onBytes?: ((bytes: Uint8Array, contentType: string) => void) | undefined },
  ): Promise<Exchange> => {
    const url = urlOf(baseUrl, path);
    const stalled = new AbortController();
    const watch = watchdog(stallMs, () => stalled.abort());
    const parts: Uint8Array[] = [];
    let length = 0;
    let head: { status: number; contentType: string } | null = null;
    const response = (end: NonNullable<Exchange['response']>['end']): Exchange['response'] =>
      head === null ? null : { ...head, body: Buffer.concat(parts), end };
    const ended = (end: NonNullable<Exchange['response']>['end'], failure: Failure | null): Exchange => ({
      path,
      request: body,
      response: response(end),
      failure,
    });
    try {
      const answer = await request(url, {
        dispatcher: agent,
        method,
        signal: AbortSignal.any([signal, stalled.signal]),
        headers: {
          accept: 'text/event-stream, application/json',
          ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
          ...(id === undefined ? {} : { 'x-request-id': id }),
          ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        ...(method === 'POST' ? { body } : {}),
      });
      const type = answer.headers['content-type'];
      const contentType = typeof type === 'string' ? type : '';
      head = { status: answer.statusCode, contentType };
      for await (const part of answer.body) {
        if (!(part instanceof Uint8Array)) throw new TypeError('the body is not made of bytes');
        watch.touch();
        length += part.length;
        if (length > maxBodyBytes) {
          answer.body.destroy();
          return ended('too_long', { code: 'too_long', message: `the answer is longer than ${maxBodyBytes} bytes` });
        }
        parts.push(part);
        if (answer.statusCode >= 200 && answer.statusCode < 300) onBytes?.(part, contentType);
      }
      return ended('complete', null);
    } catch (error) {
      if (signal.aborted) return ended('aborted', { code: 'aborted', message: 'the request was ended here' });
      if (stalled.signal.aborted)
        return ended('stalled', { code: 'stalled', message: `nothing came for ${stallMs / 1_000} s in the middle of the answer` });
      const failure = failureOf(error, baseUrl);
      return ended(
        'cut',
        head === null ? failure : { code: 'reset', message: `the connection to ${baseUrl} ended in the middle of the answer` },
      );
    } finally {
      watch.stop();
    }
  };

  return {
    post: (path, body, { signal, id, onBytes }) => send('POST', path, body, { signal, id, onBytes }),
    get: (path, { signal, timeoutMs }) => {
      const limit = AbortSignal.timeout(timeoutMs);
      return send('GET', path, new Uint8Array(), { signal: AbortSignal.any([signal, limit]) }).then((exchange) =>
        limit.aborted && !signal.aborted && exchange.failure !== null
          ? {
              ...exchange,
              response: null,
              failure: { code: 'timeout', message: `${urlOf(baseUrl, path)} did not answer within ${timeoutMs / 1_000} s` },
            }
          : exchange,
      );
    },
    close: () => agent.destroy(),
  };
}
