// Text with wildcards, matched in time proportional to text times pattern: `*` any characters, `?` one, `\` takes the next as it is.
import { err, ok, type Result } from './result.ts';

export type Wildcard = {
  /** The one text that it matches, when it has no wildcard. */
  readonly exact: string | null;
  /** The characters that stand for themselves, in their order. */
  readonly literal: string;
  readonly matches: (text: string) => boolean;
};

type Token = { readonly kind: 'char'; readonly char: string } | { readonly kind: 'one' } | { readonly kind: 'many' };

/** The error is the end of a sentence that begins with the name of the field. */
export function parseWildcard(pattern: string): Result<Wildcard, string> {
  const tokens: Token[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'many') tokens.push({ kind: 'many' });
    } else if (char === '?') tokens.push({ kind: 'one' });
    else if (char === '\\') {
      i++;
      if (i >= pattern.length) return err('ends with a single "\\"; write \\\\ for a backslash');
      tokens.push({ kind: 'char', char: pattern.charAt(i) });
    } else tokens.push({ kind: 'char', char });
  }
  const literal = tokens.map((token) => (token.kind === 'char' ? token.char : '')).join('');
  const exact = tokens.every(({ kind }) => kind === 'char');
  return ok({ exact: exact ? literal : null, literal, matches: exact ? (text) => text === literal : matcher(tokens) });
}

function matcher(tokens: readonly Token[]): (text: string) => boolean {
  return (text) => {
    let at = 0;
    let token = 0;
    // Where the last `*` stands, and up to where it has eaten.
    let star = -1;
    let eaten = 0;
    while (at < text.length) {
      const wanted = tokens[token];
      if (wanted?.kind === 'many') {
        star = token++;
        eaten = at;
      } else if (wanted?.kind === 'one' || (wanted?.kind === 'char' && wanted.char === text[at])) {
        token++;
        at++;
      } else if (star >= 0) {
        token = star + 1;
        at = ++eaten;
      } else return false;
    }
    while (tokens[token]?.kind === 'many') token++;
    return token === tokens.length;
  };
}
