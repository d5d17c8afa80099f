// Checks that turn an impossible state into a named error at the place where it arose.

/** Exhaustiveness check for switches: reaching it at run time means that a value escaped its type. */
export function assertNever(value: never, what = 'value'): never {
  throw new Error(`unexpected ${what}: ${JSON.stringify(value)}`);
}

/** Returns `value`, or throws an error that says what was missing. */
export function ensure<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`missing ${what}`);
  return value;
}
