// A QuickJS whose WebAssembly memory ends where we say. QuickJS's own limit (`setMemoryLimit`) does not: this build cannot ask how large a
// block is, so it counts eight bytes for each, whatever its size.
import { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC, type QuickJSWASMModule } from 'quickjs-emscripten';
import { ensure } from '#shared/lib/assert.ts';

const pageBytes = 64 * 1024;
/** What the build declares it starts with: its stack, its data and a first heap. A limit counts what is beyond. */
const basePages = 256;
/** A limit may be so large; WebAssembly itself holds it. */
const maxLimitBytes = 1024 * 1024 * 1024;

/** The memory refused to grow, and code of ours (not of the VM) needed it. */
export class OutOfMemory extends Error {
  constructor() {
    super('out of memory');
  }
}

class CappedMemory extends WebAssembly.Memory {
  #pages = basePages;
  /** Whether something was refused since the last `limit`. */
  refused = false;

  constructor() {
    super({ initial: basePages, maximum: basePages + maxLimitBytes / pageBytes });
  }

  limit(bytes: number): void {
    this.#pages = basePages + Math.ceil(Math.min(bytes, maxLimitBytes) / pageBytes);
    this.refused = false;
  }

  /** Bytes that it has already beyond the limit: it never shrinks. */
  excess(): number {
    return Math.max(0, this.buffer.byteLength - this.#pages * pageBytes);
  }

  /** The only way in which this build grows; what is refused here, its allocator reports as out of memory. */
  override grow(delta: number): number {
    if (this.buffer.byteLength / pageBytes + delta > this.#pages) {
      this.refused = true;
      throw new RangeError('the memory of this verifier is at its limit');
    }
    return super.grow(delta);
  }
}

export type Engine = {
  readonly quickjs: QuickJSWASMModule;
  /** From now on `bytes` may be used beyond what an instance starts with. Call it while no runtime is alive. */
  limit(bytes: number): void;
  /** Whether memory was refused since the last `limit`. */
  refused(): boolean;
  /** Bytes beyond what an instance starts with. */
  grownBytes(): number;
};

type Allocator = { readonly malloc: (size: number) => number; readonly free: (pointer: number) => void };

/** A new WebAssembly instance, which may use what it starts with until `limit` is called. */
export async function createEngine(): Promise<Engine> {
  const memory = new CappedMemory();
  const variant = newVariant(RELEASE_SYNC, { wasmMemory: memory });
  let allocator: Allocator | null = null;
  const quickjs = await newQuickJSWASMModuleFromVariant({
    ...variant,
    importModuleLoader: async () => {
      const loader = await variant.importModuleLoader();
      const imported = typeof loader === 'function' ? loader : loader.default;
      const load = typeof imported === 'function' ? imported : imported.default;
      return async (options) => {
        const module = await load(options);
        const malloc = module._malloc.bind(module);
        allocator = { malloc, free: module._free.bind(module) };
        // The library writes to the block that it gets without a look; a null would be the beginning of the memory.
        module._malloc = (size) => {
          const pointer = malloc(size);
          if (pointer === 0) throw new OutOfMemory();
          return pointer;
        };
        return module;
      };
    },
  });
  const { malloc, free } = required(allocator);
  let ballast = 0;
  return {
    quickjs,
    limit: (bytes) => {
      if (ballast !== 0) free(ballast);
      memory.limit(bytes);
      // What an earlier, larger limit has left is taken out of use.
      const excess = memory.excess();
      ballast = excess === 0 ? 0 : malloc(excess);
      memory.limit(bytes);
    },
    refused: () => memory.refused,
    grownBytes: () => memory.buffer.byteLength - basePages * pageBytes,
  };
}

const required = (allocator: Allocator | null): Allocator => ensure(allocator, 'the allocator of QuickJS');
