// `/blob/<sha>` of a fake engine: the page's own fetch answers it, everything else goes on as before.
import type { FakeEngine } from './fake-engine.ts';

/** Returns what puts the old fetch back. */
export function serveBlobs(fake: FakeEngine): () => void {
  const original = window.fetch;
  window.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input), location.href);
    const sha = /^\/blob\/([0-9a-f]{64})$/.exec(url.pathname)?.[1];
    if (sha === undefined) return original.call(window, input, init);
    const bytes = fake.blob(sha);
    return Promise.resolve(new Response(bytes, { status: bytes ? 200 : 404, headers: { 'content-type': 'application/octet-stream' } }));
  };
  return () => {
    window.fetch = original;
  };
}
