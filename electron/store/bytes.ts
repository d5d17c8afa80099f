// Bytes on their way between threads: one copy at most.

/**
 * The bytes alone in their buffer: structured clone copies a view's whole buffer, and small Buffers of Node are views of a shared pool.
 * Copies only a part of a larger buffer.
 */
export function compact(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}

/** Buffers inside an answer that may change hands: nobody else holds what a read has just made. */
export function transferables(value: unknown): ArrayBuffer[] {
  const views = value instanceof Uint8Array ? [value] : typeof value === 'object' && value !== null ? Object.values(value) : [];
  const buffers = new Set<ArrayBuffer>();
  for (const view of views) {
    if (ArrayBuffer.isView(view) && view.buffer instanceof ArrayBuffer && view.byteLength === view.buffer.byteLength)
      buffers.add(view.buffer);
  }
  return [...buffers];
}
