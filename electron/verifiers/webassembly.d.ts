// What quickjs-engine.ts uses of WebAssembly, whose types come with those of the DOM only.
declare namespace WebAssembly {
  class Memory {
    readonly buffer: ArrayBuffer;
    /** Sizes in pages of 64 KiB. */
    constructor(descriptor: { readonly initial: number; readonly maximum: number });
    /** Gives the size before it, in pages; throws a RangeError where it cannot grow. */
    grow(delta: number): number;
  }
}
