// RFC 8785 (JSON Canonicalization Scheme) for values that JSON can carry without loss, and a refusal of all others. Hashes of runs,
// bundles and trees stand on this text, so nothing is dropped, rounded or replaced silently. The tests compare it with the
// `canonicalize` package; it is written out here because the refusals need a walk over every value anyway.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Arrays and objects may be nested this deep. Structured clone and JSON.stringify overflow the stack at about 5,000. */
export const maxJsonDepth = 1_000;

type Step = string | number;

const refuse = (path: readonly Step[], what: string): never => {
  const where = path.reduce<string>((text, step) => `${text}[${JSON.stringify(step)}]`, '$');
  throw new Error(`canonical JSON: ${what} at ${where.length > 300 ? `${where.slice(0, 300)}…` : where}`);
};

const number = (value: number, path: readonly Step[]): string => {
  // The usual case; -0 is written as 0 here too.
  if (Number.isSafeInteger(value)) return String(value);
  if (!Number.isFinite(value)) return refuse(path, `${value} is not JSON`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return refuse(path, `${value} is an integer beyond 2^53 - 1`);
  return JSON.stringify(value);
};

const plainText = /^[\w .:/-]*$/;

const string = (value: string, path: readonly Step[]): string =>
  // Hashes and names: letters, digits and what needs no escape.
  value.length <= 128 && plainText.test(value)
    ? `"${value}"`
    : value.isWellFormed()
      ? JSON.stringify(value)
      : refuse(path, 'a lone surrogate');

// The names of members are few and come again in every record.
const names = new Map<string, string>();
const maxNames = 4_096;

const memberName = (key: string, path: readonly Step[]): string => {
  const known = names.get(key);
  if (known !== undefined) return known;
  const written = `${string(key, path)}:`;
  if (names.size < maxNames && key.length <= 64) names.set(key, written);
  return written;
};

// Object.prototype of any realm (a value that came out of a vm or a message port), or no prototype at all.
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

type Entry = readonly [key: string, member: unknown];

// Most objects are made in the order of their keys.
const isSorted = (entries: readonly Entry[]): boolean => {
  let before = '';
  for (const [key] of entries) {
    if (key < before) return false;
    before = key;
  }
  return true;
};

const writeArray = (value: readonly unknown[], path: Step[]): string => {
  let text = '[';
  for (let i = 0; i < value.length; i++) {
    path.push(i);
    if (!Object.hasOwn(value, i)) refuse(path, 'a hole in an array');
    text += i === 0 ? write(value[i], path) : `,${write(value[i], path)}`;
    path.pop();
  }
  return `${text}]`;
};

const writeObject = (value: object, path: Step[]): string => {
  if (!isPlain(value)) return refuse(path, 'an object that is not plain');
  if (Object.getOwnPropertySymbols(value).length > 0) return refuse(path, 'an object with symbol keys');
  // The default sort orders by UTF-16 code units, which is the order that RFC 8785 asks for.
  const entries: Entry[] = Object.entries(value);
  if (!isSorted(entries)) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  let text = '{';
  for (const [key, member] of entries) {
    path.push(key);
    if (text.length > 1) text += ',';
    text += memberName(key, path) + write(member, path);
    path.pop();
  }
  return `${text}}`;
};

const write = (value: unknown, path: Step[]): string => {
  if (typeof value === 'string') return string(value, path);
  if (typeof value === 'number') return number(value, path);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  if (typeof value !== 'object') return refuse(path, `a value of type ${typeof value} is not JSON`);
  if (path.length >= maxJsonDepth) return refuse(path, `nesting deeper than ${maxJsonDepth} levels (or a cycle)`);
  return Array.isArray(value) ? writeArray(value, path) : writeObject(value, path);
};

/**
 * The RFC 8785 text of `value`: no spaces, keys ordered by UTF-16 code units, numbers as ECMAScript writes them (-0 as 0).
 * Throws an Error that names the path for whatever JSON cannot carry exactly: NaN and Infinity, integers beyond 2^53 - 1 (other readers
 * would round them), undefined, bigint, functions, symbols, objects that are not plain, holes, lone surrogates, more than 1,000 levels.
 */
export function canonicalJson(value: Json): string {
  return write(value, []);
}
