// Text measured and ordered by its UTF-8 bytes, without an encoder on the hot paths.

// UTF-16 puts surrogates (code points above U+FFFF) before U+E000 to U+FFFF; UTF-8 orders by code point. Moving the two ranges past
// each other makes code units compare as code points do.
const unitInCodePointOrder = (unit: number): number => (unit < 0xd800 ? unit : unit >= 0xe000 ? unit - 0x800 : unit + 0x2000);

/** Orders two texts by their UTF-8 bytes (JavaScript's own `sort` orders by UTF-16 code units); negative, 0 or positive. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return unitInCodePointOrder(x) - unitInCodePointOrder(y);
  }
  return a.length - b.length;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Bytes that `text` takes in UTF-8; a lone surrogate counts 3, as the U+FFFD that an encoder writes for it. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

/** The longest beginning of `text` that takes at most `maxBytes` in UTF-8 and splits no code point. */
export function truncateUtf8(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const point = text.codePointAt(end) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) break;
    end += point < 0x10000 ? 1 : 2;
  }
  return text.slice(0, end);
}

/**
 * Shortens `text` to at most `max` UTF-16 units by replacing its middle with one `…`: both ends of a path or an id stay readable.
 * Never splits a surrogate pair. Throws when `max` is not a positive integer.
 */
export function middleEllipsis(text: string, max: number): string {
  if (!Number.isSafeInteger(max) || max < 1) throw new RangeError(`middleEllipsis: max is ${max}, must be a positive integer`);
  if (text.length <= max) return text;
  const kept = max - 1;
  let head = Math.ceil(kept / 2);
  let tail = text.length - Math.floor(kept / 2);
  if (head > 0 && isHighSurrogate(text.charCodeAt(head - 1)) && isLowSurrogate(text.charCodeAt(head))) head--;
  if (tail < text.length && isLowSurrogate(text.charCodeAt(tail)) && isHighSurrogate(text.charCodeAt(tail - 1))) tail++;
  return `${text.slice(0, head)}…${text.slice(tail)}`;
}
