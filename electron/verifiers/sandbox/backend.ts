// The backend of this system. Looked for once by the runner; the engine asks through it.
import { noGuarantees, type SandboxBackend } from './api.ts';
import { createBubblewrap } from './bubblewrap.ts';

/** Linux has bubblewrap; elsewhere nothing yet can hold what `SandboxSpec` asks for, and the probe says so. */
export function createBackend(platform: NodeJS.Platform = process.platform): SandboxBackend {
  return platform === 'linux' ? createBubblewrap() : none(platform);
}

const none = (platform: string): SandboxBackend => ({
  name: 'none',
  probe: () =>
    Promise.resolve({
      available: false,
      backend: null,
      version: null,
      guarantees: noGuarantees,
      message: `there is no sandbox for ${platform} in this version; candidate code is not run here`,
      remedy: null,
    }),
  command: () => {
    throw new RangeError(`there is no sandbox for ${platform}`);
  },
});
