// Structured clone as text: Chromium's debugging protocol carries only strings. Functions and symbols throw DataCloneError, as in Electron.
// The page gets these functions by their source (`wireSource`), so each uses nothing but its arguments, the others and globals.

export type Wire = null | boolean | string | number | { t: string; k?: string; v?: unknown };

export function encode(value: unknown): Wire {
  if (value === undefined) return { t: 'undefined' };
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0) ? value : { t: 'number', v: Object.is(value, -0) ? '-0' : String(value) };
  if (typeof value === 'bigint') return { t: 'bigint', v: String(value) };
  if (typeof value === 'function' || typeof value === 'symbol') throw new DOMException('An object could not be cloned.', 'DataCloneError');
  if (Array.isArray(value)) return { t: 'array', v: value.map(encode) };
  if (value instanceof Date) return { t: 'date', v: value.getTime() };
  if (value instanceof Map) return { t: 'map', v: [...value].map(([k, v]) => [encode(k), encode(v)]) };
  if (value instanceof Set) return { t: 'set', v: [...value].map(encode) };
  if (value instanceof Error) return { t: 'error', v: { name: value.name, message: value.message, stack: value.stack ?? '' } };
  if (value instanceof ArrayBuffer) return { t: 'buffer', v: toBase64(new Uint8Array(value)) };
  if (ArrayBuffer.isView(value))
    return {
      t: 'view',
      k: Object.prototype.toString.call(value).slice(8, -1),
      v: toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)),
    };
  if (typeof Reflect.get(value, 'then') === 'function') throw new DOMException('#<Promise> could not be cloned.', 'DataCloneError');
  return { t: 'object', v: Object.entries(value).map(([k, v]) => [k, encode(v)]) };
}

// oxlint-disable-next-line typescript/no-explicit-any -- the shape of `v` depends on `t`; both ends are this file
export function decode(wire: any): unknown {
  if (wire === null || typeof wire !== 'object') return wire;
  switch (wire.t) {
    case 'undefined':
      return undefined;
    case 'number':
      return Number(wire.v);
    case 'bigint':
      return BigInt(wire.v);
    case 'array':
      return wire.v.map(decode);
    case 'date':
      return new Date(wire.v);
    case 'map':
      return new Map(wire.v.map(([k, v]: [unknown, unknown]) => [decode(k), decode(v)]));
    case 'set':
      return new Set(wire.v.map(decode));
    case 'error':
      return Object.assign(new Error(wire.v.message), { name: wire.v.name, stack: wire.v.stack });
    case 'buffer':
      return fromBase64(wire.v).buffer;
    case 'view': {
      const bytes = fromBase64(wire.v);
      const kind: unknown = Reflect.get(globalThis, String(wire.k));
      if (typeof kind !== 'function') throw new TypeError(`no view is called ${String(wire.k)}`);
      return Reflect.construct(kind, [bytes.buffer]);
    }
    case 'object':
      return Object.fromEntries(wire.v.map(([k, v]: [string, unknown]) => [k, decode(v)]));
    default:
      throw new TypeError(`unknown wire type ${String(wire.t)}`);
  }
}

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 32_768) text += String.fromCharCode(...bytes.subarray(i, i + 32_768));
  return btoa(text);
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

export const wireSource: string = [encode, decode, toBase64, fromBase64].map(String).join('\n');
