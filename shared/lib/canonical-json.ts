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
  if (!Number.isFinite(value)) return refuse(path, `${value} is not JSON`);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return refuse(path, `${value} is an integer beyond 2^53 - 1`);
  return JSON.stringify(value);
};

const string = (value: string, path: readonly Step[]): string =>
  value.isWellFormed() ? JSON.stringify(value) : refuse(path, 'a lone surrogate');

// Object.prototype of any realm (a value that came out of a vm or a message port), or no prototype at all.
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

const isSorted = (entries: readonly (readonly [string, unknown])[]): boolean =>
  entries.every(([key], i) => i === 0 || (entries[i - 1]?.[0] ?? '') < key);

const write = (value: unknown, path: Step[]): string => {
  if (value === null) return 'null';
  if (typeof value === 'string') return string(value, path);
  if (typeof value === 'number') return number(value, path);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value !== 'object') return refuse(path, `a value of type ${typeof value} is not JSON`);
  if (path.length >= maxJsonDepth) return refuse(path, `nesting deeper than ${maxJsonDepth} levels (or a cycle)`);
  if (Array.isArray(value)) {
    const items: string[] = [];
    for (let i = 0; i < value.length; i++) {
      path.push(i);
      if (!Object.hasOwn(value, i)) refuse(path, 'a hole in an array');
      items.push(write(value[i], path));
      path.pop();
    }
    return `[${items.join(',')}]`;
  }
  if (!isPlain(value)) return refuse(path, 'an object that is not plain');
  if (Object.getOwnPropertySymbols(value).length > 0) return refuse(path, 'an object with symbol keys');
  const members: string[] = [];
  // The default sort orders by UTF-16 code units, which is the order that RFC 8785 asks for; most objects are made in it.
  const entries = Object.entries(value);
  if (!isSorted(entries)) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (const [key, member] of entries) {
    path.push(key);
    members.push(`${string(key, path)}:${write(member, path)}`);
    path.pop();
  }
  return `{${members.join(',')}}`;
};

/**
 * The RFC 8785 text of `value`: no spaces, keys ordered by UTF-16 code units, numbers as ECMAScript writes them (-0 as 0).
 * Throws an Error that names the path for whatever JSON cannot carry exactly: NaN and Infinity, integers beyond 2^53 - 1 (other readers
 * would round them), undefined, bigint, functions, symbols, objects that are not plain, holes, lone surrogates, more than 1,000 levels.
 */
export function canonicalJson(value: Json): string {
  return write(value, []);
}
