// The scanner must accept exactly what JSON is, and its ranges must be the values that JSON.parse finds.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ensure } from '#shared/lib/assert.ts';
import { applySplices, maxScanDepth, scanJson, textOf, type JsonNode } from '#electron/proposers/json-text.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The value of a node, read from its own bytes for scalars and from its parts for containers. */
const valueOf = (bytes: Uint8Array, node: JsonNode): unknown => {
  if (node.type === 'array') return node.items.map((item) => valueOf(bytes, item));
  if (node.type === 'object') {
    return Object.fromEntries(node.members.map(({ key, value }): [string, unknown] => [key, valueOf(bytes, value)]));
  }
  return JSON.parse(textOf(bytes, node));
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('scanJson', () => {
  it('finds in every document what JSON.parse finds, whatever the layout', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, '\t', 2), fc.boolean(), (json, indent, crlf) => {
        const pretty = JSON.stringify(JSON.parse(json), null, indent);
        const text = crlf ? pretty.replaceAll('\n', '\r\n') : pretty;
        const bytes = encode(text);
        expect(valueOf(bytes, ensure(scanJson(bytes), 'a scan'))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('accepts a damaged text exactly when JSON.parse does', () => {
    const damaged = fc
      .tuple(
        fc.json({ maxDepth: 3 }),
        fc.nat(),
        fc.nat({ max: 2 }),
        fc.constantFrom('', ',', '"', '0', '-', '.', 'e', '+', '\\', '\\u00', '{', ']', ' ', '\n', 'null', '1', '\u00a0', '\ufeff'),
      )
      .map(([json, at, cut, extra]) => json.slice(0, at % (json.length + 1)) + extra + json.slice((at % (json.length + 1)) + cut))
      // A cut through a surrogate pair has no UTF-8 form; a leading mark is allowed in a file and not by JSON.parse.
      .filter((text) => text.isWellFormed() && !text.startsWith('\ufeff'));
    fc.assert(
      fc.property(damaged, (text) => {
        expect(scanJson(encode(text)) !== null).toBe(isJson(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['-0', true],
    ['01', false],
    ['1.', false],
    ['.5', false],
    ['1e', false],
    ['1E+2', true],
    ['-', false],
    ['12345678901234567890.000', true],
    ['"\\u12g4"', false],
    ['"\\ud800"', true],
    ['"a\tb"', false],
    ['[1,]', false],
    ['{"a":1,}', false],
    ['{"a" 1}', false],
    ['nul', false],
    ['', false],
    ['1 2', false],
  ])('%s: %s', (text, accepted) => {
    expect(scanJson(encode(text)) !== null).toBe(accepted);
  });

  it('keeps duplicate names and a byte order mark, and refuses what is not UTF-8', () => {
    const root = scanJson(encode('\ufeff{"a":1,"a":2}'));
    expect(root).toMatchObject({ type: 'object', start: 3, members: [{ key: 'a' }, { key: 'a' }] });
    expect(scanJson(new Uint8Array([0x22, 0xff, 0x22]))).toBeNull();
  });

  it('refuses documents that are nested too deep instead of overflowing', () => {
    const nested = (depth: number): Uint8Array => encode('['.repeat(depth) + ']'.repeat(depth));
    expect(scanJson(nested(maxScanDepth))).not.toBeNull();
    expect(scanJson(nested(maxScanDepth + 2))).toBeNull();
    expect(scanJson(nested(1_000_000))).toBeNull();
  });
});

describe('applySplices', () => {
  it('replaces byte ranges and keeps every other byte', () => {
    const bytes = encode('{"ä": 1,\r\n "b": 2}');
    const spliced = applySplices(bytes, [
      { start: 7, end: 8, old: '1', new: '"é"' },
      { start: 17, end: 18, old: '2', new: '' },
    ]);
    expect(spliced).toEqual(encode('{"ä": "é",\r\n "b": }'));
  });

  it.each([
    ['other bytes', [{ start: 1, end: 2, old: 'x', new: '' }]],
    ['a length that does not fit', [{ start: 1, end: 3, old: 'b', new: '' }]],
    ['a range beyond the end', [{ start: 2, end: 4, old: 'cd', new: '' }]],
    [
      'ranges out of order',
      [
        { start: 2, end: 3, old: 'c', new: '' },
        { start: 0, end: 1, old: 'a', new: '' },
      ],
    ],
  ])('refuses %s', (_, splices) => {
    expect(applySplices(encode('abc'), splices)).toBeNull();
  });
});
