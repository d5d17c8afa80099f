// The whole app over a fake engine, as a component test sees it.
import { afterEach } from 'vitest';
import { render } from 'vitest-browser-react';
import { page, userEvent } from 'vitest/browser';
import '#renderer/app/jitless.ts';
import '#renderer/styles/index.css';
import { App } from '#renderer/app/App.tsx';
import { installIdle } from '#renderer/app/idle.ts';
import { ConnectionContext } from '#renderer/client/use-query.ts';
import { createQueryCache } from '#renderer/client/query-cache.ts';
import { useDrafts } from '#renderer/state/drafts.ts';
import { useUi } from '#renderer/state/store.ts';
import { ensure } from '#shared/lib/assert.ts';
import { serveBlobs } from '../support/fake-engine/blobs.ts';
import { createFakeEngine, type FakeEngine, type FakeEngineOptions } from '../support/fake-engine/fake-engine.ts';

let close = () => {};
afterEach(() => close());

export type Harness = {
  readonly fake: FakeEngine;
  readonly screen: Awaited<ReturnType<typeof render>>;
  /** Until there is nothing left to do. */
  idle(): Promise<void>;
  /** Presses keys by name (`j`, `{Shift>}j{/Shift}`), then waits until idle. */
  press(keys: string): Promise<void>;
  /** The sentence of the inspector. */
  why(): string;
  /** What was said to screen readers last. */
  said(): string;
};

/** Mounts the app at `hash`. `run(i)` in a hash is the i-th run of the options. */
export async function openApp(options: FakeEngineOptions, hash = '#/v1/library'): Promise<Harness> {
  await page.viewport(1440, 900);
  useUi.setState(useUi.getInitialState(), true);
  useDrafts.setState(useDrafts.getInitialState(), true);
  localStorage.clear();
  const fake = createFakeEngine({ roundMs: 0, settings: { theme: 'light', language: 'en' }, ...options });
  window.history.replaceState(
    null,
    '',
    hash.replace(/run\((\d+)\)/, (_, i: string) => `run/${ensure(fake.jobs[Number(i)], `run ${i}`).id}`),
  );
  const cache = createQueryCache(fake.engine);
  const restoreFetch = serveBlobs(fake);
  installIdle();
  const screen = await render(
    <ConnectionContext value={{ engine: fake.engine, cache }}>
      <div style={{ height: '100vh' }}>
        <App />
      </div>
    </ConnectionContext>,
  );
  close = () => {
    restoreFetch();
    cache.close();
    fake.engine.close();
  };
  const idle = () => ensure(window.waitForIdle, 'window.waitForIdle')();
  await idle();
  return {
    fake,
    screen,
    idle,
    async press(keys) {
      await userEvent.keyboard(keys);
      await idle();
    },
    why: () => screen.container.querySelector('[data-testid=why]')?.textContent ?? '',
    said: () => screen.container.querySelector('[aria-live=polite]')?.textContent ?? '',
  };
}
