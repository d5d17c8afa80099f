// A page to look at the renderer without an engine: `?theme=dark&lang=ko&runs=40&live`, `runs=family` for branches, or `runs=waiting` for a person's turn. Served by `serve.ts`.
import '#renderer/app/jitless.ts';
import '#renderer/styles/index.css';
import { mount } from '#renderer/app/mount.tsx';
import { ensure } from '#shared/lib/assert.ts';
import { serveBlobs } from './blobs.ts';
import { createFakeEngine } from './fake-engine.ts';
import { fakeFamily, fakeLibrary, fakeWaiting } from './library.ts';

const query = new URLSearchParams(location.search);
const fake = createFakeEngine({
  runs:
    query.get('runs') === 'family'
      ? fakeFamily
      : query.get('runs') === 'waiting'
        ? fakeWaiting
        : fakeLibrary(Number(query.get('runs') ?? '40'), query.has('live')),
  settings: { theme: query.get('theme') === 'dark' ? 'dark' : 'light', language: query.get('lang') === 'ko' ? 'ko' : 'en' },
});
serveBlobs(fake);
mount(ensure(document.getElementById('root'), 'element #root'), fake.engine);
