// The backend of this system. Looked for once by the runner; the engine asks through it.
import { noGuarantees, type SandboxBackend } from './api.ts';
import { createBubblewrap } from './bubblewrap.ts';
import { createSandboxRuntime } from './runtime-backend.ts';

/** Linux has bubblewrap, macOS Seatbelt through a package that is not loaded elsewhere; where there is nothing the probe says so. */
export function createBackend(platform: NodeJS.Platform = process.platform): SandboxBackend {
  if (platform === 'linux') return createBubblewrap();
  return platform === 'darwin' ? createSandboxRuntime(platform) : none(platform);
}

const none = (platform: string): SandboxBackend => ({
  name: 'none',
  mapsPaths: false,
  probe: () =>
    Promise.resolve({
      available: false,
      backend: null,
      version: null,
      experimental: false,
      guarantees: noGuarantees,
      message: `there is no sandbox for ${platform} in this version; candidate code is not run here`,
      remedy: null,
    }),
  command: () => Promise.reject(new RangeError(`there is no sandbox for ${platform}`)),
  sees: () => false,
  close: () => Promise.resolve(),
});
