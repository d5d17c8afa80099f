// Matrix and minimap as pixels: thousands of small rectangles cost a software canvas more than a frame, written into a buffer and put at once they
// cost a fraction of a millisecond. Everything stands on whole device pixels, so edges are sharp. No DOM: a buffer in, colours in it.
import { outcomes } from '#shared/domain/transition.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import type { Chain } from './chain.ts';
import { leftOf, merging, minimapView, trackPx, type Merging } from './layout.ts';
import type { Palette } from './palette.ts';
import { decided, emptyBucket, type Bucket, type Summary } from './summary.ts';
import type { View } from './viewport.ts';

/** Device pixels, row by row; 0 is transparent. */
export type Pixels = { readonly width: number; readonly height: number; readonly data: Uint32Array };

/** What is drawn: the run, the part of it that is seen and how. `scroll` = CSS px by which the matrix is scrolled. */
export type Scene = {
  readonly data: RunData;
  readonly summary: Summary;
  readonly chain: Chain;
  readonly view: View;
  /** CSS px. */
  readonly width: number;
  readonly dpr: number;
  readonly scroll: number;
  readonly hidden: ReadonlySet<number>;
};

const commit = outcomes.indexOf('commit');

/** Fills a rectangle given by its edges in device px, cut to the buffer and to `clip` rows. */
function fill(pixels: Pixels, x0: number, y0: number, x1: number, y1: number, rgba: number, clipTop = 0, clipBottom = pixels.height): void {
  const left = Math.max(0, x0);
  const right = Math.min(pixels.width, x1);
  const bottom = Math.min(clipBottom, y1);
  if (right <= left) return;
  for (let y = Math.max(clipTop, y0); y < bottom; y++) pixels.data.fill(rgba, y * pixels.width + left, y * pixels.width + right);
}

const barMaxPx = 12;
/** Thickness above and below the middle of a row, CSS px: a change reaches over the middle on its own side, so that it reads without colour. */
const bar = { over: 1, weak: 7, strong: 9, share: 8 } as const;

/**
 * The obligation matrix with commit ticks on top. A change is a thick bar that hangs below the middle when the obligation got better (fewer) and
 * stands above it when it got worse, each against the transition's own base; unchanged and still violated is a thin line; zero that stayed zero is
 * nothing; no ranks is a column of dots. Merged columns show the share of better and worse transitions as heights around the middle.
 */
export function paintMatrix(pixels: Pixels, scene: Scene, palette: Palette): Merging {
  pixels.data.fill(0);
  const { data, view, width, dpr, hidden } = scene;
  const columns = merging(view, width, data.count);
  const rowsTop = Math.round(trackPx.tick * dpr);
  const rowsBottom = pixels.height - Math.round(trackPx.foot * dpr);
  const firstRow = Math.floor(scene.scroll / trackPx.row);
  const lastRow = Math.min(data.m, Math.ceil((scene.scroll + (rowsBottom - rowsTop) / dpr) / trackPx.row));
  const middle = (row: number) => Math.round((trackPx.tick + row * trackPx.row - scene.scroll + trackPx.row / 2) * dpr);
  const px = (css: number) => Math.max(1, Math.round(css * dpr));
  const put = (x0: number, y0: number, x1: number, y1: number, rgba: number) => fill(pixels, x0, y0, x1, y1, rgba, rowsTop, rowsBottom);
  const bucket = columns.resolution > 1 ? emptyBucket(data.m) : null;

  for (let c = columns.first; c <= columns.last; c++) {
    const x0 = Math.round(leftOf(c * columns.resolution + 1, view, width) * dpr);
    const x1 = Math.round(leftOf((c + 1) * columns.resolution + 1, view, width) * dpr);
    if (bucket) {
      scene.summary.read(bucket, c, columns.resolution);
      mergedColumn(scene, palette, bucket, c, columns.resolution, x0, x1, { firstRow, lastRow, middle, px, put });
      if ((bucket.outcomes[commit] ?? 0) > 0) fill(pixels, x0, 0, Math.max(x0 + px(1), x1), px(2), palette.outcome[commit]?.rgba ?? 0);
      continue;
    }
    const n = c + 1;
    const code = data.outcome(n);
    if (code >= outcomes.length || hidden.has(code)) continue;
    const gap = x1 - x0 >= px(3) ? px(1) : 0;
    const barWidth = Math.min(x1 - x0 - gap, px(barMaxPx));
    const left = x0 + Math.round((x1 - x0 - barWidth) / 2);
    if (code === commit) fill(pixels, left, 0, left + Math.max(px(1), barWidth), px(2), palette.outcome[commit]?.rgba ?? 0);
    const rank = data.rank(n);
    if (!rank) {
      const dot = Math.min(px(2), x1 - x0);
      const at = x0 + Math.floor((x1 - x0 - dot) / 2);
      for (let i = firstRow; i < lastRow; i++)
        put(at, middle(i) - Math.floor(dot / 2), at + dot, middle(i) - Math.floor(dot / 2) + dot, palette.lineStrong.rgba);
      continue;
    }
    if (data.baseSeq(n) >= data.chainLength) continue;
    const base = data.baseRank(n);
    for (let i = firstRow; i < lastRow; i++) {
      const before = base[i] ?? 0;
      const change = (rank[i] ?? 0) - before;
      const y = middle(i);
      if (change === 0) {
        if (before > 0) put(x0, y - px(1), x1, y - px(1) + px(2), palette.lineStrong.rgba);
      } else if (change < 0) {
        const strong = change < -1 || code === commit;
        put(left, y - px(bar.over), left + barWidth, y + px(strong ? bar.strong : bar.weak), palette.better[strong ? 1 : 0].rgba);
      } else {
        const strong = change > 1;
        put(left, y - px(strong ? bar.strong : bar.weak), left + barWidth, y + px(bar.over), palette.worse[strong ? 1 : 0].rgba);
      }
    }
  }
  return columns;
}

type Rows = {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly middle: (row: number) => number;
  readonly px: (css: number) => number;
  readonly put: (x0: number, y0: number, x1: number, y1: number, rgba: number) => void;
};

function mergedColumn(
  scene: Scene,
  palette: Palette,
  bucket: Bucket,
  index: number,
  resolution: number,
  x0: number,
  x1: number,
  rows: Rows,
): void {
  const { data, chain } = scene;
  let total = 0;
  for (const k of bucket.outcomes) total += k;
  if (total === 0) return;
  let withRank = 0;
  for (const code of decided) withRank += bucket.outcomes[code] ?? 0;
  const { px, put, middle } = rows;
  if (withRank === 0) {
    const dot = Math.min(px(2), x1 - x0);
    for (let i = rows.firstRow; i < rows.lastRow; i++) put(x0, middle(i) - 1, x0 + dot, middle(i) - 1 + dot, palette.lineStrong.rgba);
    return;
  }
  const before = data.chainRank(Math.max(0, chain.headBefore(index * resolution + 1)));
  const after = data.chainRank(Math.max(0, chain.headBefore((index + 1) * resolution + 1)));
  const reach = (count: number) => px(2 + (bar.share - 2) * Math.sqrt(count / withRank));
  for (let i = rows.firstRow; i < rows.lastRow; i++) {
    const y = middle(i);
    const worse = bucket.worse[i] ?? 0;
    const better = bucket.better[i] ?? 0;
    if (worse > 0) put(x0, y - px(1) - reach(worse), x1, y - px(1), palette.worse[0].rgba);
    if (better > 0) {
      const kept = (after[i] ?? 0) < (before[i] ?? 0);
      put(x0, y + px(1), x1, y + px(1) + reach(better), palette.better[kept ? 1 : 0].rgba);
    }
    if ((before[i] ?? 0) > 0) put(x0, y - px(1), x1, y - px(1) + px(2), palette.lineStrong.rgba);
  }
}

/**
 * The whole run in one strip: a needle for every commit, never narrower than a pixel, over a strip of the rejections in their colours at half
 * strength. Where many transitions share a pixel the strip is divided by their shares and the needle grows with the number of commits.
 */
export function paintMinimap(pixels: Pixels, scene: Scene, palette: Palette): void {
  pixels.data.fill(0);
  const { data, summary, dpr } = scene;
  if (data.count < 1) return;
  const view = minimapView(scene.view, data.count);
  const columns = merging(view, scene.width, data.count, 1);
  const y = (css: number) => Math.round(css * dpr);
  const green = palette.outcome[commit]?.rgba ?? 0;
  const bucket = emptyBucket(data.m);
  let most = 1;
  if (columns.resolution > 1) {
    for (let c = columns.first; c <= columns.last; c++) {
      summary.read(bucket, c, columns.resolution);
      most = Math.max(most, bucket.outcomes[commit] ?? 0);
    }
  }
  const gap = columns.resolution === 1 && scene.width / view.span >= 3 ? Math.max(1, Math.round(dpr)) : 0;
  for (let c = columns.first; c <= columns.last; c++) {
    summary.read(bucket, c, columns.resolution);
    const x0 = Math.round(leftOf(c * columns.resolution + 1, view, scene.width) * dpr);
    const x1 = Math.max(x0 + 1, Math.round(leftOf((c + 1) * columns.resolution + 1, view, scene.width) * dpr) - gap);
    const commits = bucket.outcomes[commit] ?? 0;
    let rejected = 0;
    for (const k of bucket.outcomes) rejected += k;
    rejected -= commits;
    if (commits > 0) {
      const single = columns.resolution === 1;
      const height = single ? 18 : 3 + 7 * (commits / most);
      fill(pixels, x0, single ? y(4) : y(13 - height), Math.max(x0 + Math.max(1, Math.round(dpr)), x1), single ? y(22) : y(13), green);
    }
    if (rejected === 0) continue;
    const top = columns.resolution === 1 ? 11 : 14;
    const height = columns.resolution === 1 ? 8 : 9;
    let done = 0;
    for (let k = 0; k < outcomes.length; k++) {
      const share = k === commit ? 0 : (bucket.outcomes[k] ?? 0);
      if (share === 0) continue;
      const from = y(top + (height * done) / rejected);
      done += share;
      fill(pixels, x0, from, x1, y(top + (height * done) / rejected), palette.soft[k]?.rgba ?? 0);
    }
  }
}
