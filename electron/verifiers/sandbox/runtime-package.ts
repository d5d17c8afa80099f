// The part of `@anthropic-ai/sandbox-runtime` that is used, loaded only where it is the backend. The package is a preview whose interface
// may change, so what came is looked at and not believed: a function that is missing is a reason not to be available, never a crash.
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import type { RuntimeConfig, RuntimeFiles } from './runtime-config.ts';

export type RuntimePackage = {
  readonly version: string;
  /** Absolute path of the installed package. */
  readonly folder: string;
  /** Rejects where the package cannot be used; its error says why. */
  initialize(config: RuntimeConfig): Promise<void>;
  /** A shell string that runs `command` by `shell` in a sandbox with `files`. */
  wrap(command: string, shell: string, files: RuntimeFiles): Promise<string>;
  /** What is missing on this machine, in the package's words. Empty does not mean that it works. */
  missing(): Promise<readonly string[]>;
  reset(): Promise<void>;
};

const packageName = '@anthropic-ai/sandbox-runtime';

type AnyFunction = (...args: readonly unknown[]) => unknown;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const Manager = z.object({
  initialize: z.custom<AnyFunction>(isFunction),
  wrapWithSandbox: z.custom<AnyFunction>(isFunction),
  checkDependenciesAsync: z.custom<AnyFunction>(isFunction),
  reset: z.custom<AnyFunction>(isFunction),
});
const Module = z.object({ SandboxManager: Manager });
const Manifest = z.object({ version: z.string() });
const Dependencies = z.object({ errors: z.array(z.string()) });

/** Throws an Error that says what is missing. */
export async function loadRuntimePackage(name: string = packageName): Promise<RuntimePackage> {
  const require = createRequire(import.meta.url);
  let manifest: string;
  let loaded: unknown;
  try {
    manifest = require.resolve(`${name}/package.json`);
    // By a name that no bundler sees: it finds its own files beside itself.
    loaded = await import(name);
  } catch (error) {
    throw new Error(`${name} cannot be loaded (${error instanceof Error ? error.message.split('\n', 1)[0] : String(error)})`, {
      cause: error,
    });
  }
  const { version } = Manifest.parse(require(manifest));
  const parsed = Module.safeParse(loaded);
  if (!parsed.success) {
    const fields = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
    throw new Error(`${name} ${version} is not as it was: ${fields} is missing`);
  }
  const { SandboxManager: manager } = parsed.data;
  return {
    version,
    folder: path.dirname(manifest),
    initialize: async (config) => {
      await manager.initialize(config);
    },
    wrap: async (command, shell, filesystem) => z.string().parse(await manager.wrapWithSandbox(command, shell, { filesystem })),
    missing: async () => Dependencies.parse(await manager.checkDependenciesAsync()).errors,
    reset: async () => {
      await manager.reset();
    },
  };
}
