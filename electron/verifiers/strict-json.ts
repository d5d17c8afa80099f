// JSON that other people wrote and that decides something: one document, UTF-8, no key twice. JSON.parse alone keeps the last of two
// equal keys silently, so two readers of one file could see two different things.
import { err, ok, type Result } from '#shared/lib/result.ts';
import { messageOf } from '#shared/lib/message-of.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Arrays and objects may be nested this deep. */
const maxDepth = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Index after the string that begins at `at`; the text is valid JSON. */
const skipString = (text: string, at: number): number => {
  let i = at + 1;
  for (let unit = text.charCodeAt(i); unit !== QUOTE; unit = text.charCodeAt(i)) i += unit === BACKSLASH ? 2 : 1;
  return i + 1;
};

/** What JSON.parse does not see: a key twice in one object, nesting that overflows later readers. `text` is valid JSON. */
const findProblem = (text: string): string | null => {
  // One entry per open array (null) or object (its keys so far).
  const open: (Set<string> | null)[] = [];
  let expectKey = false;
  for (let i = 0; i < text.length;) {
    switch (text.charAt(i)) {
      case '{':
        open.push(new Set());
        expectKey = true;
        i++;
        break;
      case '[':
        open.push(null);
        expectKey = false;
        i++;
        break;
      case '}':
      case ']':
        open.pop();
        expectKey = false;
        i++;
        break;
      case ',':
        expectKey = open.at(-1) instanceof Set;
        i++;
        break;
      case '"': {
        const end = skipString(text, i);
        const keys = open.at(-1);
        if (expectKey && keys instanceof Set) {
          const raw = text.slice(i, end);
          // Keys are compared as they read, not as they are spelled: "a" and "\u0061" are one.
          const key = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
          if (keys.has(key)) return `the key ${JSON.stringify(key.slice(0, 100))} stands twice in one object`;
          keys.add(key);
          expectKey = false;
        }
        i = end;
        break;
      }
      default:
        i++;
    }
    if (open.length > maxDepth) return `it is nested deeper than ${maxDepth} levels`;
  }
  return null;
};

/**
 * Parses exactly one JSON document in UTF-8 (no byte order mark). The error says in words what is wrong: not UTF-8, not JSON, a second
 * document or other trailing text, a key twice in one object, more than 1,000 levels.
 */
export function parseStrictJson(bytes: Uint8Array): Result<unknown, string> {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return err('it is not UTF-8 text');
  }
  if (text.trim() === '') return err('it is empty');
  if (text.startsWith('\u{feff}')) return err('it begins with a byte order mark');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The engine's message quotes the text; a hostile one is cut short.
    const message = messageOf(error);
    return err(`it is not one JSON document: ${message.length > 300 ? `${message.slice(0, 300)}…` : message}`);
  }
  const problem = findProblem(text);
  return problem === null ? ok(value) : err(problem);
}
