// Scales, merging and hit testing: numbers in, numbers out.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  axisTicks,
  centreOf,
  hitTest,
  leastHeight,
  leftOf,
  merging,
  minimapWindow,
  naturalHeight,
  niceStep,
  potentialScale,
  potentialTicks,
  potentialY,
  rowsSeen,
  scrollToRow,
  trackPx,
  tracks,
  transitionAt,
} from '#renderer/features/timeline/layout.ts';
import {
  clampView,
  endedView,
  fitView,
  fullSpan,
  growView,
  initialView,
  isFit,
  panView,
  revealView,
  zoomView,
  type View,
} from '#renderer/features/timeline/viewport.ts';

const widths = fc.integer({ min: 100, max: 3000 });
const counts = fc.integer({ min: 1, max: 200_000 });
/** A run, a plot and a view that the timeline could really show. */
const shown = fc
  .record({
    count: counts,
    width: widths,
    zoom: fc.double({ min: 0, max: 1, noNaN: true }),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ count, width, zoom, at }) => ({ count, width, view: clampView({ start: at * count, span: zoom * count }, count, width) }));

describe('scales', () => {
  test('hit testing is the inverse of the scale', () => {
    fc.assert(
      fc.property(shown, fc.double({ min: 0, max: 1, noNaN: true }), ({ count, width, view }, share) => {
        const n = Math.min(count, Math.max(1, Math.round(share * count)));
        expect(transitionAt(centreOf(n, view, width), view, width, count)).toBe(n);
      }),
    );
  });

  test('columns touch and never overlap', () => {
    fc.assert(
      fc.property(shown, ({ view, width }) => {
        expect(leftOf(2, view, width) - leftOf(1, view, width)).toBeCloseTo(width / view.span, 5);
        expect(centreOf(1, view, width)).toBeCloseTo((leftOf(1, view, width) + leftOf(2, view, width)) / 2, 5);
      }),
    );
  });

  test('an empty run has nothing under the pointer', () => {
    expect(transitionAt(10, { start: 0, span: 10 }, 100, 0)).toBe(0);
    expect(hitTest(10, 10, tracks(100, 0, 3), { start: 0, span: 10 }, 0, 3, 0)).toBeNull();
  });

  test('potentials fall from top to bottom and stay inside the track', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 2e6 }),
        (from, share, p) => {
          const band = { top: 40, height: 148 };
          const to = Math.floor(from * share);
          const scale = potentialScale(from, to, band);
          const y = potentialY(p, scale);
          expect(y).toBeGreaterThanOrEqual(band.top);
          expect(y).toBeLessThanOrEqual(band.top + band.height);
          expect(potentialY(p + 1, scale)).toBeLessThanOrEqual(y);
          // Every head of the window lies on the scale itself, not at its edge.
          expect(scale.low).toBeLessThanOrEqual(to);
          expect(scale.top).toBeGreaterThanOrEqual(from);
        },
      ),
    );
  });

  test('the scale reaches down to the goal unless steps would vanish', () => {
    const band = { top: 0, height: 148 };
    expect(potentialScale(41, 17, band).low).toBe(0);
    const close = potentialScale(1000, 990, band);
    expect(close.low).toBeGreaterThan(900);
    expect(potentialY(990, close) - potentialY(991, close)).toBeGreaterThan(3);
  });

  test('the axis always names the potential that the window begins with and one more', () => {
    expect(potentialTicks(potentialScale(395, 0, { top: 0, height: 80 }))).toEqual([0, 200, 395]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 64, max: 500 }),
        (from, share, height) => {
          const scale = potentialScale(from, Math.floor(from * share), { top: 0, height });
          const ticks = potentialTicks(scale);
          expect(ticks).toContain(from);
          expect(ticks.length).toBeGreaterThanOrEqual(2);
          const at = ticks.map((v) => potentialY(v, scale));
          for (const [i, y] of at.slice(1).entries()) expect((at[i] ?? 0) - y).toBeGreaterThan(8);
        },
      ),
    );
  });

  test('axis values are round, rising and inside', () => {
    expect(axisTicks(0, 45, 4)).toEqual([0, 20, 40]);
    expect(axisTicks(80, 110, 3)).toEqual([80, 90, 100, 110]);
    expect([1, 1.1, 2.1, 5.5, 90, 100.5].map(niceStep)).toEqual([1, 2, 5, 10, 100, 200]);
  });
});

describe('merging', () => {
  test('columns are wide enough and cover what is seen without a gap', () => {
    fc.assert(
      fc.property(shown, ({ count, width, view }) => {
        const { resolution, first, last } = merging(view, width, count);
        expect((width / view.span) * resolution).toBeGreaterThanOrEqual(3 - 1e-6);
        expect(resolution > 1 ? (width / view.span) * resolution : 3).toBeLessThan(6 + 1e-6);
        expect(first * resolution + 1).toBeLessThanOrEqual(Math.floor(view.start) + 1);
        expect((last + 1) * resolution).toBeGreaterThanOrEqual(Math.min(count, view.start + view.span));
      }),
    );
  });

  test('panning does not regroup: the same bucket holds the same transitions', () => {
    const width = 1000;
    const view: View = { start: 4000, span: 8000 };
    const here = merging(view, width, 100_000);
    const there = merging(panView(view, 37, 100_000, width), width, 100_000);
    expect(here.resolution).toBe(there.resolution);
    expect(there.first).toBe(Math.floor(4037 / here.resolution));
  });
});

describe('tracks', () => {
  test('heights add up, whatever the number of obligations and the height that is given', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 3000 }), (m, available) => {
        const t = tracks(800, available, m);
        expect(t.height).toBe(Math.max(available, leastHeight(m)));
        expect(t.potential.top).toBe(t.ruler.top + t.ruler.height);
        expect(t.matrix.top).toBe(t.potential.top + t.potential.height);
        expect(t.matrix.top + t.matrix.height).toBe(t.height);
        expect(t.rows.height % trackPx.row).toBe(0);
        expect(t.rows.height).toBeGreaterThanOrEqual(Math.min(m, 3) * trackPx.row);
        expect(t.rows.height).toBeLessThanOrEqual(m * trackPx.row);
        expect(t.potential.height).toBeGreaterThanOrEqual(64);
      }),
    );
    expect(tracks(800, naturalHeight(8), 8).potential.height).toBe(trackPx.potential);
  });

  test('twelve rows are seen where they fit, fewer in a lower panel; what is not seen is counted', () => {
    const tall = tracks(800, 416, 12);
    expect(tall.rows.height).toBe(12 * trackPx.row);
    expect(rowsSeen(tall, 0, 12)).toBeNull();
    const low = tracks(800, 300, 11);
    expect(low.height).toBe(300);
    expect(rowsSeen(low, 0, 11)).toEqual({ first: 1, last: 7 });
    expect(rowsSeen(low, 30, 11)).toEqual({ first: 3, last: 8 });
    expect(rowsSeen(low, 4 * trackPx.row, 11)).toEqual({ first: 5, last: 11 });
  });

  test('hit testing names the track and the row, also when the rows are scrolled', () => {
    const t = tracks(1000, naturalHeight(30), 30);
    const view = { start: 0, span: 100 };
    const hit = (x: number, y: number, scroll = 0) => hitTest(x, y, t, view, 100, 30, scroll);
    expect(hit(505, t.potential.top + 20)).toEqual({ on: 'potential', n: 51 });
    expect(hit(505, t.rows.top + 2 * trackPx.row + 1)).toEqual({ on: 'matrix', n: 51, obligation: 2 });
    expect(hit(505, t.rows.top + 2 * trackPx.row + 1, 5 * trackPx.row)).toEqual({ on: 'matrix', n: 51, obligation: 7 });
    expect(hit(505, t.rows.top + t.rows.height + 2, 20 * trackPx.row)).toEqual({ on: 'matrix', n: 51, obligation: 29 });
    expect(hit(-1, 100)).toBeNull();
    expect(hit(10, t.height)).toBeNull();
  });

  test('the window of the minimap has edges to take and a middle to drag', () => {
    const t = tracks(1000, 0, 3);
    const view = { start: 200, span: 300 };
    const part = (x: number) => {
      const hit = hitTest(x, 10, t, view, 1000, 3, 0);
      return hit?.on === 'minimap' ? hit.part : null;
    };
    expect([part(200), part(350), part(500), part(100), part(800)]).toEqual(['left', 'window', 'right', 'outside', 'outside']);
    expect(minimapWindow({ start: 99_990, span: 10 }, 100_000, 1000)).toEqual({ left: 996, right: 1000 });
  });

  test('scrolling to a row moves no more than it must', () => {
    const seen = 10 * trackPx.row;
    expect(scrollToRow(3, 0, 30, seen)).toBe(0);
    expect(scrollToRow(12, 0, 30, seen)).toBe(3 * trackPx.row);
    expect(scrollToRow(12, 10 * trackPx.row, 30, seen)).toBe(10 * trackPx.row);
    expect(scrollToRow(2, 10 * trackPx.row, 30, seen)).toBe(2 * trackPx.row);
    expect(scrollToRow(5, 0, 8, 8 * trackPx.row)).toBe(0);
  });
});

describe('viewport', () => {
  test('zooming keeps the transition under the pointer where it is, until an end is reached', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.5, max: 0.99, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (factor, anchor) => {
        const view = { start: 4000, span: 1000 };
        const after = zoomView(view, factor, anchor, 10_000, 1200);
        expect(after.start + anchor * after.span).toBeCloseTo(view.start + anchor * view.span, 6);
      }),
    );
  });

  test('no view leaves the run or shows less than a few columns', () => {
    fc.assert(
      fc.property(
        counts,
        widths,
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        (count, width, start, span) => {
          const view = clampView({ start, span }, count, width);
          expect(view.start).toBeGreaterThanOrEqual(0);
          expect(view.start).toBeLessThan(count);
          expect(width / view.span).toBeLessThanOrEqual(24 + 1e-9);
          expect(view.span).toBeLessThanOrEqual(Math.max(fullSpan(count, width), count * 1.25));
        },
      ),
    );
  });

  test('first view: the whole run when marks fit, else a readable window around the selection', () => {
    expect(isFit(initialView(240, 1170, 182), 240)).toBe(true);
    const view = initialView(10_000, 1000, 5000);
    expect(1000 / view.span).toBeCloseTo(5);
    expect(view.start).toBeLessThan(5000);
    expect(view.start + view.span).toBeGreaterThan(5000);
  });

  test('a selection inside the window moves nothing; outside it is brought in', () => {
    fc.assert(
      fc.property(shown, fc.double({ min: 0, max: 1, noNaN: true }), ({ count, width, view }, share) => {
        const n = Math.min(count, Math.max(1, Math.round(share * count)));
        const inside = n - 0.5 >= view.start && n - 0.5 <= view.start + view.span;
        const after = revealView(view, n, count, width);
        expect(after === view).toBe(inside);
        expect(n - 0.5).toBeGreaterThanOrEqual(after.start - 1e-6);
        expect(n - 0.5).toBeLessThanOrEqual(after.start + after.span + 1e-6);
        expect(after.span).toBeCloseTo(view.span, 6);
      }),
    );
  });

  test('one step over the edge moves the window by about a third, not by one', () => {
    const after = revealView({ start: 100, span: 90 }, 191, 1000, 450);
    expect(after.start).toBeCloseTo(190.5 - 60);
  });

  test('an ended run leaves nothing blank: a short one takes the width, a window at the end stops there', () => {
    expect(endedView(fitView(8, 1030), 8)).toEqual({ start: 0, span: 8 });
    expect(endedView({ start: 180, span: 80 }, 240)).toEqual({ start: 160, span: 80 });
    expect(endedView({ start: 20, span: 80 }, 240)).toEqual({ start: 20, span: 80 });
  });

  test('a growing run moves nothing for somebody who looks elsewhere', () => {
    const view = { start: 10, span: 50 };
    expect(growView(view, 100, 140, 1000, false)).toBe(view);
    expect(growView(fitView(100, 1000), 100, 101, 1000, false)).toEqual(fitView(100, 1000));
  });

  test('who follows the head keeps it in sight, in few steps', () => {
    let view = fitView(100, 1000);
    let moves = 0;
    for (let count = 101; count <= 400; count++) {
      const next = growView(view, count - 1, count, 1000, true);
      if (next !== view) moves++;
      view = next;
      expect(view.start).toBe(0);
      expect(view.span).toBeGreaterThanOrEqual(count);
    }
    expect(moves).toBeLessThanOrEqual(8);
    const narrow = growView({ start: 300, span: 100 }, 400, 401, 1000, true);
    expect(narrow.span).toBe(100);
    expect(narrow.start + narrow.span).toBeGreaterThan(401);
  });
});
