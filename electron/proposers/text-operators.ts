// The mutations of the built-in search on lines of text and tokens of code. They know how text is written and nothing of any task: every
// word, number and line that they put in stands in the same file already, or is the neighbour of what it replaces (an operator of the
// same class, a number one greater or smaller).
import type { Random } from '#shared/lib/random.ts';
import { familyOf, tokenize, type Token } from './code-tokens.ts';
import type { Splice } from './json-text.ts';

/** Indexes of the text for a line without its end; `end` to `next` is the line's end, empty in a last line without one. */
type Line = { readonly start: number; readonly end: number; readonly next: number };

type Range = { readonly start: number; readonly end: number };

export type TextDocument = {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** A byte order mark belongs to no line. */
  readonly lines: readonly Line[];
  readonly tokens: readonly Token[];
  /** Number of the line (from 0) on which a token begins, by the token's index. */
  readonly lineOf: Int32Array;
  /** Numbers of the lines that hold more than space and comment. */
  readonly code: readonly number[];
};

/** `focus` is the touched text, as a byte range of the edited file. */
export type TextEdit = { readonly at: readonly string[]; readonly splices: readonly Splice[]; readonly focus: Range };

/** Draws one edit; null where the operator finds nothing to do. With `within`, the first place is drawn from these lines. */
type Operator = (document: TextDocument, random: Random, within: LineRange | null) => TextEdit | null;

/** Line numbers from `first` to `last`, both included. */
export type LineRange = { readonly first: number; readonly last: number };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a file as text; null when it is not UTF-8 or holds a NUL, as no text does. */
export function readText(path: string, bytes: Uint8Array): TextDocument | null {
  if (bytes.includes(0)) return null;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return null;
  }
  const lines: Line[] = [];
  const ends = /\r\n|\n|\r/g;
  let from = text.startsWith('\ufeff') ? 1 : 0;
  for (const found of text.matchAll(ends)) {
    lines.push({ start: from, end: found.index, next: found.index + found[0].length });
    from = found.index + found[0].length;
  }
  if (from < text.length) lines.push({ start: from, end: text.length, next: text.length });
  const tokens = tokenize(text, familyOf(path));
  const lineOf = new Int32Array(tokens.length);
  const isCode = new Uint8Array(lines.length);
  let line = 0;
  for (const [i, token] of tokens.entries()) {
    while (line < lines.length - 1 && token.start >= (lines[line]?.next ?? Infinity)) line++;
    lineOf[i] = line;
    if (token.kind === 'space' || token.kind === 'newline' || token.kind === 'comment') continue;
    isCode[line] = 1;
    // A string may go on over several lines; each of them can be moved.
    for (let l = line + 1; l < lines.length && (lines[l]?.start ?? Infinity) < token.end; l++) isCode[l] = 1;
  }
  const code = lines.flatMap(({ start, end }, l) => (isCode[l] === 1 && text.slice(start, end).trim() !== '' ? [l] : []));
  return { path, bytes, text, lines, tokens, lineOf, code };
}

/** Lines around the edited one that count as beside it. */
const nearLines = 2;

/** The lines of `focus` (a byte range) and those beside them. */
export function linesAround(document: TextDocument, focus: Range): LineRange {
  const start = decoder.decode(document.bytes.subarray(0, focus.start)).length;
  const end = start + decoder.decode(document.bytes.subarray(focus.start, focus.end)).length;
  const at = (index: number): number => {
    const found = document.lines.findIndex(({ next }) => index < next);
    return found < 0 ? document.lines.length - 1 : found;
  };
  return { first: at(start) - nearLines, last: at(Math.max(start, end - 1)) + nearLines };
}

/** A change of the text: [start, end) becomes `to`; `mark` is where in `to` the touched text stands. */
type Change = { readonly start: number; readonly end: number; readonly to: string; readonly mark?: Range };

// From indexes of the text to byte offsets. `changes` are ordered and do not overlap; the focus is the first one with a mark, else the first.
const editOf = (document: TextDocument, at: readonly string[], changes: readonly Change[]): TextEdit => {
  const splices: Splice[] = [];
  const focused = Math.max(
    0,
    changes.findIndex(({ mark }) => mark !== undefined),
  );
  let index = 0;
  let offset = 0;
  let shift = 0;
  let focus: Range = { start: 0, end: 0 };
  for (const [i, { start, end, to, mark }] of changes.entries()) {
    offset += Buffer.byteLength(document.text.slice(index, start));
    const old = document.text.slice(start, end);
    const length = Buffer.byteLength(old);
    splices.push({ start: offset, end: offset + length, old, new: to });
    if (i === focused) {
      const from = offset + shift + Buffer.byteLength(to.slice(0, mark?.start ?? 0));
      focus = { start: from, end: from + Buffer.byteLength(to.slice(mark?.start ?? 0, mark?.end ?? to.length)) };
    }
    shift += Buffer.byteLength(to) - length;
    offset += length;
    index = end;
  }
  return { at, splices, focus };
};

const lineName = (line: number): string => `line ${line + 1}`;
const contentOf = ({ text }: TextDocument, line: Line): string => text.slice(line.start, line.end);
const indentOf = (content: string): string => /^[ \t]*/.exec(content)?.[0] ?? '';
const lineAt = ({ lines }: TextDocument, at: number): Line => {
  const line = lines[at];
  if (line === undefined) throw new RangeError(`there is no line ${at + 1}`);
  return line;
};
const openLines = ({ code }: TextDocument, within: LineRange | null): readonly number[] =>
  within === null ? code : code.filter((line) => line >= within.first && line <= within.last);

/** The line end of the file, as its first line shows it. */
const endOfLine = (document: TextDocument): string => {
  const first = document.lines.find(({ end, next }) => next > end);
  return first === undefined ? '\n' : document.text.slice(first.end, first.next);
};

// The line without its end. A last line takes the end of the line before it along, so that a file without a final one stays so.
const removal = (document: TextDocument, at: number): Change => {
  const line = lineAt(document, at);
  const previous = document.lines[at - 1];
  const alone = line.next === line.end && previous !== undefined;
  return { start: alone ? previous.end : line.start, end: line.next, to: '', mark: { start: 0, end: 0 } };
};

// `content` as a line of its own before line `at`, or after the last one for `at` = number of lines.
const insertion = (document: TextDocument, at: number, content: string): Change => {
  const before = document.lines[at];
  if (before !== undefined)
    return { start: before.start, end: before.start, to: content + endOfLine(document), mark: { start: 0, end: content.length } };
  const last = document.lines.at(-1);
  const place = last?.next ?? document.text.length;
  const closed = last === undefined || last.next > last.end;
  const to = closed ? content + endOfLine(document) : endOfLine(document) + content;
  const from = to.indexOf(content);
  return { start: place, end: place, to, mark: { start: from, end: from + content.length } };
};

/** In half of the draws as it is, else with the indentation of the line above or below its new place. */
const placed = (document: TextDocument, random: Random, content: string, above: number, below: number): string => {
  if (random.int(2) === 0) return content;
  const neighbour = document.lines[random.int(2) === 0 ? above : below];
  if (neighbour === undefined) return content;
  const beside = contentOf(document, neighbour);
  return beside.trim() === '' ? content : indentOf(beside) + content.slice(indentOf(content).length);
};

/** Lines that a moved or copied line goes past where it stays near. */
const nearPlaces = 5;

/** A place between lines, 0 to the number of lines: near the line `from` in half of the draws, else anywhere. */
const drawPlace = (document: TextDocument, random: Random, from: number): number => {
  const count = document.lines.length;
  if (random.int(2) === 0) return random.int(count + 1);
  const first = Math.max(0, from - nearPlaces);
  return first + random.int(Math.min(count, from + nearPlaces + 1) - first + 1);
};

const deleteLine: Operator = (document, random, within) => {
  const open = openLines(document, within);
  if (open.length === 0 || document.lines.length < 2) return null;
  const at = random.pick(open);
  return editOf(document, [lineName(at)], [removal(document, at)]);
};

const copyLine: Operator = (document, random, within) => {
  const open = openLines(document, within);
  if (open.length === 0) return null;
  const from = random.pick(open);
  const place = drawPlace(document, random, from);
  const content = placed(document, random, contentOf(document, lineAt(document, from)), place - 1, place);
  return editOf(document, [lineName(from), lineName(place)], [insertion(document, place, content)]);
};

const moveLine: Operator = (document, random, within) => {
  const open = openLines(document, within);
  if (open.length === 0 || document.lines.length < 2) return null;
  const from = random.pick(open);
  const place = drawPlace(document, random, from);
  const content = contentOf(document, lineAt(document, from));
  const above = place - 1 === from ? from - 1 : place - 1;
  const below = place === from ? from + 1 : place;
  const to = placed(document, random, content, above, below);
  const at = [lineName(from), lineName(place)];
  if (place === from || place === from + 1) {
    // It stays where it is; only its indentation may change.
    if (to === content) return null;
    const { start, end } = lineAt(document, from);
    return editOf(document, at, [{ start, end, to, mark: { start: 0, end: to.length } }]);
  }
  const last = document.lines.length;
  // Behind a last line without an end, or from there: the two lines' ends must not meet, so the lines between are written anew.
  if (lineAt(document, last - 1).next === lineAt(document, last - 1).end && (place === last || from === last - 1)) {
    const first = Math.min(from, place);
    const final = Math.max(from, place - 1);
    const contents = document.lines.slice(first, final + 1).map((line) => contentOf(document, line));
    if (place > from) contents.push(...contents.splice(0, 1).map(() => to));
    else contents.unshift(...contents.splice(-1, 1).map(() => to));
    const changes = contents.flatMap((text, i): Change[] => {
      const { start, end } = lineAt(document, first + i);
      const moved = (place > from ? final : first) === first + i;
      if (document.text.slice(start, end) === text) return [];
      return [{ start, end, to: text, ...(moved ? { mark: { start: 0, end: text.length } } : {}) }];
    });
    return changes.length === 0 ? null : editOf(document, at, changes);
  }
  const { mark: _, ...removed } = removal(document, from);
  const inserted = insertion(document, place, to);
  return editOf(document, at, place < from ? [inserted, removed] : [removed, inserted]);
};

const swapLines: Operator = (document, random, within) => {
  const open = openLines(document, within);
  if (open.length === 0) return null;
  const a = random.pick(open);
  const next = document.code[document.code.indexOf(a) + 1];
  const b = random.int(2) === 0 && next !== undefined ? next : random.pick(document.code);
  const [first, second] = a < b ? [a, b] : [b, a];
  const upper = lineAt(document, first);
  const lower = lineAt(document, second);
  const above = contentOf(document, upper);
  const below = contentOf(document, lower);
  if (above === below) return null;
  // In half of the draws each place keeps its indentation.
  const keep = random.int(2) === 0;
  const fit = (content: string, place: string): string => (keep ? indentOf(place) + content.slice(indentOf(content).length) : content);
  const toUpper = fit(below, above);
  const toLower = fit(above, below);
  if (toUpper === above) return null;
  const mark = { start: 0, end: toUpper.length };
  return editOf(
    document,
    [lineName(first), lineName(second)],
    [
      { start: upper.start, end: upper.end, to: toUpper, mark },
      { start: lower.start, end: lower.end, to: toLower },
    ],
  );
};

/** A place in the code where an operator has at least one thing to do; `changes` are its choices. */
type Site = { readonly token: number; readonly choices: readonly (readonly Change[])[] };

const valueOf = ({ text, tokens }: TextDocument, at: number): string => {
  const token = tokens[at];
  return token === undefined ? '' : text.slice(token.start, token.end);
};

/** The next token in the direction of `step` that is neither space, comment nor newline; -1 where there is none. */
const beside = ({ tokens }: TextDocument, at: number, step: 1 | -1): number => {
  for (let i = at + step; i >= 0 && i < tokens.length; i += step) {
    const kind = tokens[i]?.kind;
    if (kind !== 'space' && kind !== 'comment' && kind !== 'newline') return i;
  }
  return -1;
};

const kindOf = ({ tokens }: TextDocument, at: number): Token['kind'] | null => tokens[at]?.kind ?? null;

/** Whether a value ends with this token, so that an operator behind it takes two operands. */
const endsValue = (document: TextDocument, at: number): boolean => {
  const kind = kindOf(document, at);
  return kind === 'name' || kind === 'number' || kind === 'string' || kind === 'close';
};

// A line first and then a place on it, so that long lines (tables of data) do not take most of the draws.
const drawToken = (
  document: TextDocument,
  random: Random,
  within: LineRange | null,
  isSite: (token: number) => boolean,
  choicesOf: (token: number) => readonly (readonly Change[])[],
): TextEdit | null => {
  const byLine = new Map<number, number[]>();
  for (const [i, line] of document.lineOf.entries()) {
    if (within !== null && (line < within.first || line > within.last)) continue;
    if (!isSite(i)) continue;
    const found = byLine.get(line);
    if (found === undefined) byLine.set(line, [i]);
    else found.push(i);
  }
  const lines = [...byLine];
  while (lines.length > 0) {
    const [entry] = lines.splice(random.int(lines.length), 1);
    if (entry === undefined) break;
    const [line, sites] = entry;
    const site: Site[] = [];
    for (const token of sites) {
      const choices = choicesOf(token);
      if (choices.length > 0) site.push({ token, choices });
    }
    if (site.length === 0) continue;
    const { token, choices } = random.pick(site);
    const start = document.tokens[token]?.start ?? 0;
    return editOf(document, [`${line + 1}:${start - lineAt(document, line).start + 1}`], random.pick(choices));
  }
  return null;
};

const replaceToken = ({ tokens }: TextDocument, at: number, to: string): Change => {
  const token = tokens[at];
  return { start: token?.start ?? 0, end: token?.end ?? 0, to, mark: { start: 0, end: to.length } };
};

// An operator becomes another of its class. `seen` ones only where the file has them already: another language may not know them.
const classes: readonly { readonly always: readonly string[]; readonly seen: readonly string[] }[] = [
  { always: ['<', '<=', '>', '>='], seen: ['==', '!=', '===', '!=='] },
  { always: ['+', '-', '*', '/', '%'], seen: ['//', '**'] },
  { always: ['&&', '||'], seen: ['??'] },
  { always: ['and', 'or'], seen: [] },
  { always: ['+=', '-='], seen: ['*=', '/=', '//=', '%='] },
  { always: ['++', '--'], seen: [] },
  { always: ['&', '|', '^'], seen: [] },
  { always: ['<<', '>>'], seen: ['>>>'] },
  { always: ['true', 'false'], seen: ['null', 'undefined'] },
  { always: ['True', 'False'], seen: ['None'] },
  { always: ['break', 'continue'], seen: [] },
  { always: ['-eq', '-ne', '-lt', '-le', '-gt', '-ge'], seen: [] },
  { always: ['-z', '-n'], seen: [] },
  { always: ['-e', '-f', '-d', '-s', '-r', '-w', '-x'], seen: [] },
];
const pairs: readonly (readonly [string, string])[] = [
  ['==', '!='],
  ['===', '!=='],
];
const classWords = new Set([...classes.flatMap(({ always, seen }) => [...always, ...seen]), '!', 'not', '=']);

const alternativesOf = (value: string, seenInFile: ReadonlySet<string>): readonly string[] => {
  const found = new Set<string>();
  for (const { always, seen } of classes) {
    if (!always.includes(value) && !seen.includes(value)) continue;
    for (const other of always) found.add(other);
    for (const other of seen) if (seenInFile.has(other)) found.add(other);
  }
  for (const [a, b] of pairs) if (a === value || b === value) found.add(a === value ? b : a);
  found.delete(value);
  return [...found];
};

const swapOperator: Operator = (document, random, within) => {
  const seen = new Set(document.tokens.flatMap(({ kind }, i) => (kind === 'operator' || kind === 'keyword' ? [valueOf(document, i)] : [])));
  const isSite = (i: number): boolean => {
    const kind = kindOf(document, i);
    return (kind === 'operator' || kind === 'keyword') && classWords.has(valueOf(document, i));
  };
  return drawToken(document, random, within, isSite, (i) => {
    const value = valueOf(document, i);
    if (value === '!' || value === 'not') {
      const token = document.tokens[i];
      const next = document.tokens[i + 1];
      if (token === undefined || next === undefined || (value === 'not' && valueOf(document, beside(document, i, 1)) === 'in')) return [];
      return [[{ start: token.start, end: next.kind === 'space' ? next.end : token.end, to: '' }]];
    }
    if (value === '=') {
      // A statement that sets a name may have been meant to add to it, which a declaration may not.
      const name = beside(document, i, -1);
      const first = document.tokens.findIndex(({ kind }, t) => document.lineOf[t] === document.lineOf[i] && kind !== 'space');
      return kindOf(document, name) === 'name' && name === first ? ['+=', '-='].map((to) => [replaceToken(document, i, to)]) : [];
    }
    // A sign is not an operator between two values.
    if ((value === '-' || value === '+' || value === '*' || value === '&') && !endsValue(document, beside(document, i, -1))) return [];
    return alternativesOf(value, seen).map((to) => [replaceToken(document, i, to)]);
  });
};

/** Whether the token is a sign of the number behind it, and not an operator between two values. */
const isSign = (document: TextDocument, at: number): boolean =>
  valueOf(document, at) === '-' && document.tokens[at + 1]?.kind === 'number' && !endsValue(document, beside(document, at, -1));

const integer = /^\d{1,15}$/;

/**
 * A number becomes one greater or smaller, or changes its sign, or gives way to another number of the file; a term `+ 1` goes. In one
 * draw of four a value in brackets or beside a comparison gets such a term: off by one where no number stands.
 */
const changeNumber: Operator = (document, random, within) => {
  const shiftNames = random.int(4) === 0;
  if (shiftNames) {
    const edit = drawToken(
      document,
      random,
      within,
      (i) => endsValue(document, i) && kindOf(document, i) !== 'string' && kindOf(document, i) !== 'number',
      (i) => {
        const next = beside(document, i, 1);
        const value = valueOf(document, next);
        const ends =
          kindOf(document, next) === 'close' || kindOf(document, next) === 'comma' || ['<', '<=', '>', '>=', ':', ';'].includes(value);
        const end = document.tokens[i]?.end;
        if (!ends || end === undefined) return [];
        return [' + 1', ' - 1'].map((to) => [{ start: end, end, to, mark: { start: 0, end: to.length } }]);
      },
    );
    if (edit !== null) return edit;
  }
  const numbers = [...new Set(document.tokens.flatMap(({ kind }, i) => (kind === 'number' ? [valueOf(document, i)] : [])))];
  const other = random.int(2) === 0;
  return drawToken(
    document,
    random,
    within,
    (i) => kindOf(document, i) === 'number',
    (i) => {
      const token = document.tokens[i];
      if (token === undefined) return [];
      const value = valueOf(document, i);
      const elsewhere = numbers.filter((number) => number !== value).map((to) => [replaceToken(document, i, to)]);
      if (other && elsewhere.length > 0) return elsewhere;
      const choices: (readonly Change[])[] = [];
      if (integer.test(value)) {
        choices.push([replaceToken(document, i, String(Number(value) + 1))]);
        choices.push([replaceToken(document, i, String(Number(value) - 1))]);
      }
      const before = beside(document, i, -1);
      const sign = document.tokens[i - 1];
      const term = document.tokens[before];
      if (sign !== undefined && isSign(document, i - 1)) choices.push([{ start: sign.start, end: sign.end, to: '' }]);
      else if (term !== undefined && ['+', '-'].includes(valueOf(document, before)) && endsValue(document, beside(document, before, -1))) {
        const left = document.tokens[beside(document, before, -1)];
        if (left !== undefined) choices.push([{ start: left.end, end: token.end, to: '' }]);
      } else choices.push([replaceToken(document, i, `-${value}`)]);
      return choices;
    },
  );
};

/** Lines in which a name or text that could stand here instead is looked for first. */
const nearNames = 5;

/** Tokens whose values may replace each other, with the values found near a line and in the whole file. */
const valuesLike = (document: TextDocument, like: readonly number[], at: number, near: boolean): readonly string[] => {
  const value = valueOf(document, at);
  const line = document.lineOf[at] ?? 0;
  const found = new Set<string>();
  for (const i of like) if (!near || Math.abs((document.lineOf[i] ?? 0) - line) <= nearNames) found.add(valueOf(document, i));
  found.delete(value);
  return [...found];
};

/**
 * Another name of the file that is used in the same way (as a member, called, both or neither), from nearby lines in seven draws of eight.
 */
const changeName: Operator = (document, random, within) => {
  const near = random.int(8) !== 0;
  const roleOf = (i: number): number =>
    (['.', '?.'].includes(valueOf(document, beside(document, i, -1))) ? 2 : 0) + (valueOf(document, i + 1) === '(' ? 1 : 0);
  const byRole: number[][] = [[], [], [], []];
  for (const [i, { kind }] of document.tokens.entries()) if (kind === 'name') byRole[roleOf(i)]?.push(i);
  return drawToken(
    document,
    random,
    within,
    (i) => kindOf(document, i) === 'name',
    (i) => {
      const like = byRole[roleOf(i)] ?? [];
      const values = valuesLike(document, like, i, near);
      return (values.length > 0 ? values : valuesLike(document, like, i, false)).map((to) => [replaceToken(document, i, to)]);
    },
  );
};

/** Another text of the file, from nearby lines in half of the draws. */
const changeLiteral: Operator = (document, random, within) => {
  const near = random.int(2) === 0;
  const strings = document.tokens.flatMap(({ kind }, i) => (kind === 'string' ? [i] : []));
  return drawToken(
    document,
    random,
    within,
    (i) => kindOf(document, i) === 'string',
    (i) => {
      const values = valuesLike(document, strings, i, near);
      return (values.length > 0 ? values : valuesLike(document, strings, i, false)).map((to) => [replaceToken(document, i, to)]);
    },
  );
};

/** Elements beyond these are not swapped: a table of data is no list of arguments. */
const maxElements = 16;

/** Swaps two elements of a bracketed list: arguments of a call, parameters, elements of an array. */
const swapArguments: Operator = (document, random, within) => {
  type Open = { readonly at: number; from: number; readonly elements: Range[] };
  const lists = new Map<number, readonly Range[]>();
  const stack: Open[] = [];
  const trimmed = (first: number, last: number): Range | null => {
    const from = beside(document, first - 1, 1);
    const to = beside(document, last + 1, -1);
    const start = document.tokens[from]?.start;
    const end = document.tokens[to]?.end;
    return start === undefined || end === undefined || from > to ? null : { start, end };
  };
  for (const [i, { kind }] of document.tokens.entries()) {
    const top = stack.at(-1);
    if (kind === 'open') stack.push({ at: i, from: i + 1, elements: [] });
    else if (top !== undefined && (kind === 'comma' || kind === 'close')) {
      const element = trimmed(top.from, i - 1);
      if (element !== null) top.elements.push(element);
      top.from = i + 1;
      if (kind === 'close') {
        stack.pop();
        if (top.elements.length > 1) lists.set(top.at, top.elements.slice(0, maxElements));
      }
    }
  }
  return drawToken(
    document,
    random,
    within,
    (i) => lists.has(i),
    (i) => {
      const elements = lists.get(i) ?? [];
      const textOf = ({ start, end }: Range): string => document.text.slice(start, end);
      return elements.flatMap((a, index) =>
        elements
          .slice(index + 1)
          .filter((b) => textOf(a) !== textOf(b))
          .map((b): readonly Change[] => [
            { ...a, to: textOf(b), mark: { start: 0, end: b.end - b.start } },
            { ...b, to: textOf(a) },
          ]),
      );
    },
  );
};

export const textOperators = {
  'line-move': moveLine,
  'line-copy': copyLine,
  'line-delete': deleteLine,
  'line-swap': swapLines,
  'token-operator': swapOperator,
  'token-number': changeNumber,
  'token-name': changeName,
  'token-argument': swapArguments,
  'token-literal': changeLiteral,
} as const;
