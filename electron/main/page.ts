// app://bundle/: the built page and the engine's stored bytes, as the web host serves them over http.
import type { EngineProcess } from './engine-process.ts';
import { blobHeaders, blobOf, commonHeaders, staticFile } from '#electron/host/static-files.ts';

export const pageOrigin = 'app://bundle';

/** Whether a URL is of our own page. */
export function isPageUrl(url: string): boolean {
  return url === pageOrigin || url.startsWith(`${pageOrigin}/`);
}

/** The answer to one request of the `app` scheme. */
export async function answerPage(request: Request, rendererDir: string, engine: Pick<EngineProcess, 'blob'>): Promise<Response> {
  const refuse = (status: number) => new Response(null, { status, headers: commonHeaders });
  const url = URL.parse(request.url);
  if (url?.protocol !== 'app:' || url.host !== 'bundle') return refuse(403);
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
  if (url.pathname.startsWith('/blob/')) {
    const sha = blobOf(url.pathname);
    const bytes = sha === null ? null : await engine.blob(sha);
    return bytes ? new Response(new Uint8Array(bytes), { headers: blobHeaders }) : refuse(404);
  }
  const file = await staticFile(rendererDir, url.pathname);
  return new Response(file.body, { status: file.status, headers: file.headers });
}
