// The mutations of the built-in search on JSON documents. They know JSON and nothing of any task: which values resemble each other is
// read off the document itself (equal member names, equal shapes, equal places).
import type { Random } from '#shared/lib/random.ts';
import { scanJson, textOf, type JsonArray, type JsonNode, type JsonObject, type Splice } from './json-text.ts';

/** A value in the document, the root excepted. */
type Site = {
  readonly node: JsonNode;
  /** JSON Pointer (RFC 6901); made well-formed, so with duplicate or odd member names it may name more than one value. */
  readonly pointer: string;
  /** Equal for values that play the same part: scalars of one member name, objects of one set of names, arrays in corresponding places. */
  readonly kind: string;
  /** The array that holds it as an element, or null. */
  readonly list: List | null;
  readonly index: number;
};
type List = { readonly node: JsonArray; readonly pointer: string; readonly kind: string };

export type JsonDocument = {
  readonly bytes: Uint8Array;
  readonly root: JsonNode;
  readonly sites: readonly Site[];
  readonly lists: readonly List[];
};

type Range = { readonly start: number; readonly end: number };

/** `focus` is the touched value, as a byte range of the edited document. */
export type JsonEdit = { readonly at: readonly string[]; readonly splices: readonly Splice[]; readonly focus: Range };

/** Draws one edit; null where the operator finds nothing to do. With `within`, the first value is drawn from that range. */
type Operator = (document: JsonDocument, random: Random, within: Range | null) => JsonEdit | null;

const isContainer = (node: JsonNode): node is JsonArray | JsonObject => node.type === 'array' || node.type === 'object';
const inside = (inner: Range, outer: Range): boolean => inner.start >= outer.start && inner.end <= outer.end;
const overlap = (a: Range, b: Range): boolean => a.start < b.end && b.start < a.end;
const step = (name: string): string => `/${name.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')}`;

// An object whose members are all arrays, or all objects, maps names to things of one kind: its names are places and not parts.
const isMap = ({ members: [first, ...rest] }: JsonObject): boolean =>
  first !== undefined && rest.length > 0 && isContainer(first.value) && rest.every(({ value }) => value.type === first.value.type);

/** Reads the document in `bytes`; null when it is not JSON (see scanJson). */
export function readDocument(bytes: Uint8Array): JsonDocument | null {
  const root = scanJson(bytes);
  if (root === null) return null;
  const sites: Site[] = [];
  const lists: List[] = [];
  const kindOf = (node: JsonNode, place: string, name: string): string => {
    if (node.type === 'array') return `array ${place}`;
    if (node.type === 'object') return `object ${JSON.stringify(node.members.map(({ key }) => key).sort())}`;
    return `value ${name}`;
  };
  const visit = (node: JsonNode, pointer: string, place: string, name: string): void => {
    if (node.type === 'array') {
      const list: List = { node, pointer, kind: kindOf(node, place, name) };
      lists.push(list);
      for (const [index, item] of node.items.entries()) {
        const at = `${pointer}/${index}`;
        sites.push({ node: item, pointer: at, kind: kindOf(item, `${place}/*`, `${name}/*`), list, index });
        visit(item, at, `${place}/*`, `${name}/*`);
      }
    } else if (node.type === 'object') {
      const map = isMap(node);
      for (const [index, { key, value }] of node.members.entries()) {
        const at = `${pointer}${step(key)}`;
        const memberPlace = map ? `${place}/*` : `${place}${step(key)}`;
        sites.push({ node: value, pointer: at, kind: kindOf(value, memberPlace, map ? `${name}/*` : step(key)), list: null, index });
        visit(value, at, memberPlace, map ? `${name}/*` : step(key));
      }
    }
  };
  visit(root, '', '', '');
  return { bytes, root, sites, lists };
}

/** The smallest array or object that holds `range`, or the whole document. */
export function enclosing(document: JsonDocument, range: Range): Range {
  let found: Range = document.root;
  for (const { node } of document.sites) if (isContainer(node) && inside(range, node) && inside(node, found)) found = node;
  return found;
}

const replaceBytes = (document: JsonDocument, range: Range, text: string): Splice => ({
  start: range.start,
  end: range.end,
  old: textOf(document.bytes, range),
  new: text,
});

const byteLength = (text: string): number => Buffer.byteLength(text);

// Where the new text of splice `index` stands once all are applied.
const placeOf = (splices: readonly Splice[], index: number, offset: number, length: number): Range => {
  const shift = splices.slice(0, index).reduce((sum, splice) => sum + byteLength(splice.new) - (splice.end - splice.start), 0);
  const start = (splices[index]?.start ?? 0) + shift + offset;
  return { start, end: start + length };
};

const shuffled = <T>(list: readonly T[], random: Random): T[] => {
  const rest = [...list];
  const result: T[] = [];
  while (rest.length > 0) result.push(...rest.splice(random.int(rest.length), 1));
  return result;
};

/** Swaps two values that differ: of the same kind in seven draws of eight, else two scalars of the same JSON type. */
const swap: Operator = (document, random, within) => {
  const loose = random.int(8) === 0;
  const groups = new Map<string, Site[]>();
  for (const site of document.sites) {
    if (loose && isContainer(site.node)) continue;
    const group = loose ? site.node.type : site.kind;
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [site]);
    else members.push(site);
  }
  const open = [...groups.values()].filter(
    (group) => group.length > 1 && (within === null || group.some(({ node }) => inside(node, within))),
  );
  for (const group of shuffled(open, random)) {
    const a = random.pick(within === null ? group : group.filter(({ node }) => inside(node, within)));
    const text = textOf(document.bytes, a.node);
    const others = group.filter(({ node }) => !overlap(node, a.node) && textOf(document.bytes, node) !== text);
    if (others.length === 0) continue;
    const b = random.pick(others);
    const [first, second] = a.node.start < b.node.start ? [a, b] : [b, a];
    const splices = [
      replaceBytes(document, first.node, textOf(document.bytes, second.node)),
      replaceBytes(document, second.node, textOf(document.bytes, first.node)),
    ];
    const index = b === first ? 0 : 1;
    return { at: [a.pointer, b.pointer], splices, focus: placeOf(splices, index, 0, byteLength(text)) };
  }
  return null;
};

// What stands between two elements, after `[` and before `]`: as in the array itself, or as in `model` where it cannot show it.
const layoutOf = (document: JsonDocument, list: JsonArray, model: JsonArray): { lead: string; separator: string; trail: string } => {
  const shown = list.items.length > 0 ? list : model;
  const [first, second] = shown.items;
  const last = shown.items.at(-1);
  if (first === undefined || last === undefined) return { lead: '', separator: ',', trail: '' };
  const lead = textOf(document.bytes, { start: shown.start + 1, end: first.start });
  const trail = textOf(document.bytes, { start: last.end, end: shown.end - 1 });
  if (second !== undefined) return { lead, separator: textOf(document.bytes, { start: first.end, end: second.start }), trail };
  return { lead, separator: `,${lead === '' ? ' ' : lead}`, trail };
};

/**
 * Moves an element of an array to another place: in half of the draws to the array before or after among those that may hold it (its own
 * where there is no other), else to any of them, its own included. An array may hold an element if it holds one of the
 * same kind already, or if it is empty and in a place that corresponds to the element's own array.
 */
const move: Operator = (document, random, within) => {
  const elements = document.sites.filter(({ list, node }) => list !== null && (within === null || inside(node, within)));
  if (elements.length === 0) return null;
  const site = random.pick(elements);
  const source = site.list;
  if (source === null) return null;
  const hosts = new Set(document.sites.filter(({ kind, list }) => list !== null && kind === site.kind).map(({ list }) => list));
  const targets = document.lists.filter(
    (list) => (hosts.has(list) || (list.node.items.length === 0 && list.kind === source.kind)) && !inside(list.node, site.node),
  );
  const own = targets.indexOf(source);
  const near = [targets[own - 1], targets[own + 1]].filter((list) => list !== undefined);
  const target = random.pick(random.int(2) === 0 && near.length > 0 ? near : targets);
  const text = textOf(document.bytes, site.node);

  if (target === source) {
    const places = source.node.items.flatMap((item, to) => (to === site.index || textOf(document.bytes, item) === text ? [] : [to]));
    if (places.length === 0) return null;
    const to = random.pick(places);
    // The elements between shift by one; each range keeps what surrounds it.
    const from = Math.min(to, site.index);
    const run = source.node.items.slice(from, Math.max(to, site.index) + 1);
    const texts = run.map((item) => textOf(document.bytes, item));
    const rotated = to < site.index ? [text, ...texts.slice(0, -1)] : [...texts.slice(1), text];
    const splices = run.map((item, i) => replaceBytes(document, item, rotated[i] ?? ''));
    return { at: [site.pointer, `${target.pointer}/${to}`], splices, focus: placeOf(splices, to - from, 0, byteLength(text)) };
  }

  const { items } = source.node;
  const previous = items[site.index - 1];
  const next = items[site.index + 1];
  const removed: Range =
    next !== undefined
      ? { start: site.node.start, end: next.start }
      : previous !== undefined
        ? { start: previous.end, end: site.node.end }
        : { start: source.node.start + 1, end: source.node.end - 1 };
  const removal = replaceBytes(document, removed, '');

  const alike = document.lists.find((list) => list.kind === target.kind && list.node.items.length > 0) ?? source;
  const layout = layoutOf(document, target.node, alike.node);
  const to = random.int(target.node.items.length + 1);
  const before = target.node.items[to];
  const last = target.node.items.at(-1);
  const [gap, prefix, suffix]: [Range, string, string] =
    before !== undefined
      ? [{ start: before.start, end: before.start }, '', layout.separator]
      : last !== undefined
        ? [{ start: last.end, end: last.end }, layout.separator, '']
        : [{ start: target.node.start + 1, end: target.node.end - 1 }, layout.lead, layout.trail];
  const insertion = replaceBytes(document, gap, prefix + text + suffix);
  const splices = removal.start < insertion.start ? [removal, insertion] : [insertion, removal];
  return {
    at: [site.pointer, `${target.pointer}/${to}`],
    splices,
    focus: placeOf(splices, splices.indexOf(insertion), byteLength(prefix), byteLength(text)),
  };
};

/** Replaces a scalar by another one from the document: of the same kind in seven draws of eight (where there is one), else any. */
const replace: Operator = (document, random, within) => {
  const scalars = document.sites.filter(({ node }) => !isContainer(node));
  const open = within === null ? scalars : scalars.filter(({ node }) => inside(node, within));
  if (open.length === 0) return null;
  const site = random.pick(open);
  const text = textOf(document.bytes, site.node);
  const values = (list: readonly Site[]): string[] =>
    [...new Set(list.map(({ node }) => textOf(document.bytes, node)))].filter((value) => value !== text);
  const loose = random.int(8) === 0;
  const alike = loose ? [] : values(scalars.filter(({ kind }) => kind === site.kind));
  const pool = alike.length > 0 ? alike : values(scalars);
  if (pool.length === 0) return null;
  const value = random.pick(pool);
  const splices = [replaceBytes(document, site.node, value)];
  return { at: [site.pointer], splices, focus: placeOf(splices, 0, 0, byteLength(value)) };
};

export const jsonOperators = { 'json-swap': swap, 'json-move': move, 'json-replace': replace } as const;
