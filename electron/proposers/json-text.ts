// JSON with positions: where each value stands in the bytes of a file, so that an edit replaces the bytes of a value and nothing else.
// JSON.parse cannot serve: it drops the layout, merges duplicate keys and rounds numbers.

/** `start` (inclusive) and `end` (exclusive) are byte offsets in the file. */
export type JsonScalar = { readonly type: 'string' | 'number' | 'boolean' | 'null'; readonly start: number; readonly end: number };
export type JsonArray = { readonly type: 'array'; readonly start: number; readonly end: number; readonly items: readonly JsonNode[] };
export type JsonObject = { readonly type: 'object'; readonly start: number; readonly end: number; readonly members: readonly JsonMember[] };
/** `key` is the decoded name. Duplicate names are kept, in the order of the text. */
export type JsonMember = { readonly key: string; readonly value: JsonNode };
export type JsonNode = JsonScalar | JsonArray | JsonObject;

/** Deeper documents are not edited: a hostile file must not overflow the stack. */
export const maxScanDepth = 200;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isHex = (byte: number | undefined): boolean =>
  byte !== undefined && (isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66));
const literals = [
  { text: 'true', type: 'boolean' },
  { text: 'false', type: 'boolean' },
  { text: 'null', type: 'null' },
] as const;

class NotJson extends Error {}

class Scanner {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    // A byte order mark is kept in the file and is no part of the document.
    this.at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  }

  document(): JsonNode {
    this.space();
    const root = this.value(0);
    this.space();
    if (this.at !== this.bytes.length) this.fail();
    return root;
  }

  private fail(): never {
    throw new NotJson(`not JSON at byte ${this.at}`);
  }

  private space(): void {
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte !== SPACE && byte !== LF && byte !== CR && byte !== TAB) return;
      this.at++;
    }
  }

  private take(byte: number): boolean {
    if (this.bytes[this.at] !== byte) return false;
    this.at++;
    return true;
  }

  private expect(byte: number): void {
    if (!this.take(byte)) this.fail();
  }

  private value(depth: number): JsonNode {
    if (depth > maxScanDepth) throw new NotJson(`nested deeper than ${maxScanDepth} levels`);
    const byte = this.bytes[this.at];
    if (byte === OPEN_OBJECT) return this.object(depth);
    if (byte === OPEN_ARRAY) return this.array(depth);
    if (byte === QUOTE) return this.string();
    return this.literal() ?? this.number();
  }

  private object(depth: number): JsonObject {
    const start = this.at++;
    const members: JsonMember[] = [];
    this.space();
    if (!this.take(CLOSE_OBJECT)) {
      do {
        this.space();
        const name = this.string();
        const key: unknown = JSON.parse(decoder.decode(this.bytes.subarray(name.start, name.end)));
        this.space();
        this.expect(COLON);
        this.space();
        members.push({ key: String(key), value: this.value(depth + 1) });
        this.space();
      } while (this.take(COMMA));
      this.expect(CLOSE_OBJECT);
    }
    return { type: 'object', start, end: this.at, members };
  }

  private array(depth: number): JsonArray {
    const start = this.at++;
    const items: JsonNode[] = [];
    this.space();
    if (!this.take(CLOSE_ARRAY)) {
      do {
        this.space();
        items.push(this.value(depth + 1));
        this.space();
      } while (this.take(COMMA));
      this.expect(CLOSE_ARRAY);
    }
    return { type: 'array', start, end: this.at, items };
  }

  private string(): JsonScalar {
    const start = this.at;
    this.expect(QUOTE);
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte === undefined || byte < SPACE) this.fail();
      this.at++;
      if (byte === QUOTE) return { type: 'string', start, end: this.at };
      if (byte === BACKSLASH) this.escape();
    }
  }

  private escape(): void {
    const byte = this.bytes[this.at];
    if (byte === 0x75) {
      for (let i = 1; i <= 4; i++) if (!isHex(this.bytes[this.at + i])) this.fail();
      this.at += 5;
    } else if (byte !== undefined && '"\\/bfnrt'.includes(String.fromCharCode(byte))) this.at++;
    else this.fail();
  }

  private literal(): JsonScalar | null {
    for (const { text, type } of literals) {
      const start = this.at;
      let length = 0;
      while (length < text.length && this.bytes[start + length] === text.charCodeAt(length)) length++;
      if (length === text.length) {
        this.at += length;
        return { type, start, end: this.at };
      }
    }
    return null;
  }

  private digits(): void {
    if (!isDigit(this.bytes[this.at])) this.fail();
    while (isDigit(this.bytes[this.at])) this.at++;
  }

  private number(): JsonScalar {
    const start = this.at;
    this.take(0x2d);
    if (!this.take(0x30)) this.digits();
    if (this.take(0x2e)) this.digits();
    if (this.take(0x65) || this.take(0x45)) {
      if (!this.take(0x2b)) this.take(0x2d);
      this.digits();
    }
    return { type: 'number', start, end: this.at };
  }
}

/**
 * The document in `bytes` with the position of every value, or null when the bytes are not one RFC 8259 document in UTF-8 (a byte order
 * mark is allowed) of at most `maxScanDepth` levels.
 */
export function scanJson(bytes: Uint8Array): JsonNode | null {
  try {
    decoder.decode(bytes);
    return new Scanner(bytes).document();
  } catch (error) {
    // The decoder throws a TypeError for bytes that are not UTF-8.
    if (error instanceof NotJson || error instanceof TypeError) return null;
    throw error;
  }
}

/** The text of a range that begins and ends at the border of a JSON token. */
export function textOf(bytes: Uint8Array, range: { readonly start: number; readonly end: number }): string {
  return decoder.decode(bytes.subarray(range.start, range.end));
}

/** Replaces the bytes in [start, end), which must be `old`, by `new`. */
export type Splice = { readonly start: number; readonly end: number; readonly old: string; readonly new: string };

const encoder = new TextEncoder();

/**
 * Applies splices whose offsets all refer to `bytes` as given, ordered by start and not overlapping. Null when they do not fit, that is
 * when the bytes they were made for are not these.
 */
export function applySplices(bytes: Uint8Array, splices: readonly Splice[]): Uint8Array | null {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const splice of splices) {
    const old = encoder.encode(splice.old);
    if (splice.start < from || splice.end > bytes.length || splice.end - splice.start !== old.length) return null;
    if (!old.every((byte, i) => bytes[splice.start + i] === byte)) return null;
    parts.push(bytes.subarray(from, splice.start), encoder.encode(splice.new));
    from = splice.end;
  }
  parts.push(bytes.subarray(from));
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
