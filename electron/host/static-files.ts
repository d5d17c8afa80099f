// The built page as responses: which file a path names, and the headers that it goes out with. Used by the web host and by app://.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Nothing runs but our own scripts. Monaco writes style elements, hence 'unsafe-inline' for styles alone. */
const pageCsp = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const commonHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** Stored objects are bytes of strangers: never rendered, and without any right should a browser render them all the same. */
export const blobHeaders = {
  ...commonHeaders,
  'content-type': 'application/octet-stream',
  'content-security-policy': 'sandbox',
  'cache-control': 'private, max-age=31536000, immutable',
} as const;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf',
};

export type StaticAnswer = {
  readonly status: 200 | 403 | 404;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer> | null;
};

const refused = (status: 403 | 404): StaticAnswer => ({ status, headers: { ...commonHeaders }, body: null });

/** Answers the percent-encoded `pathname` of a URL with a file below `root`: 403 for what points elsewhere, 404 for what is not there. */
export async function staticFile(root: string, pathname: string): Promise<StaticAnswer> {
  const relative = decodedPath(pathname);
  if (relative === null) return refused(403);
  const file = path.join(root, relative === '' ? 'index.html' : relative);
  // decodedPath lets nothing out; this holds even if it should be wrong.
  if (!file.startsWith(root + path.sep)) return refused(403);
  const body = await readFile(file).catch(() => null);
  if (!body) return refused(404);
  const hashed = relative.startsWith('assets/');
  return {
    status: 200,
    headers: {
      ...commonHeaders,
      'content-type': types[path.extname(file)] ?? 'application/octet-stream',
      'content-security-policy': pageCsp,
      // Vite names assets by their content; everything else is asked for again each time.
      'cache-control': hashed ? 'private, max-age=31536000, immutable' : 'no-cache',
    },
    body: new Uint8Array(body),
  };
}

/** The path below the root with `/` between its parts; null for anything but plain names. */
function decodedPath(pathname: string): string | null {
  let decoded: string;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return null;
  }
  if (!decoded.startsWith('/') || /[\\\0:]/.test(decoded)) return null;
  const relative = decoded.slice(1);
  if (relative === '') return '';
  return relative.split('/').every((part) => part !== '' && part !== '.' && part !== '..') ? relative : null;
}

/** The hash of `/blob/<sha256>`, or null for any other path. */
export function blobOf(pathname: string): string | null {
  return /^\/blob\/([0-9a-f]{64})$/.exec(pathname)?.[1] ?? null;
}
