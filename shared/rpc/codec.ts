// Frames as bytes, for transports that carry no structured clones (WebSocket, local socket).
// Layout: u32 length of the JSON text, the text, then the typed arrays one after another, each aligned to 8 bytes. In the text a typed
// array stands as {"$bytes": [kind, offset, byteLength]}; a plain object with that key is refused rather than misread.

const kinds = { Uint8Array, Uint16Array, Uint32Array, Int8Array, Int16Array, Int32Array, Float32Array, Float64Array } as const;
type Kind = keyof typeof kinds;
const key = '$bytes';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });
const align = (n: number) => (n + 7) & ~7;

/** Encodes one frame. Throws on a plain object that has the key `$bytes`. */
export function encodeFrame(frame: unknown): Uint8Array<ArrayBuffer> {
  const arrays: Uint8Array[] = [];
  let offset = 0;
  const text = JSON.stringify(frame, function (this: object, name, shown: unknown) {
    // Taken from its holder: a Node Buffer has a toJSON that would already have turned it into an object of numbers.
    const value: unknown = Reflect.get(this, name);
    if (typeof value !== 'object' || value === null) return shown;
    if (ArrayBuffer.isView(value)) {
      const kind = Object.prototype.toString.call(value).slice(8, -1);
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      const at = offset;
      arrays.push(bytes);
      offset = align(offset + bytes.length);
      return { [key]: [kind, at, bytes.length] };
    }
    if (Object.hasOwn(value, key)) throw new TypeError(`a frame may not hold a plain object with the key ${key}`);
    return shown;
  });
  const head = encoder.encode(text);
  const start = align(4 + head.length);
  const out = new Uint8Array(start + offset);
  new DataView(out.buffer).setUint32(0, head.length);
  out.set(head, 4);
  let at = start;
  for (const bytes of arrays) {
    out.set(bytes, at);
    at += align(bytes.length);
  }
  return out;
}

/** Decodes what `encodeFrame` made. Throws a RangeError or SyntaxError on anything else. */
export function decodeFrame(data: Uint8Array): unknown {
  if (data.length < 4) throw new RangeError('frame of fewer than 4 bytes');
  const headLength = new DataView(data.buffer, data.byteOffset, data.byteLength).getUint32(0);
  if (4 + headLength > data.length) throw new RangeError('frame ends inside its text');
  const start = align(4 + headLength);
  return JSON.parse(decoder.decode(data.subarray(4, 4 + headLength)), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return value;
    const spec: unknown = Reflect.get(value, key);
    if (!Array.isArray(spec) || spec.length !== 3) throw new RangeError('malformed typed array in frame');
    const [kind, offset, length]: unknown[] = spec;
    if (typeof kind !== 'string' || !isKind(kind) || typeof offset !== 'number' || typeof length !== 'number') throw new RangeError('malformed typed array in frame');
    const from = start + offset;
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(length) || offset < 0 || length < 0 || from + length > data.length) throw new RangeError('typed array outside its frame');
    // A copy: it is aligned, and it does not keep the whole frame alive.
    const copy = data.slice(from, from + length);
    const Make = kinds[kind];
    if (length % Make.BYTES_PER_ELEMENT !== 0) throw new RangeError('typed array of a broken length');
    return new Make(copy.buffer, copy.byteOffset, length / Make.BYTES_PER_ELEMENT);
  });
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(kinds, kind);
}
