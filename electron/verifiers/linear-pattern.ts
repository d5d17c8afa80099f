// Regular expressions of JSON Schemas, matched in time proportional to the text: candidates are hostile, schemas are checked on the
// engine's own thread, and a backtracking matcher takes `^(a+)+$` as long as a candidate likes. All ways through the pattern are followed
// at once (Thompson's construction). What single characters an atom takes, JavaScript's own RegExp says.

/** Says of one code point, as a string, whether it matches. */
type Takes = (character: string) => boolean;

type State =
  | { readonly kind: 'take'; readonly takes: Takes; readonly next: number }
  | { readonly kind: 'assert'; readonly holds: Holds; readonly next: number }
  | { readonly kind: 'split'; first: number; second: number }
  | { readonly kind: 'match' };
/** Whether an assertion holds between two characters; '' is either end of the text. */
type Holds = (before: string, after: string) => boolean;

/** A part of a pattern: adds its states in front of `next` and gives the first of them. */
type Part = (next: number) => number;

/** So many states at most: a counted repetition is copied as often as it counts. */
const maxStates = 1_000;

const isWord: Takes = (character) => /^\w$/.test(character);
const isBoundary: Holds = (before, after) => isWord(before) !== isWord(after);

const atom =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u\{[\da-fA-F]+\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\[pP]\{[^}]*\}|\\[^]|\[(?:\\[^]|[^\]\\])*\]|[^]/uy;
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/uy;

const takesOf = (source: string): Takes => {
  const one = new RegExp(`^(?:${source})$`, 'u');
  const known = new Map<string, boolean>();
  return (character) => {
    let takes = known.get(character);
    if (takes === undefined) {
      takes = one.test(character);
      if (known.size < 1_024) known.set(character, takes);
    }
    return takes;
  };
};

/** What a JSON Schema checker needs of a RegExp. */
export type Pattern = { test(text: string): boolean; toString(): string };

/**
 * Compiles a pattern as `new RegExp(source, 'u')` does; `test` gives the same answers. Throws where that throws, and for what has no
 * matcher in linear time: lookaround, references to groups, modifiers, and repetitions of more than about a thousand.
 */
export function linearPattern(source: string): Pattern {
  // Says what is no pattern at all; below, only right ones need to be understood.
  const text = new RegExp(source, 'u').toString();
  const refuse = (what: string): never => {
    throw new Error(`the pattern ${JSON.stringify(source.slice(0, 200))} ${what}, so the time to check it has no limit; write it without`);
  };
  const states: State[] = [];
  const add = (state: State): number => {
    if (states.length >= maxStates) refuse(`has more than ${maxStates} steps with its repetitions written out`);
    return states.push(state) - 1;
  };
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };

  const alternatives = (): Part => {
    const all = [sequence()];
    while (source[at] === '|') {
      at++;
      all.push(sequence());
    }
    return (next) => all.map((part) => part(next)).reduceRight((second, first) => add({ kind: 'split', first, second }));
  };
  const sequence = (): Part => {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(single()));
    return (next) => parts.reduceRight((after, part) => part(after), next);
  };
  const single = (): Part => {
    if (source[at] === '(') {
      const opened = take(/\((?:\?:|\?<[^=!][^>]*>|(?!\?))/uy);
      if (opened === null)
        refuse(
          source.startsWith('(?=', at) || source.startsWith('(?!', at) || source.startsWith('(?<', at)
            ? 'looks around'
            : 'changes its flags',
        );
      const inner = alternatives();
      at++;
      return inner;
    }
    const [found = ''] = take(atom) ?? [];
    const assert =
      (holds: Holds): Part =>
      (next) =>
        add({ kind: 'assert', holds, next });
    if (found === '^') return assert((before) => before === '');
    if (found === '$') return assert((_, after) => after === '');
    if (found === '\\b') return assert(isBoundary);
    if (found === '\\B') return assert((before, after) => !isBoundary(before, after));
    if (/^\\[1-9k]/.test(found)) refuse('refers to a group');
    const takes = takesOf(found);
    return (next) => add({ kind: 'take', takes, next });
  };
  const repeated = (part: Part): Part => {
    const found = take(quantifier);
    if (found === null) return part;
    const [, sign, least, comma, most] = found;
    const from = sign === undefined ? Number(least) : sign === '+' ? 1 : 0;
    const to = sign === undefined ? (comma === undefined ? from : most === '' ? Infinity : Number(most)) : sign === '?' ? 1 : Infinity;
    if (from > maxStates || (to !== Infinity && to > maxStates)) refuse(`repeats something more than ${maxStates} times`);
    return (next) => {
      let first = next;
      if (to === Infinity) {
        const loop: State = { kind: 'split', first: next, second: next };
        first = add(loop);
        loop.first = part(first);
      } else {
        for (let i = from; i < to; i++) first = add({ kind: 'split', first: part(first), second: next });
      }
      for (let i = 0; i < from; i++) first = part(first);
      return first;
    };
  };

  const whole = alternatives();
  const start = whole(add({ kind: 'match' }));
  return { test: (subject) => matches(states, start, subject), toString: () => text };
}

function matches(states: readonly State[], start: number, subject: string): boolean {
  const seen = new Int32Array(states.length).fill(-1);
  let current: number[] = [];
  let before = '';
  let position = 0;
  const stack: number[] = [];
  /** Follows everything that takes no character; whether the pattern has matched. */
  const reach = (from: readonly number[], after: string, into: number[]): boolean => {
    stack.push(...from);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const state = states[at];
      if (state === undefined || seen[at] === position) continue;
      seen[at] = position;
      switch (state.kind) {
        case 'match':
          return true;
        case 'split':
          stack.push(state.second, state.first);
          break;
        case 'assert':
          if (state.holds(before, after)) stack.push(state.next);
          break;
        case 'take':
          into.push(at);
      }
    }
    return false;
  };
  for (let index = 0; ;) {
    const code = subject.codePointAt(index);
    const after = code === undefined ? '' : String.fromCodePoint(code);
    const waiting: number[] = [];
    // A match may begin anywhere.
    current.push(start);
    if (reach(current, after, waiting)) return true;
    if (code === undefined) return false;
    current = [];
    for (const at of waiting) {
      const state = states[at];
      if (state?.kind === 'take' && state.takes(after)) current.push(state.next);
    }
    before = after;
    index += after.length;
    position++;
  }
}
