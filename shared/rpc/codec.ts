// Frames as bytes, for transports that carry no structured clones (WebSocket, local socket).
// Layout: u32 length of the JSON text, the text, then the typed arrays one after another, each aligned to 8 bytes. In the text a typed
// array stands as {"$bytes": [kind, offset, byteLength]}. Frames carry text of strangers (details of a verifier, arguments of a tool
// call), so a plain key `$bytes` must neither fail nor be misread: it travels with one more dollar sign and loses it on arrival.

const kinds = { Uint8Array, Uint16Array, Uint32Array, Int8Array, Int16Array, Int32Array, Float32Array, Float64Array } as const;
type Kind = keyof typeof kinds;
const key = '$bytes';
const escapable = /^\$+bytes$/;
const escaped = /^\$\$+bytes$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const align = (n: number) => (n + 7) & ~7;

const renameKeys = (value: object, rename: (name: string) => string): object =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [rename(name), member]));

/**
 * Encodes one frame: JSON values (what JSON cannot carry is dropped or nulled as JSON.stringify does) and the typed arrays above, whole
 * or as views. Throws a TypeError on other binary objects (ArrayBuffer, DataView, BigInt arrays) and on cycles.
 */
export function encodeFrame(frame: unknown): Uint8Array<ArrayBuffer> {
  const arrays: Uint8Array[] = [];
  let offset = 0;
  // Objects that stand for a typed array, so that their own `$bytes` is not escaped when the walk reaches them.
  const made = new WeakSet<object>();
  const text = JSON.stringify(frame, function (this: object, name, shown: unknown) {
    // Taken from its holder: a Node Buffer has a toJSON that would already have turned it into an object of numbers.
    const value: unknown = Reflect.get(this, name);
    if (typeof value !== 'object' || value === null || Array.isArray(value) || made.has(value)) return shown;
    if (ArrayBuffer.isView(value)) {
      const kind = Object.prototype.toString.call(value).slice(8, -1);
      if (!isKind(kind)) throw new TypeError(`a frame cannot carry a ${kind}`);
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      const reference = { [key]: [kind, offset, bytes.length] };
      arrays.push(bytes);
      offset = align(offset + bytes.length);
      made.add(reference);
      return reference;
    }
    if (value instanceof ArrayBuffer) throw new TypeError('a frame cannot carry a bare ArrayBuffer; wrap it in a Uint8Array');
    if (typeof shown !== 'object' || shown === null || !Object.keys(shown).some((name) => escapable.test(name))) return shown;
    return renameKeys(shown, (name) => (escapable.test(name) ? `$${name}` : name));
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

/** Decodes what `encodeFrame` made. Throws a RangeError, SyntaxError or TypeError on anything else; never reads outside `data`. */
export function decodeFrame(data: Uint8Array): unknown {
  if (data.length < 4) throw new RangeError('frame of fewer than 4 bytes');
  const headLength = new DataView(data.buffer, data.byteOffset, data.byteLength).getUint32(0);
  if (4 + headLength > data.length) throw new RangeError('frame ends inside its text');
  const start = align(4 + headLength);
  // Each byte may be referred to once: otherwise a short text could ask for the same megabytes again and again.
  let left = data.length - start;
  return JSON.parse(decoder.decode(data.subarray(4, 4 + headLength)), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if (!Object.hasOwn(value, key)) {
      return Object.keys(value).some((name) => escaped.test(name))
        ? renameKeys(value, (name) => (escaped.test(name) ? name.slice(1) : name))
        : value;
    }
    const spec: unknown = Reflect.get(value, key);
    if (!Array.isArray(spec) || spec.length !== 3) throw new RangeError('malformed typed array in frame');
    const [kind, offset, length]: unknown[] = spec;
    if (typeof kind !== 'string' || !isKind(kind) || !isIndex(offset) || !isIndex(length))
      throw new RangeError('malformed typed array in frame');
    const from = start + offset;
    if (from + length > data.length) throw new RangeError('typed array outside its frame');
    left -= length;
    if (left < 0) throw new RangeError('typed arrays that overlap');
    const Make = kinds[kind];
    if (length % Make.BYTES_PER_ELEMENT !== 0) throw new RangeError('typed array of a broken length');
    // A copy: it is aligned, and it does not keep the whole frame alive. (`slice` of a Node Buffer would be a view.)
    const copy = new Uint8Array(length);
    copy.set(data.subarray(from, from + length));
    return new Make(copy.buffer);
  });
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(kinds, kind);
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
