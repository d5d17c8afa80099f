// Where everything on the timeline is: tracks, scales, merging, hit testing. Numbers only; no canvas and no DOM.
import { outcomes } from '#shared/domain/transition.ts';
import { minMarkPx, type View } from './viewport.ts';

/** Heights in CSS px. */
export const trackPx = { minimap: 28, ruler: 18, potential: 148, tick: 4, row: 22, foot: 4 } as const;
/** More obligations than this scroll inside the matrix, unless there is height to spare. */
const maxRows = 12;
/** Rows that are seen in the smallest panel. */
const leastRows = 3;
const potentialPx = { least: 64, readable: 80, comfortable: 220 } as const;

export type Band = { readonly top: number; readonly height: number };
export type Tracks = {
  readonly width: number;
  readonly height: number;
  readonly minimap: Band;
  readonly ruler: Band;
  readonly potential: Band;
  /** The matrix with its commit ticks on top. */
  readonly matrix: Band;
  /** Where the rows of the matrix are seen. */
  readonly rows: Band;
};

const fixedPx = trackPx.minimap + trackPx.ruler + trackPx.tick + trackPx.foot;
const rowsPx = (rows: number): number => Math.max(1, rows) * trackPx.row;

/** The least height of the timeline in CSS px; known before any data, so that nothing shifts. */
export const leastHeight = (obligations: number): number => fixedPx + potentialPx.least + rowsPx(Math.min(obligations, leastRows));
/** The height it takes when nobody says otherwise. */
export const naturalHeight = (obligations: number): number => fixedPx + trackPx.potential + rowsPx(Math.min(obligations, maxRows));

/**
 * Stacks the tracks in a plot of this size. The rows come first while the potential stays readable; height to spare goes to the potential, then to
 * rows that had to scroll, then to the potential again. Never higher than what is available, as long as that is at least `leastHeight`.
 */
export function tracks(width: number, available: number, obligations: number): Tracks {
  const height = Math.max(leastHeight(obligations), available);
  const fitting = Math.floor((height - fixedPx - potentialPx.readable) / trackPx.row);
  const base = Math.max(1, Math.min(obligations, maxRows, Math.max(leastRows, fitting)));
  const spare = height - fixedPx - potentialPx.comfortable - rowsPx(base);
  const rows = Math.min(obligations, base + Math.max(0, Math.floor(spare / trackPx.row)));
  const ruler = { top: trackPx.minimap, height: trackPx.ruler };
  const potential = { top: ruler.top + ruler.height, height: height - fixedPx - rowsPx(rows) };
  const matrix = { top: potential.top + potential.height, height: trackPx.tick + rowsPx(rows) + trackPx.foot };
  return {
    width,
    height,
    minimap: { top: 0, height: trackPx.minimap },
    ruler,
    potential,
    matrix,
    rows: { top: matrix.top + trackPx.tick, height: rowsPx(rows) },
  };
}

/** CSS px that one transition is wide. */
export const columnPx = (view: View, width: number): number => (view.span > 0 ? width / view.span : 0);

/** Left edge of the column of transition n. */
export const leftOf = (n: number, view: View, width: number): number => (n - 1 - view.start) * columnPx(view, width);
/** Centre of the column of transition n. */
export const centreOf = (n: number, view: View, width: number): number => (n - 0.5 - view.start) * columnPx(view, width);

/** The transition whose column holds x, limited to those that exist; 0 when there is none. Inverse of `centreOf`. */
export function transitionAt(x: number, view: View, width: number, count: number): number {
  const px = columnPx(view, width);
  if (count < 1 || px <= 0) return 0;
  return Math.min(count, Math.max(1, Math.floor(view.start + x / px) + 1));
}

/** First and last transition that are at least partly seen; empty when last < first. */
export function visible(view: View, count: number): { readonly first: number; readonly last: number } {
  return { first: Math.max(1, Math.floor(view.start) + 1), last: Math.min(count, Math.ceil(view.start + view.span)) };
}

/** How transitions become columns: one each, or merged in powers of two at fixed places, so that panning never regroups them. */
export type Merging = { readonly resolution: number; readonly first: number; readonly last: number };

/**
 * The buckets that cover the window: bucket b holds transitions b * resolution + 1 to (b + 1) * resolution, first..last inclusive.
 * Resolution 1 means that every transition is drawn by itself. `least` is the smallest width of a column in CSS px.
 */
export function merging(view: View, width: number, count: number, least: number = minMarkPx): Merging {
  const px = columnPx(view, width);
  const resolution = px > 0 ? 2 ** Math.max(0, Math.ceil(Math.log2(least / px) - 1e-9)) : 1;
  const { first, last } = visible(view, count);
  return {
    resolution,
    first: Math.floor((first - 1) / resolution),
    last: last < first ? Math.floor((first - 1) / resolution) - 1 : Math.floor((last - 1) / resolution),
  };
}

/** Potential to height: `low` at y0, the bottom of the track, `top` at y1, its upper end. `from` = the head's potential where the window begins. */
export type PotentialScale = {
  readonly low: number;
  readonly top: number;
  readonly from: number;
  readonly y0: number;
  readonly y1: number;
};

const padPx = { top: 16, bottom: 10 } as const;
/** Potentials above and below the staircase that the scale leaves for candidates, at least. */
const leastRoom = 3;

/**
 * Scale of the potential track for a window in which the head's potential falls from `from` to `to`. It is made from the chain alone, so that one
 * candidate that broke everything does not flatten the staircase: what lies outside is drawn at the edge with a bar beyond it. It reaches down to 0,
 * the goal, unless that would leave the steps of this window too low to be told apart; the ends are round numbers, so that it seldom changes.
 */
export function potentialScale(from: number, to: number, band: Band): PotentialScale {
  const y = { from, y0: band.top + band.height - padPx.bottom, y1: band.top + padPx.top };
  const room = Math.max(leastRoom, (from - to) * 0.3);
  if (to - room <= from * 0.4) return { low: 0, top: Math.max(1, from) * 1.1, ...y };
  const step = niceStep((from - to + 2 * room) / 6);
  return { low: Math.max(0, Math.floor((to - room) / step) * step), top: Math.ceil((from + room) / step) * step, ...y };
}

/** Height of a potential in CSS px from the top of the plot, kept inside the scale. */
export function potentialY(potential: number, scale: PotentialScale): number {
  return scale.y0 - (scale.y0 - scale.y1) * Math.min(1, Math.max(0, (potential - scale.low) / (scale.top - scale.low)));
}

/** Round values of an axis from `low` to `top`: about `most` of them, 1, 2 or 5 times a power of ten apart. */
export function axisTicks(low: number, top: number, most: number): number[] {
  const step = niceStep((top - low) / Math.max(1, most));
  const ticks: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= top; v += step) ticks.push(v);
  return ticks;
}

const tickApartPx = 20;

/**
 * Values of the potential axis that get a line and a number, rising: round ones that stand apart, and always the potential that the window begins
 * with, in place of a round one that would run into it.
 */
export function potentialTicks(scale: PotentialScale): number[] {
  const room = Math.max(1, scale.y0 - scale.y1);
  const round = axisTicks(scale.low, scale.top, room / tickApartPx);
  const at = potentialY(scale.from, scale);
  const kept = round.filter((v) => v !== scale.from && Math.abs(potentialY(v, scale) - at) >= tickApartPx * 0.7);
  const far = scale.top - scale.from > scale.from - scale.low ? Math.floor(scale.top) : scale.low;
  return [...(kept.length > 0 ? kept : [far]), scale.from].toSorted((a, b) => a - b);
}

/** The smallest whole 1, 2 or 5 times a power of ten that is at least `raw`. */
export function niceStep(raw: number): number {
  let unit = 1;
  for (;;) {
    for (const step of [1, 2, 5]) if (step * unit >= raw) return step * unit;
    unit *= 10;
  }
}

const rankless: ReadonlySet<number> = new Set(
  ['tie', 'duplicate', 'unstable', 'invalid', 'no_verdict', 'aborted'].map((name) => outcomes.findIndex((o) => o === name)),
);

/**
 * CSS px by which a mark stands above its own height: a tie would lie on the staircase, and what has no rank stands just above its base. Slots
 * of one round are staggered so that neighbours do not run together.
 */
export function liftOf(code: number, slot: number): number {
  return rankless.has(code) ? 7 + (slot % 3) * 4 : 0;
}

/** What is under a point of the plot. */
export type Hit =
  | { readonly on: 'minimap'; readonly n: number; readonly part: 'left' | 'right' | 'window' | 'outside' }
  | { readonly on: 'potential'; readonly n: number }
  | { readonly on: 'matrix'; readonly n: number; readonly obligation: number };

const gripPx = 6;

/** Left and right edge of the window in the minimap, never narrower than 4 CSS px. */
export function minimapWindow(view: View, count: number, width: number): { readonly left: number; readonly right: number } {
  const all = Math.max(1, count, view.start <= 0 ? view.span : 0);
  const left = Math.min(width - 4, (view.start / all) * width);
  return { left, right: Math.min(width, Math.max(left + 4, ((view.start + view.span) / all) * width)) };
}

/** A stretch of the plot in CSS px. */
export type Span = { readonly left: number; readonly width: number };

const leastSelectionPx = 5;
/** Width of the canvas of the selection: room for its number above the column. */
export const selectionCanvasPx = 120;

/** The column of a transition as it is highlighted: never narrower than can be seen. */
export function selectionColumn(n: number, view: View, width: number): Span {
  const wide = Math.max(leastSelectionPx, columnPx(view, width));
  return { left: centreOf(n, view, width) - wide / 2, width: wide };
}

/** Where what lies over the static picture is: window and caret of the minimap, selection, transition under the pointer. null = not seen. */
export type Overlay = {
  readonly window: Span | null;
  readonly caret: Span | null;
  readonly selection: Span | null;
  readonly hovered: Span | null;
};

/** `selected` and `hovered`: 0 = none. `selection` is the canvas that holds the column and its number, on whole px so that it stays sharp. */
export function overlay(view: View, count: number, width: number, selected: number, hovered: number): Overlay {
  if (count < 1 || width <= 0) return { window: null, caret: null, selection: null, hovered: null };
  const { left, right } = minimapWindow(view, count, width);
  const seen = (span: Span): Span | null => (span.left + span.width < 0 || span.left > width ? null : span);
  const known = selected >= 1 && selected <= count;
  const column = known ? seen(selectionColumn(selected, view, width)) : null;
  return {
    window: { left, width: right - left },
    caret: known ? { left: Math.round(centreOf(selected, minimapView(view, count), width)) - 1, width: 2 } : null,
    selection: column && { left: Math.round(column.left + column.width / 2 - selectionCanvasPx / 2), width: selectionCanvasPx },
    hovered: hovered >= 1 && hovered !== selected ? seen(selectionColumn(hovered, view, width)) : null,
  };
}

/** The view that the minimap itself shows: the whole run, and with it the room that a fitted live run keeps. */
export const minimapView = (view: View, count: number): View => ({ start: 0, span: Math.max(1, count, view.start <= 0 ? view.span : 0) });

/** What a pointer at (x, y) touches; null on the ruler's or matrix's margins outside the plot. `scroll` = CSS px by which the rows are scrolled. */
export function hitTest(x: number, y: number, t: Tracks, view: View, count: number, obligations: number, scroll: number): Hit | null {
  if (x < 0 || y < 0 || x > t.width || y >= t.height || count < 1) return null;
  if (y < t.minimap.height) {
    const { left, right } = minimapWindow(view, count, t.width);
    const wide = right - left > gripPx * 3;
    const inner = wide ? gripPx : 1;
    const n = transitionAt(x, minimapView(view, count), t.width, count);
    if (Math.abs(x - left) <= inner || (x < left && left - x <= gripPx)) return { on: 'minimap', n, part: 'left' };
    if (Math.abs(x - right) <= inner || (x > right && x - right <= gripPx)) return { on: 'minimap', n, part: 'right' };
    return { on: 'minimap', n, part: x > left && x < right ? 'window' : 'outside' };
  }
  const n = transitionAt(x, view, t.width, count);
  if (y < t.matrix.top) return { on: 'potential', n };
  const row = Math.floor((Math.min(Math.max(y, t.rows.top), t.rows.top + t.rows.height - 1) - t.rows.top + scroll) / trackPx.row);
  return { on: 'matrix', n, obligation: Math.min(Math.max(0, row), obligations - 1) };
}

/** The first and last row (from 1) that are seen whole; null when all of them are. */
export function rowsSeen({ rows }: Tracks, scroll: number, obligations: number): { readonly first: number; readonly last: number } | null {
  if (obligations * trackPx.row <= rows.height) return null;
  return {
    first: Math.ceil(scroll / trackPx.row) + 1,
    last: Math.min(obligations, Math.floor((scroll + rows.height) / trackPx.row)),
  };
}

/** The vertical scroll that shows row i in a matrix that shows `seen` CSS px of rows, moved as little as possible. */
export function scrollToRow(i: number, scroll: number, obligations: number, seen: number): number {
  const most = Math.max(0, obligations * trackPx.row - seen);
  const top = i * trackPx.row;
  return Math.min(most, Math.max(0, top < scroll ? top : top + trackPx.row > scroll + seen ? top + trackPx.row - seen : scroll));
}
