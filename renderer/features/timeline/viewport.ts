// Which part of the run the timeline shows. Pure arithmetic in transitions; nothing here knows pixels but the width.

/** `start` = transitions to the left of the window (0 = the window begins with transition 1), `span` = transitions that fit. Both may be fractions. */
export type View = { readonly start: number; readonly span: number };

/** Widest column, so that a run of five does not become five posters. */
const maxColumnPx = 24;
/** Narrowest column that still carries its own mark; below it transitions are merged. */
export const minMarkPx = 3;
/** Column width in which marks are read comfortably: the first view of a run that does not fit. */
const readingPx = 5;
const minColumns = 12;
/** Share of the window that a followed head leaves free. */
const headroom = 0.25;

const minSpan = (width: number): number => Math.max(minColumns, width / maxColumnPx);
/** The span of the whole run; a live run keeps some room for what comes. */
export const fullSpan = (count: number, width: number): number => Math.max(count, minSpan(width));

/** Brings a view into the run: no wider than the run, no empty side while there is something to show. */
export function clampView(view: View, count: number, width: number): View {
  const span = Math.min(Math.max(view.span, minSpan(width)), Math.max(fullSpan(count, width), count * (1 + headroom)));
  // A quarter of the window may lie beyond the last transition: there a live run goes on.
  const last = span >= count ? 0 : count - span * (1 - headroom);
  return { start: Math.min(Math.max(0, view.start), last), span };
}

/** Everything from the first transition to the last. */
export const fitView = (count: number, width: number): View => ({ start: 0, span: fullSpan(count, width) });

/** Whether the view shows the whole run. */
export const isFit = (view: View, count: number): boolean => view.start <= 0 && view.span >= count;

const leastEnded = 4;

/** What is seen of a run that has ended: nothing beyond its last transition, for nothing will come there; a short run takes the whole width. */
export function endedView(view: View, count: number): View {
  const span = Math.min(view.span, Math.max(count, leastEnded));
  return { start: Math.min(view.start, Math.max(0, count - span)), span };
}

/** First view of a run: whole when every transition gets its own mark, else a readable window around the selection. */
export function initialView(count: number, width: number, selected: number): View {
  if (width <= 0 || count * minMarkPx <= width) return fitView(count, width);
  return centreOn({ start: 0, span: width / readingPx }, selected, count, width);
}

/** Same span, with transition n in the middle where the run allows. */
export const centreOn = (view: View, n: number, count: number, width: number): View =>
  clampView({ start: n - 0.5 - view.span / 2, span: view.span }, count, width);

/** `factor` < 1 zooms in. `anchor` is the fraction of the width (0..1) that stays where it is. */
export function zoomView(view: View, factor: number, anchor: number, count: number, width: number): View {
  const span = Math.min(Math.max(view.span * factor, minSpan(width)), fullSpan(count, width));
  return clampView({ start: view.start + anchor * (view.span - span), span }, count, width);
}

/** Moves the window by a number of transitions (fractions allowed). */
export const panView = (view: View, by: number, count: number, width: number): View =>
  clampView({ start: view.start + by, span: view.span }, count, width);

/**
 * The view after the selection moved to n. Inside the window nothing moves, so the eye keeps its place and stepping repaints only the selection.
 * One step over the edge moves the window by a third; a jump puts n in the middle.
 */
export function revealView(view: View, n: number, count: number, width: number): View {
  const at = n - 0.5;
  if (n < 1 || (at >= view.start && at <= view.start + view.span)) return view;
  const beyond = at < view.start ? view.start - at : at - (view.start + view.span);
  if (beyond > view.span) return centreOn(view, n, count, width);
  const third = view.span / 3;
  return clampView({ start: at < view.start ? at - third : at - view.span + third, span: view.span }, count, width);
}

/**
 * The view after the run grew from `before` to `count` transitions. Somebody who looks at an earlier place sees nothing move. Who follows the
 * head and saw the whole run keeps seeing it, in steps of a quarter so that the picture does not shrink with each arrival; a narrower window moves.
 */
export function growView(view: View, before: number, count: number, width: number, following: boolean): View {
  if (!following || count <= view.start + view.span) return view;
  if (view.start <= 0 && view.span >= before) return { start: 0, span: Math.max(count * (1 + headroom), minSpan(width)) };
  return { start: count - view.span * (1 - headroom), span: view.span };
}
