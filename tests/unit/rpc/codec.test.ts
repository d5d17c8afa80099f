import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeFrame, encodeFrame } from '#shared/rpc/codec.ts';

const typedArray = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.uint16Array({ maxLength: 20 }),
  fc.uint32Array({ maxLength: 20 }),
  fc.int8Array({ maxLength: 20 }),
  fc.int16Array({ maxLength: 20 }),
  fc.int32Array({ maxLength: 20 }),
  fc.float32Array({ maxLength: 20, noDefaultInfinity: true, noNaN: true }),
  fc.float64Array({ maxLength: 20, noDefaultInfinity: true, noNaN: true }),
);
// Any UTF-16, lone surrogates among it.
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
const keyText = fc.oneof(anyText, fc.constantFrom('$bytes', '$$bytes', '$$$bytes', 'toJSON', 'constructor'));
const frame = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
      anyText,
      typedArray,
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(keyText, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value;

describe('codec', () => {
  test('what is encoded comes back, whatever the text and the keys', () => {
    fc.assert(
      fc.property(frame, (value) => {
        expect(decodeFrame(encodeFrame({ value }))).toEqual({ value });
      }),
    );
  });

  test('views and Node Buffers carry their own bytes only, also out of a buffer that lies askew', () => {
    const pool = Buffer.from('..hello world..');
    const view = pool.subarray(2, 7);
    const sent = encodeFrame({ a: view, b: new Float64Array([1.5, -2]) });
    // As from a socket: somewhere inside a bigger buffer.
    const askew = Buffer.concat([Buffer.alloc(3), sent]).subarray(3);
    const got = decodeFrame(askew);
    expect(got).toEqual({ a: new Uint8Array(Buffer.from('hello')), b: new Float64Array([1.5, -2]) });
    askew.fill(0);
    expect(got).toEqual({ a: new Uint8Array(Buffer.from('hello')), b: new Float64Array([1.5, -2]) });
  });

  test('a stranger’s $bytes is data, not a reference', () => {
    const hostile = { details: { $bytes: ['Uint8Array', 0, 4] }, $$bytes: 1 };
    expect(decodeFrame(encodeFrame(hostile))).toEqual(hostile);
  });

  test('what cannot be carried is refused when it is sent', () => {
    expect(() => encodeFrame({ a: new DataView(new ArrayBuffer(4)) })).toThrow(/DataView/);
    expect(() => encodeFrame({ a: new BigInt64Array(1) })).toThrow(/BigInt64Array/);
    expect(() => encodeFrame({ a: new ArrayBuffer(4) })).toThrow(/ArrayBuffer/);
  });

  test('malformed bytes throw and nothing else', () => {
    const whole = encodeFrame({ t: 'ok', id: 1, value: [new Uint32Array([1, 2, 3]), 'text', { $bytes: 1 }] });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 64 }),
          // A true frame with some bytes changed and its end cut.
          fc
            .record({ edits: fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 4 }), end: fc.nat(whole.length) })
            .map(({ edits, end }) => {
              const bytes = whole.slice();
              for (const [at, byte] of edits) bytes[at] = byte;
              return bytes.slice(0, end);
            }),
        ),
        (bytes) => {
          let error: unknown = new RangeError('none');
          try {
            decodeFrame(bytes);
          } catch (thrown) {
            error = thrown;
          }
          expect([RangeError, SyntaxError, TypeError].some((kind) => error instanceof kind)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('references outside the frame, broken ones and repeated ones are refused', () => {
    const withText = (text: string, bytes: number) => {
      const head = new TextEncoder().encode(text);
      const out = new Uint8Array(((4 + head.length + 7) & ~7) + bytes);
      new DataView(out.buffer).setUint32(0, head.length);
      out.set(head, 4);
      return out;
    };
    const one = (spec: string) => () => decodeFrame(withText(`{"$bytes":${spec}}`, 16));
    expect(one('["Uint8Array",0,16]')()).toEqual(new Uint8Array(16));
    expect(one('["Uint8Array",0,17]')).toThrow(RangeError);
    expect(one('["Uint8Array",-8,8]')).toThrow(RangeError);
    expect(one('["Uint8Array",1.5,8]')).toThrow(RangeError);
    expect(one('["Uint32Array",0,7]')).toThrow(RangeError);
    expect(one('["constructor",0,8]')).toThrow(RangeError);
    expect(one('7')).toThrow(RangeError);
    const twice = '[{"$bytes":["Uint8Array",0,16]},{"$bytes":["Uint8Array",0,16]}]';
    expect(() => decodeFrame(withText(twice, 16))).toThrow(/overlap/);
    expect(() => decodeFrame(withText('['.repeat(200_000), 0))).toThrow(/JSON|call stack/);
  });
});
