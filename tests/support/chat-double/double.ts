// The server of the double. See README.md.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bytesOf, type Scenario, scenarioOf } from './scenarios.ts';

export type ChatDouble = {
  /** With /v1, as a client is given it. */
  readonly baseUrl: string;
  /** Bodies of the chat completions that were asked for, parsed, with the headers they came with. */
  readonly seen: readonly { readonly body: Readonly<Record<string, unknown>>; readonly headers: IncomingMessage['headers'] }[];
  /** Models whose clients left before the end. */
  readonly left: readonly string[];
  /** Resolves when the n-th client has left. */
  hasLeft(n: number): Promise<void>;
  /** Requests being answered now, and the most that ever were. */
  readonly open: number;
  readonly mostOpen: number;
  close(): Promise<void>;
};

export type DoubleOptions = {
  /** Answers a request by its parsed body; by default the scenario that the model's name names. */
  readonly answer?: (body: Readonly<Record<string, unknown>>, n: number) => Scenario;
  /** What `/tokenize` counts; absent: the server has no such path. */
  readonly tokens?: number;
  /** What GETs answer, by path: a status and a body. */
  readonly get?: Readonly<Record<string, { readonly status: number; readonly body: unknown }>>;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const written = (response: ServerResponse, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    response.write(bytes, () => resolve());
  });

const play = async (response: ServerResponse, scenario: Scenario): Promise<void> => {
  response.writeHead(scenario.status ?? 200, { 'content-type': scenario.contentType ?? 'text/event-stream; charset=utf-8' });
  let drip = false;
  for (const step of scenario.steps) {
    if (response.destroyed) return;
    if ('drip' in step) drip = true;
    else if ('cut' in step) {
      response.socket?.destroy();
      return;
    } else if ('silence' in step) return;
    else if (drip) {
      for (const byte of bytesOf(step)) await written(response, Uint8Array.of(byte));
    } else await written(response, bytesOf(step));
  }
  response.end();
};

/** Listens on a free port of the loopback address. */
export async function startChatDouble({ answer, tokens, get = {} }: DoubleOptions = {}): Promise<ChatDouble> {
  const seen: ChatDouble['seen'][number][] = [];
  const left: string[] = [];
  const waiting: { n: number; resolve: () => void }[] = [];
  let open = 0;
  let mostOpen = 0;
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      if (incoming.method === 'GET') {
        const known = get[incoming.url ?? ''];
        response.writeHead(known?.status ?? 404, { 'content-type': 'application/json' });
        response.end(
          known === undefined ? '{"detail":"Not Found"}' : typeof known.body === 'string' ? known.body : JSON.stringify(known.body),
        );
        return;
      }
      if (incoming.url === '/tokenize') {
        response.writeHead(tokens === undefined ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(tokens === undefined ? { detail: 'Not Found' } : { count: tokens, max_model_len: 8_192, tokens: [] }));
        return;
      }
      const body: unknown = JSON.parse(Buffer.concat(parts).toString());
      if (!isRecord(body)) throw new Error('the client sent no object');
      seen.push({ body, headers: incoming.headers });
      const model = String(body['model']);
      open++;
      mostOpen = Math.max(mostOpen, open);
      response.on('close', () => {
        open--;
        if (response.writableEnded) return;
        left.push(model);
        for (const one of waiting) if (left.length >= one.n) one.resolve();
      });
      const scenario = answer === undefined ? scenarioOf(model) : answer(body, seen.length);
      void play(
        response,
        scenario ?? {
          status: 404,
          contentType: 'application/json',
          steps: [{ raw: '{"detail":"no such scenario"}' }],
          outcome: 'http_error',
        },
      );
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the double has no port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    seen,
    left,
    hasLeft: (n) =>
      new Promise((resolve) => {
        if (left.length >= n) resolve();
        else waiting.push({ n, resolve });
      }),
    get open() {
      return open;
    },
    get mostOpen() {
      return mostOpen;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
