// Tokens of program text, with positions. One small scanner for many languages: it knows how they write names, numbers, strings, comments
// and operators, and nothing of their grammar. It never fails; what it does not understand becomes a token of kind `other`.

export type TokenKind =
  | 'name'
  /** A reserved word of a common language, or a word operator such as `and`. */
  | 'keyword'
  | 'number'
  | 'string'
  /** A regular expression literal. */
  | 'regex'
  | 'operator'
  | 'open'
  | 'close'
  | 'comma'
  | 'comment'
  | 'space'
  | 'newline'
  | 'other';

/** `start` (inclusive) and `end` (exclusive) are indexes of the text; tokens follow each other without gaps. */
export type Token = { readonly kind: TokenKind; readonly start: number; readonly end: number };

/** `hash`: comments begin with #, as in Python and the shell. `slash`: with // or /*, as in C and its relatives. */
export type Family = 'hash' | 'slash' | 'plain';

const extensions: Readonly<Record<Exclude<Family, 'plain'>, readonly string[]>> = {
  slash: 'js mjs cjs jsx ts mts cts tsx c h cc cpp hpp cs java kt go rs swift scala dart php css scss less'.split(' '),
  hash: 'py pyi sh bash zsh ksh rb pl r jl ex exs toml yaml yml cfg conf ini env mk cmake tf nix'.split(' '),
};
const hashNames = new Set(['makefile', 'dockerfile', 'justfile', 'rakefile', 'gemfile', '.env', '.bashrc', '.profile']);

/** By the file's name alone. */
export function familyOf(path: string): Family {
  const name = (path.split('/').at(-1) ?? '').toLowerCase();
  if (hashNames.has(name)) return 'hash';
  const extension = name.includes('.') ? (name.split('.').at(-1) ?? '') : '';
  if (extensions.slash.includes(extension)) return 'slash';
  return extensions.hash.includes(extension) ? 'hash' : 'plain';
}

// Reserved words of the languages above, together: none of them is a name that could stand for another.
const keywords = new Set(
  (
    'abstract alias and as assert async await begin bool boolean break byte case catch char class const continue debugger declare def ' +
    'default defer del delete do done double elif else elsif end ensure enum esac except export extends extern fallthrough false False ' +
    'fi final finally float fn for foreach from func function global go goto if impl implements import in instanceof int interface is ' +
    'lambda let local long loop match mod module mut namespace new nil None nonlocal not null of or package pass private protected pub ' +
    'public raise range readonly rescue return select short static struct super switch template then this throw throws trait true True ' +
    'try type typedef typeof undefined unless unsafe until use using val var virtual void volatile when where while with yield'
  ).split(' '),
);
// Words that are also ordinary names somewhere: they stay names, because a keyword is never exchanged for another name.
for (const word of ['range', 'match', 'type', 'use', 'end', 'begin', 'val', 'of', 'done', 'module', 'mod', 'loop', 'alias'])
  keywords.delete(word);

// Longest first: the first one that fits is meant.
const operators = (
  '>>>= === !== >>> **= ... <<= >>= &&= ||= ??= //= => -> == != <= >= && || ?? ?. ++ -- += -= *= /= %= &= |= ^= ** << >> :: := // ' +
  '+ - * / % < > = ! & | ^ ~ ? : ; . @'
).split(' ');
const operatorsAt = new Map<string, readonly string[]>();
for (const operator of operators) {
  const first = operator.charAt(0);
  operatorsAt.set(first, [...(operatorsAt.get(first) ?? []), operator]);
}

const wordStart = /[\p{ID_Start}_$]/u;
const word = /[\p{ID_Continue}$\u200c\u200d]+/uy;
const number = /(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?(?:\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)[a-zA-Z]{0,3}/y;
const space = /[^\S\r\n]+/y;
const shellTest = /-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|[a-zA-Z])(?=\s)/y;
const stringPrefix = /^(?:[rbfu]|rb|br|fr|rf)$/i;

/** Longer ones are read as divisions, so that a hostile line is not scanned again for each of its slashes. */
const maxRegexLength = 1_000;
/** Nested templates deeper than this end with the text. */
const maxNesting = 30;

class Tokenizer {
  readonly text: string;
  readonly family: Family;
  readonly tokens: Token[] = [];
  at = 0;
  /** The last token that is neither space nor comment. */
  last: Token | null = null;
  /** Whether the string whose end was looked for last has a closing quote. */
  private closed = true;

  constructor(text: string, family: Family) {
    this.text = text;
    this.family = family;
  }

  private push(kind: TokenKind, end: number): void {
    const token = { kind, start: this.at, end };
    this.tokens.push(token);
    if (kind !== 'space' && kind !== 'comment') this.last = token;
    this.at = end;
  }

  /** The end of what the sticky `pattern` matches here, or -1. */
  private match(pattern: RegExp): number {
    pattern.lastIndex = this.at;
    return pattern.test(this.text) ? pattern.lastIndex : -1;
  }

  private lineEnd(from: number): number {
    for (let i = from; i < this.text.length; i++) {
      const c = this.text.charCodeAt(i);
      if (c === 10 || c === 13) return i;
    }
    return this.text.length;
  }

  private ended(end: number, closed: boolean): number {
    this.closed = closed;
    return end;
  }

  /** A string that nobody closes is no literal: what it holds belongs to no one, the line end of the file among it. */
  private string(end: number): void {
    this.push(this.closed ? 'string' : 'other', end);
  }

  /** The end of a string whose opening quote stands at `from`: behind the closing one, or where the line ends. */
  private quoted(from: number, quote: string): number {
    for (let i = from + 1; i < this.text.length; i++) {
      const c = this.text.charAt(i);
      if (c === '\\' && i + 1 < this.text.length && !/[\r\n]/.test(this.text.charAt(i + 1))) i++;
      else if (c === quote) return this.ended(i + 1, true);
      else if (c === '\n' || c === '\r') return this.ended(i, false);
    }
    return this.ended(this.text.length, false);
  }

  private triple(from: number, quotes: string): number {
    for (let i = from + 3; i < this.text.length; i++) {
      if (this.text.charAt(i) === '\\') i++;
      else if (this.text.startsWith(quotes, i)) return this.ended(i + 3, true);
    }
    return this.ended(this.text.length, false);
  }

  /** A template whose backtick stands at `from`, with the expressions in it. */
  private templateEnd(from: number, depth: number): number {
    let braces = 0;
    for (let i = from + 1; i < this.text.length; i++) {
      const c = this.text.charAt(i);
      if (c === '\\') i++;
      else if (braces === 0) {
        if (c === '`') return this.ended(i + 1, true);
        if (c === '$' && this.text.charAt(i + 1) === '{') {
          braces = 1;
          i++;
        }
      } else if (c === '{') braces++;
      else if (c === '}') braces--;
      else if (c === '"' || c === "'") i = this.quoted(i, c) - 1;
      else if (c === '`') {
        if (depth >= maxNesting) return this.ended(this.text.length, false);
        i = this.templateEnd(i, depth + 1) - 1;
      }
    }
    return this.ended(this.text.length, false);
  }

  private regexEnd(): number {
    // A division follows a value; a regular expression stands where a value is expected.
    const { last } = this;
    if (last !== null && (last.kind === 'name' || last.kind === 'number' || last.kind === 'string' || last.kind === 'close')) return -1;
    let inClass = false;
    const limit = Math.min(this.text.length, this.at + maxRegexLength);
    for (let i = this.at + 1; i < limit; i++) {
      const c = this.text.charAt(i);
      if (c === '\n' || c === '\r') return -1;
      if (c === '\\') i++;
      else if (c === '[') inClass = true;
      else if (c === ']') inClass = false;
      else if (c === '/' && !inClass) {
        let end = i + 1;
        while (/[a-z]/.test(this.text.charAt(end))) end++;
        return end;
      }
    }
    return -1;
  }

  private commentEnd(): number {
    const { text, at, family } = this;
    if (family === 'slash') {
      if (text.startsWith('//', at)) return this.lineEnd(at);
      if (text.startsWith('/*', at)) {
        const close = text.indexOf('*/', at + 2);
        return close < 0 ? text.length : close + 2;
      }
    } else if (text.charAt(at) === '#') {
      const before = at === 0 ? '\n' : text.charAt(at - 1);
      // `$#` and `${x#y}` of the shell are no comments.
      if (/\s/.test(before) || (family === 'hash' && /[)\]};,"']/.test(before))) return this.lineEnd(at);
    }
    return -1;
  }

  private one(): void {
    const { text, at, family } = this;
    const c = text.charAt(at);
    if (c === '\n') return this.push('newline', at + 1);
    if (c === '\r') return this.push('newline', text.charAt(at + 1) === '\n' ? at + 2 : at + 1);
    const blank = this.match(space);
    if (blank > 0) return this.push('space', blank);
    const comment = this.commentEnd();
    if (comment >= 0) return this.push('comment', comment);
    if (c === '"' || c === "'") return this.string(this.stringEnd(at, c));
    if (c === '`' && family === 'slash') return this.string(this.templateEnd(at, 0));
    const point = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (wordStart.test(point)) return this.word();
    if (/\d/.test(c) || (c === '.' && /\d/.test(text.charAt(at + 1)))) {
      const end = this.match(number);
      if (end > at) return this.push('number', end);
    }
    if (c === ',') return this.push('comma', at + 1);
    if (c === '(' || c === '[' || c === '{') return this.push('open', at + 1);
    if (c === ')' || c === ']' || c === '}') return this.push('close', at + 1);
    if (c === '-' && family !== 'slash' && /\s/.test(at === 0 ? ' ' : text.charAt(at - 1))) {
      const end = this.match(shellTest);
      if (end > 0) return this.push('operator', end);
    }
    if (c === '/' && family === 'slash') {
      const end = this.regexEnd();
      if (end > 0) return this.push('regex', end);
    }
    const operator = operatorsAt.get(c)?.find((candidate) => text.startsWith(candidate, at));
    if (operator !== undefined) return this.push('operator', at + operator.length);
    return this.push('other', at + point.length);
  }

  private stringEnd(from: number, quote: string): number {
    const three = quote.repeat(3);
    return this.family !== 'slash' && this.text.startsWith(three, from) ? this.triple(from, three) : this.quoted(from, quote);
  }

  private word(): void {
    const end = this.match(word);
    const value = this.text.slice(this.at, end);
    const quote = this.text.charAt(end);
    if (this.family === 'hash' && (quote === '"' || quote === "'") && stringPrefix.test(value)) {
      return this.string(this.stringEnd(end, quote));
    }
    return this.push(keywords.has(value) ? 'keyword' : 'name', Math.max(end, this.at + 1));
  }

  all(): readonly Token[] {
    while (this.at < this.text.length) this.one();
    return this.tokens;
  }
}

/** The tokens of `text`; their ranges tile it. Never throws. */
export function tokenize(text: string, family: Family): readonly Token[] {
  return new Tokenizer(text, family).all();
}
