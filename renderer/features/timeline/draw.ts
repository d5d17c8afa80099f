// What is drawn with a pen: ruler, potential staircase, marks and the selection. Only calls on a 2D context; what to draw comes from layout.ts.
import { outcomes } from '#shared/domain/transition.ts';
import {
  centreOf,
  columnPx,
  leftOf,
  liftOf,
  merging,
  niceStep,
  potentialScale,
  potentialTicks,
  potentialY,
  selectionColumn,
  trackPx,
  visible,
  type PotentialScale,
  type Span,
  type Tracks,
} from './layout.ts';
import { markShape, outcomeNames, ringDash } from './marks.ts';
import type { Palette } from './palette.ts';
import type { Scene } from './raster.ts';
import { decided, emptyBucket, floating, sumOf } from './summary.ts';

/** The part of a 2D context that is used; tests hand in one that writes down the calls. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'arc'
  | 'closePath'
  | 'fill'
  | 'stroke'
  | 'fillRect'
  | 'strokeRect'
  | 'clearRect'
  | 'setLineDash'
  | 'fillText'
  | 'measureText'
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'lineJoin'
  | 'globalAlpha'
  | 'font'
  | 'textAlign'
  | 'textBaseline'
>;

const commit = outcomes.indexOf('commit');
const tie = outcomes.indexOf('tie');
const markPx = { least: 2.2, most: 3.4, perColumn: 0.62, stroke: 1.3 } as const;
/** Mean distance below which commits far away are not dotted any more. */
const dotApartPx = 7;
/** Numbers on the ruler that come closer than this to the selection's are left out. */
const labelApartPx = 4;
/** The nearest centre of a device pixel is not known here; half a CSS px keeps hairlines sharp at whole ratios. */
const hair = (v: number): number => Math.round(v) + 0.5;

/** Radius of the marks when a column is this wide. */
const markRadius = (px: number): number => Math.min(markPx.most, Math.max(markPx.least, px * markPx.perColumn));

/** Where the mark of transition n is drawn; null when it is not loaded. `beyond` = it lies above (-1) or below (1) the ends of the scale. */
export function markPlace(
  scene: Scene,
  n: number,
  scale: PotentialScale,
): { readonly x: number; readonly y: number; readonly code: number; readonly beyond: -1 | 0 | 1 } | null {
  const { data, chain } = scene;
  const code = data.outcome(n);
  if (code >= outcomes.length) return null;
  const rank = decided.has(code) ? data.rank(n) : null;
  const value = rank ? sumOf(rank) : chain.potential(Math.min(data.baseSeq(n), Math.max(0, chain.length - 1)));
  return {
    x: centreOf(n, scene.view, scene.width),
    y: potentialY(value, scale) - liftOf(code, data.slot(n)),
    code,
    beyond: value > scale.top ? -1 : value < scale.low ? 1 : 0,
  };
}

/** Adds the outline of marks of one outcome to the current path, one subpath after the other. */
function traceMark(pen: Pen, code: number, x: number, y: number, radius: number): void {
  const name = outcomeNames[code];
  if (name === undefined) return;
  for (const part of markShape(name).subpaths) {
    if (part.kind === 'circle') {
      pen.moveTo(x + part.r * radius, y);
      pen.arc(x, y, part.r * radius, 0, 2 * Math.PI);
      continue;
    }
    for (const [i, [dx, dy]] of part.points.entries()) {
      if (i === 0) pen.moveTo(x + dx * radius, y + dy * radius);
      else pen.lineTo(x + dx * radius, y + dy * radius);
    }
    if (part.closed) pen.closePath();
  }
}

/** Draws all marks of one outcome at once: a change of colour or dash costs more than another subpath. `places` = x, y pairs. */
export function drawMarks(pen: Pen, code: number, places: readonly number[], radius: number, palette: Palette): void {
  const name = outcomeNames[code];
  if (name === undefined || places.length === 0) return;
  const mark = markShape(name);
  const color = palette.outcome[code]?.css ?? palette.ink.css;
  pen.beginPath();
  for (let i = 0; i < places.length; i += 2) traceMark(pen, code, places[i] ?? 0, places[i + 1] ?? 0, radius);
  if (mark.fill) {
    pen.fillStyle = color;
    pen.fill();
    return;
  }
  pen.strokeStyle = color;
  pen.lineWidth = markPx.stroke;
  pen.lineJoin = 'round';
  if (mark.dashed) pen.setLineDash(ringDash(radius));
  pen.stroke();
  if (mark.dashed) pen.setLineDash([]);
}

/** The scale of the potential track for what the window shows. */
export function sceneScale({ chain, view, data }: Pick<Scene, 'chain' | 'view' | 'data'>, t: Tracks): PotentialScale {
  const { first, last } = visible(view, data.count);
  return potentialScale(
    chain.potential(Math.max(0, chain.headBefore(first))),
    chain.potential(Math.max(0, chain.headBefore(last + 1))),
    t.potential,
  );
}

type RulerLabel = { readonly text: string; readonly x: number; readonly half: number };

/** The numbers on the ruler, one about every 90 px; sets the pen's font to theirs, with which they are measured. */
function rulerLabels(pen: Pen, { view, width, data }: Scene, palette: Palette): RulerLabel[] {
  const step = niceStep(Math.max(1, 90 / Math.max(1e-9, columnPx(view, width))));
  const { first, last } = visible(view, data.count);
  const labels: RulerLabel[] = [];
  pen.font = `10px ${palette.font}`;
  for (let n = Math.ceil(first / step) * step; n <= last; n += step) {
    const x = centreOf(n, view, width);
    const text = n.toLocaleString('en');
    const half = pen.measureText(text).width / 2;
    if (x - half >= 2 && x + half <= width - 2) labels.push({ text, x, half });
  }
  return labels;
}

/** Ruler with transition numbers. */
export function drawRuler(pen: Pen, scene: Scene, t: Tracks, palette: Palette): void {
  const labels = rulerLabels(pen, scene, palette);
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillStyle = palette.faint.css;
  for (const { text, x } of labels) pen.fillText(text, x, t.ruler.top + t.ruler.height / 2);
}

/** Staircase of the head's potential, with the rejected candidates at the height they would have reached. */
export function drawPotential(pen: Pen, scene: Scene, t: Tracks, palette: Palette): void {
  const { data, view, width } = scene;
  const scale = sceneScale(scene, t);
  pen.lineWidth = 1;
  pen.strokeStyle = palette.line.css;
  pen.beginPath();
  for (const v of potentialTicks(scale)) {
    pen.moveTo(0, hair(potentialY(v, scale)));
    pen.lineTo(width, hair(potentialY(v, scale)));
  }
  pen.stroke();
  const columns = merging(view, width, data.count);
  if (columns.resolution > 1) drawMergedCandidates(pen, scene, scale, palette, columns);
  drawStaircase(pen, scene, scale, palette);
  if (columns.resolution > 1) {
    drawCommitDots(pen, scene, scale, palette);
    return;
  }
  const radius = markRadius(columnPx(view, width));
  const places: number[][] = outcomes.map(() => []);
  const outside: number[] = [];
  for (let n = columns.first + 1; n <= columns.last + 1; n++) {
    const place = markPlace(scene, n, scale);
    if (!place || scene.hidden.has(place.code)) continue;
    places[place.code]?.push(place.x, place.y);
    if (place.beyond !== 0) outside.push(place.x, place.y + place.beyond * (radius + 2.5), place.code);
  }
  // Commits last: they are what must never be covered.
  for (let code = outcomes.length - 1; code >= 0; code--) if (code !== commit) drawMarks(pen, code, places[code] ?? [], radius, palette);
  drawMarks(pen, commit, places[commit] ?? [], radius + 0.2, palette);
  for (let i = 0; i < outside.length; i += 3) {
    pen.fillStyle = palette.outcome[outside[i + 2] ?? 0]?.css ?? palette.ink.css;
    pen.fillRect((outside[i] ?? 0) - radius, (outside[i + 1] ?? 0) - 0.5, radius * 2, 1);
  }
}

function drawStaircase(pen: Pen, scene: Scene, scale: PotentialScale, palette: Palette): void {
  const { data, chain, view, width } = scene;
  if (chain.length === 0) return;
  const { first, last } = visible(view, data.count);
  const from = Math.max(0, chain.headBefore(first));
  pen.strokeStyle = palette.outcome[commit]?.css ?? palette.ink.css;
  pen.lineWidth = 1.8;
  pen.lineJoin = 'round';
  pen.beginPath();
  let y = potentialY(chain.potential(from), scale);
  pen.moveTo(Math.max(0, leftOf(1, view, width)), y);
  // Many commits in one pixel become one drop: the staircase only falls, so its first and last point say all.
  let column = Number.NEGATIVE_INFINITY;
  let x = 0;
  for (let seq = from + 1; seq < chain.length && chain.at(seq) <= last; seq++) {
    x = centreOf(chain.at(seq), view, width);
    const next = potentialY(chain.potential(seq), scale);
    const here = Math.round(x);
    if (here !== column) {
      pen.lineTo(x, y);
      column = here;
    }
    const following = seq + 1 < chain.length ? Math.round(centreOf(chain.at(seq + 1), view, width)) : Number.POSITIVE_INFINITY;
    y = next;
    if (following !== here) pen.lineTo(x, y);
  }
  pen.lineTo(Math.min(width, leftOf(data.count + 1, view, width)), y);
  pen.stroke();
}

/** A dot for every commit while they stand apart; closer, the staircase itself and the ticks of the matrix show them. */
function drawCommitDots(pen: Pen, scene: Scene, scale: PotentialScale, palette: Palette): void {
  const { data, chain, view, width } = scene;
  const { first, last } = visible(view, data.count);
  const from = Math.max(1, chain.headBefore(first) + 1);
  const to = chain.headBefore(last + 1);
  if (scene.hidden.has(commit) || (to - from + 1) * dotApartPx > width) return;
  const places: number[] = [];
  for (let seq = from; seq <= to; seq++) places.push(centreOf(chain.at(seq), view, width), potentialY(chain.potential(seq), scale));
  drawMarks(pen, commit, places, markPx.least, palette);
}

/** Far away: per column and kind the range of potentials that was reached, side by side; a dash where nothing had a rank. */
function drawMergedCandidates(
  pen: Pen,
  scene: Scene,
  scale: PotentialScale,
  palette: Palette,
  columns: { readonly resolution: number; readonly first: number; readonly last: number },
): void {
  const { data, summary, chain, view, width } = scene;
  const bucket = emptyBucket(data.m);
  const part = (columnPx(view, width) * columns.resolution) / floating.length;
  const rects: number[][] = [...floating.map(() => []), []];
  for (let c = columns.first; c <= columns.last; c++) {
    summary.read(bucket, c, columns.resolution);
    const x = leftOf(c * columns.resolution + 1, view, width);
    let total = 0;
    let without = 0;
    for (const [code, count] of bucket.outcomes.entries()) {
      total += count;
      if (liftOf(code, 0) > 0 && code !== tie) without += count;
    }
    for (const p of floating.keys()) {
      const low = bucket.potentials[p * 2] ?? -1;
      if (low < 0) continue;
      const top = potentialY(bucket.potentials[p * 2 + 1] ?? low, scale);
      rects[p]?.push(x + p * part, top - 1, Math.max(2, potentialY(low, scale) - top + 2));
    }
    if (total > 0 && without === total)
      rects[floating.length]?.push(x, potentialY(chain.potential(Math.max(0, chain.headBefore(c * columns.resolution + 1))), scale) - 9, 1);
  }
  for (const [p, places] of rects.entries()) {
    const code = floating[p];
    pen.fillStyle = (code === undefined ? palette.lineStrong : palette.outcome[code])?.css ?? palette.ink.css;
    for (let i = 0; i < places.length; i += 3)
      pen.fillRect(
        places[i] ?? 0,
        places[i + 1] ?? 0,
        code === undefined ? part * floating.length : Math.max(1, part - 0.3),
        places[i + 2] ?? 0,
      );
  }
}

/**
 * The column of the selection through ruler, potential and matrix, with its number on the ruler and its mark in a ring. The pen's canvas covers
 * only `canvas` (CSS px of the plot): in software a canvas that changes is painted whole, so the one that changes with every key is small.
 */
export function drawSelection(pen: Pen, scene: Scene, t: Tracks, n: number, canvas: Span, palette: Palette): void {
  const { view, width } = scene;
  pen.clearRect(canvas.left, t.ruler.top, canvas.width, t.height - t.ruler.top);
  const { left, width: wide } = selectionColumn(n, view, width);
  pen.fillStyle = palette.select.css;
  pen.fillRect(left - 1, t.ruler.top + t.ruler.height - 2, wide + 2, t.matrix.top - t.ruler.top - t.ruler.height + 2);
  pen.strokeStyle = palette.focus.css;
  pen.lineWidth = 1.5;
  pen.strokeRect(left - 1, t.matrix.top + 0.75, wide + 2, t.rows.top + t.rows.height - t.matrix.top + trackPx.foot - 2);

  const place = markPlace(scene, n, sceneScale(scene, t));
  if (place) {
    const radius = markRadius(columnPx(view, width));
    pen.beginPath();
    pen.arc(place.x, place.y, radius + 3.6, 0, 2 * Math.PI);
    pen.fillStyle = palette.panel.css;
    pen.fill();
    pen.stroke();
    drawMarks(pen, place.code, [place.x, place.y], radius + 0.4, palette);
  }

  const labels = rulerLabels(pen, scene, palette);
  const text = n.toLocaleString('en');
  pen.font = `600 10px ${palette.font}`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  const half = pen.measureText(text).width / 2 + 5;
  const centre = Math.min(width - half - 1, Math.max(half + 1, left + wide / 2));
  // A number of the ruler that would be half covered is covered whole: half of "30" reads as "3".
  pen.fillStyle = palette.panel.css;
  for (const label of labels) {
    if (Math.abs(label.x - centre) >= label.half + half + labelApartPx) continue;
    pen.fillRect(label.x - label.half - 1, t.ruler.top + 1, label.half * 2 + 2, t.ruler.height - 2);
  }
  pen.fillStyle = palette.focus.css;
  pen.fillRect(centre - half, t.ruler.top + 2, half * 2, t.ruler.height - 4);
  pen.fillStyle = palette.panel.css;
  pen.fillText(text, centre, t.ruler.top + t.ruler.height / 2 + 0.5);
}
