import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import type { Engine } from '#renderer/client/engine.ts';
import { createQueryCache } from '#renderer/client/query-cache.ts';
import { ConnectionContext } from '#renderer/client/use-query.ts';
import { App } from './App.tsx';
import { installIdle } from './idle.ts';

/** Puts the app on `root`, over an engine that somebody has connected. Returns what takes it off again. */
export function mount(root: HTMLElement, engine: Engine): () => void {
  installIdle();
  const cache = createQueryCache(engine);
  const react = createRoot(root);
  react.render(
    <StrictMode>
      <ConnectionContext value={{ engine, cache }}>
        <App />
      </ConnectionContext>
    </StrictMode>,
  );
  return () => {
    react.unmount();
    cache.close();
    engine.close();
  };
}
