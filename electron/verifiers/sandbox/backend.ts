// The backend of this system. Looked for once by the runner; the engine asks through it.
import { noGuarantees, type SandboxBackend } from './api.ts';
import { createBubblewrap } from './bubblewrap.ts';
import { createSandboxRuntime } from './runtime-backend.ts';

const instead: Partial<Record<NodeJS.Platform, string>> = {
  win32: ': command verifiers do not run on Windows in this version, and tasks with runtime = "pure-js" do',
};

/** Linux has bubblewrap, macOS Seatbelt through a package that is not loaded elsewhere; where there is nothing the probe says so. */
export function createBackend(platform: NodeJS.Platform = process.platform): SandboxBackend {
  if (platform === 'linux') return createBubblewrap();
  return platform === 'darwin' ? createSandboxRuntime(platform) : none(platform);
}

const none = (platform: NodeJS.Platform): SandboxBackend => ({
  name: 'none',
  mapsPaths: false,
  probe: () =>
    Promise.resolve({
      available: false,
      backend: null,
      version: null,
      experimental: false,
      guarantees: noGuarantees,
      message: `there is no sandbox for ${platform} in this version; candidate code is not run here${instead[platform] ?? ''}`,
      remedy: null,
    }),
  command: () => Promise.reject(new RangeError(`there is no sandbox for ${platform}`)),
  sees: () => false,
  close: () => Promise.resolve(),
});
