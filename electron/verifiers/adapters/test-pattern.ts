// Which tests an obligation is about: `from` of the adapters that know single tests.
import { parseWildcard } from '#shared/lib/wildcard.ts';

/** Ids are cut to this length, so that no longer pattern could match. */
const maxIdLength = 2_000;

export type TestPattern = {
  /** Without wildcards: the one id that is meant, also that of a suite or a test with subtests. */
  readonly exact: string | null;
  readonly matches: (id: string) => boolean;
  /** Fewer tests than this are as many violations; 0 = not said. */
  readonly min: number;
  /** A skipped test is no violation. */
  readonly skippedOk: boolean;
};

/** Control characters and half surrogate pairs in names become U+FFFD: names stand in lists, one a line. Long names are cut. */
export function testId(name: string): string {
  const plain = name.toWellFormed().replace(/[\p{Cc}\u2028\u2029]/gu, '\u{fffd}');
  return plain.length > maxIdLength ? plain.slice(0, maxIdLength).toWellFormed() : plain;
}

/**
 * Parses `[min=12, skipped=ok] pattern`; the part in brackets is optional, and a pattern that begins with `[` is written `\[`. The error
 * is the end of a sentence that begins with the name of the field.
 */
export function parseTestPattern(from: string): TestPattern | { readonly error: string } {
  let min = 0;
  let skippedOk = false;
  let text = from;
  if (from.startsWith('[')) {
    const head = /^\[([^\]]*)\] (.*)$/s.exec(from);
    if (head === null)
      return {
        error:
          'begins with "[" and has no "] " after it; write options as [min=12, skipped=ok] before a space, or \\[ for a test whose name begins so',
      };
    text = head[2] ?? '';
    for (const option of (head[1] ?? '').split(',').map((part) => part.trim())) {
      const number = /^min=([1-9][0-9]{0,5})$/.exec(option)?.[1];
      if (number !== undefined) min = Number(number);
      else if (option === 'skipped=ok') skippedOk = true;
      else return { error: `has the unknown option ${JSON.stringify(option)}; known are min=N and skipped=ok` };
    }
  }
  const parsed = parseWildcard(text);
  if (!parsed.ok) return { error: parsed.error };
  const { literal, exact, matches } = parsed.value;
  if (text === '') return { error: 'is empty and could never match; write a test id or a glob' };
  if (testId(literal) !== literal)
    return { error: `could never match: test ids have no control characters (each becomes U+FFFD) and at most ${maxIdLength} characters` };
  if (exact !== null && min > 1) return { error: `names one test and min=${min}; write a glob, or remove min` };
  return { exact, matches, min, skippedOk };
}

/** Why `from` cannot name tests of such a task; null where it can. */
export function checkTestPattern(from: string, kind: string, runsCandidate: boolean): string | null {
  const pattern = parseTestPattern(from);
  if ('error' in pattern) return pattern.error;
  if (kind === 'ordinal') return 'belongs to an ordinal obligation, and tests pass or fail; write kind = "binary" or "count"';
  // Code under test can end the tool early or unregister tests: then fewer tests fail because fewer ran.
  if (runsCandidate && pattern.exact === null && pattern.min === 0)
    return 'is a glob without min, and candidate code can keep tests from running; write how many there are, such as [min=12] before it';
  return null;
}
