// The real app, as it is mounted everywhere, over a fake engine that holds one run of 10,000 transitions.
import '#renderer/app/jitless.ts';
import '#renderer/styles/index.css';
import { mount } from '#renderer/app/mount.tsx';
import { ensure } from '#shared/lib/assert.ts';
import { serveBlobs } from '../../support/fake-engine/blobs.ts';
import { createFakeEngine } from '../../support/fake-engine/fake-engine.ts';

const fake = createFakeEngine({ runs: [{ stop: 'budget', count: 10_000, seed: 7 }], settings: { theme: 'light', language: 'en' } });
serveBlobs(fake);
window.location.hash = `#/v1/run/${ensure(fake.jobs[0], 'the run').id}?n=5000`;
mount(ensure(document.getElementById('root'), 'element #root'), fake.engine);
