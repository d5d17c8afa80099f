// The app in a browser: the built page, the engine's RPC and its stored bytes over loopback HTTP and one WebSocket.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { RpcError } from '#shared/contract/errors.ts';
import type { EngineKeeper } from './keeper.ts';
import { fromWebSocket } from './ports/web-socket.ts';
import { createSessions } from './session.ts';
import { blobHeaders, blobOf, commonHeaders, staticFile } from './static-files.ts';

export type WebHostOptions = {
  readonly engine: Pick<EngineKeeper, 'attach' | 'blob'>;
  /** Folder of the built page. */
  readonly rendererDir: string;
  /** 0 or absent: any free one. */
  readonly port?: number | undefined;
  /** Told of what failed while answering. */
  readonly onError: (error: unknown) => void;
};

export type WebHost = {
  /** With the token in its fragment. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
};

const address = '127.0.0.1';
const maxRequestBytes = 16 << 20;
const maxSessionBytes = 4096;
const SessionRequest = z.strictObject({ token: z.string().max(200) });

/** Starts listening; rejects with `unavailable` when the port is taken or may not be used. */
export async function startWebHost({ engine, rendererDir, port: wanted = 0, onError }: WebHostOptions): Promise<WebHost> {
  const server = createServer({ maxHeaderSize: 16 << 10 }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      onError(error);
      if (!response.headersSent) response.writeHead(500, commonHeaders);
      response.end();
    });
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxRequestBytes, perMessageDeflate: false });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' ? 'another program uses it' : error.code === 'EACCES' ? 'this user may not use it' : String(error);
      reject(
        new RpcError(
          'unavailable',
          `port ${wanted} of ${address} cannot be opened: ${why}. Choose another with --port N, or leave it out.`,
        ),
      );
    });
    server.listen(wanted, address, resolve);
  });
  server.on('error', onError);
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error(`listening on ${String(bound)} instead of a port`);
  const { port } = bound;
  const { host, origin } = webOrigin(port);
  const cookieName = `pawl_${port}`;
  const sessions = createSessions(cookieName);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, text: string, headers: Record<string, string> = {}) => {
      response.writeHead(status, { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8', ...headers }).end(`${text}\n`);
    };
    // A page elsewhere that lets its own name point to 127.0.0.1 still sends its own name.
    if (request.headers.host !== host) return refuse(403, `This address answers only to ${origin}/`);
    const pathname = URL.parse(request.url ?? '/', origin)?.pathname;
    if (pathname === undefined) return refuse(400, 'Not an address');

    if (pathname === '/session') {
      if (request.method !== 'POST') return refuse(405, 'POST only', { allow: 'POST' });
      if (request.headers.origin !== origin) return refuse(403, 'Only the page of this address may open a session');
      const body = SessionRequest.safeParse(await readJson(request));
      const secret = body.success ? sessions.open(body.data.token) : null;
      if (secret === null) return refuse(401, 'The token is not the one of this address; open the URL that `pawl serve` printed');
      response
        .writeHead(204, {
          ...commonHeaders,
          'set-cookie': `${cookieName}=${secret}; HttpOnly; SameSite=Strict; Path=/`,
          'cache-control': 'no-store',
        })
        .end();
      return;
    }

    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'GET only', { allow: 'GET, HEAD' });
    const head = request.method === 'HEAD';
    if (pathname.startsWith('/blob/')) {
      if (!sessions.admits(request.headers.cookie)) return refuse(401, 'Open the URL that `pawl serve` printed');
      const sha = blobOf(pathname);
      const bytes = sha === null ? null : await engine.blob(sha);
      if (!bytes) return refuse(404, 'No such object');
      response.writeHead(200, { ...blobHeaders, 'content-length': bytes.length }).end(head ? undefined : bytes);
      return;
    }

    const file = await staticFile(rendererDir, pathname);
    if (!file.body) return refuse(file.status, file.status === 403 ? 'Not a path of this app' : 'No such file');
    response.writeHead(file.status, { ...file.headers, 'content-length': file.body.length }).end(head ? undefined : file.body);
  };

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => {});
    const { headers, url } = request;
    const refusal =
      headers.host !== host || headers.origin !== origin
        ? '403 Forbidden'
        : url !== '/rpc'
          ? '404 Not Found'
          : sessions.admits(headers.cookie)
            ? null
            : '401 Unauthorized';
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      engine.attach(fromWebSocket(webSocket)).catch((error: unknown) => {
        onError(error);
        webSocket.close(1011);
      });
    });
  });

  return {
    url: `${origin}/#token=${sessions.token}`,
    port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What a browser sends as Host and Origin: port 80 is left out. */
export function webOrigin(port: number): { readonly host: string; readonly origin: string } {
  const { host, origin } = new URL(`http://${address}:${port}`);
  return { host, origin };
}

/** The JSON of a small body; null for anything else. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) return null;
    size += chunk.length;
    if (size > maxSessionBytes) return null;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return null;
  }
}
