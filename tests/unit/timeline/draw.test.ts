// What reaches the canvas: one shape per outcome, commits never lost, cells that say which way an obligation went.
import { describe, expect, test } from 'vitest';
import { Chain } from '#renderer/features/timeline/chain.ts';
import { drawMarks, drawPotential, drawRuler, drawSelection, markPlace, sceneScale } from '#renderer/features/timeline/draw.ts';
import { centreOf, overlay, trackPx, tracks } from '#renderer/features/timeline/layout.ts';
import { markPath, markShape, outcomeNames } from '#renderer/features/timeline/marks.ts';
import { paintMatrix, paintMinimap, type Pixels, type Scene } from '#renderer/features/timeline/raster.ts';
import { Summary } from '#renderer/features/timeline/summary.ts';
import type { View } from '#renderer/features/timeline/viewport.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import { outcomes, type Outcome } from '#shared/domain/transition.ts';
import { fakeData, fakeRun } from '../../component/timeline-fake.ts';
import { namedPalette, RecordingPen } from './recording-pen.ts';

const none: ReadonlySet<number> = new Set();
const sceneOf = (data: RunData, view: View, width = 1000, extra: Partial<Scene> = {}): Scene => ({
  data,
  summary: new Summary(data, extra.hidden ?? none),
  chain: new Chain(data),
  view,
  width,
  dpr: 1,
  scroll: 0,
  hidden: none,
  ...extra,
});
const pixels = (width: number, height: number): Pixels => ({ width, height, data: new Uint32Array(width * height) });

const expected: Record<Outcome, { calls: readonly string[]; dashed: boolean }> = {
  commit: { calls: ['moveTo', 'arc', 'fill'], dashed: false },
  tie: { calls: ['moveTo', 'lineTo', 'stroke'], dashed: false },
  regression: { calls: ['moveTo', 'lineTo', 'lineTo', 'closePath', 'stroke'], dashed: false },
  incomparable: { calls: ['moveTo', 'lineTo', 'lineTo', 'lineTo', 'closePath', 'stroke'], dashed: false },
  not_selected: { calls: ['moveTo', 'lineTo', 'lineTo', 'closePath', 'stroke'], dashed: false },
  duplicate: { calls: ['moveTo', 'lineTo', 'moveTo', 'lineTo', 'stroke'], dashed: false },
  unstable: { calls: ['moveTo', ...Array.from({ length: 8 }, () => 'lineTo'), 'stroke'], dashed: false },
  invalid: { calls: ['moveTo', 'lineTo', 'moveTo', 'lineTo', 'stroke'], dashed: false },
  no_verdict: { calls: ['moveTo', 'arc', 'setLineDash', 'stroke'], dashed: true },
  aborted: { calls: ['moveTo', 'lineTo', 'lineTo', 'lineTo', 'closePath', 'stroke'], dashed: false },
};

describe('marks', () => {
  test.each(outcomes)('%s is drawn in its own shape', (outcome) => {
    const pen = new RecordingPen();
    drawMarks(pen, outcomes.indexOf(outcome), [10, 20], 3, namedPalette);
    expect(pen.pathIn(outcome)).toEqual(expected[outcome].calls);
    expect(markShape(outcome).dashed).toBe(expected[outcome].dashed);
  });

  test('no two outcomes share a shape, even without colour', () => {
    const looks = outcomes.map(
      (o) => `${markShape(o).fill ? 'filled' : 'hollow'} ${markShape(o).dashed ? 'dashed' : ''} ${markPath(markShape(o), 0, 0, 10)}`,
    );
    expect(new Set(looks).size).toBe(outcomes.length);
    expect(outcomeNames).toEqual(outcomes);
  });

  test('regression points down, not selected points up', () => {
    const tip = (code: Outcome) => {
      const pen = new RecordingPen();
      drawMarks(pen, outcomes.indexOf(code), [0, 0], 10, namedPalette);
      return pen.callsIn(code).flatMap((c) => (c.name === 'lineTo' && c.args[0] === 0 ? [Number(c.args[1])] : []));
    };
    expect(tip('regression')).toEqual([10]);
    expect(tip('not_selected')).toEqual([-10]);
  });
});

/** One transition of every outcome on a base of (3, 0); the first commits to (2, 0). */
const ten = () =>
  fakeData(
    ['a', 'b'],
    [
      { transition: -1, rank: [3, 0] },
      { transition: 1, rank: [2, 0] },
    ],
    outcomes.map((outcome, i) => {
      const rank: Record<Outcome, number[] | null> = {
        commit: [2, 0],
        tie: [2, 0],
        regression: [2, 1],
        incomparable: [1, 3],
        not_selected: [1, 0],
        duplicate: null,
        unstable: null,
        invalid: null,
        no_verdict: null,
        aborted: null,
      };
      return { outcome, baseSeq: i === 0 ? 0 : 1, rank: rank[outcome], slot: i % 4, round: 1 + Math.floor(i / 4) };
    }),
  );

describe('potential', () => {
  const t = tracks(1000, 300, 2);

  test('all ten outcomes appear, ranked ones at the height they would have reached, the others above their base', () => {
    const data = ten();
    const scene = sceneOf(data, { start: 0, span: 40 });
    const scale = sceneScale(scene, t);
    const y = (n: number) => markPlace(scene, n, scale)?.y ?? Number.NaN;
    const head = y(1);
    expect(y(3)).toBeLessThan(head); // regression: worse is higher
    expect(y(4)).toBeLessThan(y(3)); // 1 + 3 = 4
    expect(y(5)).toBeGreaterThan(head); // not selected: would have gone lower
    for (const n of [2, 6, 7, 8, 9, 10]) {
      expect(y(n)).toBeLessThan(head);
      expect(head - y(n)).toBeLessThanOrEqual(16);
    }
    const pen = new RecordingPen();
    drawPotential(pen, scene, t, namedPalette);
    for (const outcome of outcomes)
      expect(pen.calls.some((c) => (c.name === 'fill' || c.name === 'stroke') && c.color === outcome)).toBe(true);
    expect(pen.calls.findLast((c) => c.name === 'fill')?.color).toBe('commit');
  });

  test('a candidate beyond the scale stays inside the track and says so with a bar', () => {
    const data = fakeData(
      ['a'],
      [{ transition: -1, rank: [10] }],
      [{ outcome: 'regression', baseSeq: 0, rank: [90_000], slot: 0, round: 1 }],
    );
    const pen = new RecordingPen();
    const scene = sceneOf(data, { start: 0, span: 40 });
    drawPotential(pen, scene, t, namedPalette);
    const place = markPlace(scene, 1, sceneScale(scene, t));
    expect(place?.beyond).toBe(-1);
    expect(place?.y).toBeGreaterThanOrEqual(t.potential.top);
    expect(pen.calls.some((c) => c.name === 'fillRect' && c.color === 'regression')).toBe(true);
  });

  test('hidden outcomes are not drawn', () => {
    const pen = new RecordingPen();
    drawPotential(pen, sceneOf(ten(), { start: 0, span: 40 }, 1000, { hidden: new Set([2]) }), t, namedPalette);
    expect(pen.calls.some((c) => c.color === 'regression')).toBe(false);
    expect(pen.calls.some((c) => c.color === 'incomparable')).toBe(true);
  });

  test('the staircase has a corner at every commit and never rises', () => {
    const data = fakeRun(200);
    const scene = sceneOf(data, { start: 0, span: 200 });
    const pen = new RecordingPen();
    drawPotential(pen, scene, t, namedPalette);
    const end = pen.calls.findIndex((c) => c.name === 'stroke' && c.color === 'commit');
    const begin = pen.calls.findLastIndex((c, i) => i < end && c.name === 'beginPath');
    const points = pen.calls.slice(begin + 1, end).map((c) => [Number(c.args[0]), Number(c.args[1])] as const);
    for (let seq = 1; seq < data.chainLength; seq++) {
      const x = centreOf(data.chainTransition(seq), scene.view, 1000);
      expect(points.filter((p) => p[0] === x).length).toBe(2);
    }
    for (let i = 1; i < points.length; i++) expect(points[i]?.[1]).toBeGreaterThanOrEqual(points[i - 1]?.[1] ?? 0);
  });

  test('far away the staircase has at most three points a pixel and ends at the head', () => {
    const data = fakeRun(60_000, 8, [900, 600, 0, 700, 800, 500, 400, 200]);
    const pen = new RecordingPen();
    const scene = sceneOf(data, { start: 0, span: 60_000 }, 300);
    drawPotential(pen, scene, t, namedPalette);
    const end = pen.calls.findIndex((c) => c.name === 'stroke' && c.color === 'commit');
    const begin = pen.calls.findLastIndex((c, i) => i < end && c.name === 'beginPath');
    expect(data.chainLength).toBeGreaterThan(900);
    expect(end - begin).toBeLessThan(3 * 302);
  });
});

describe('matrix', () => {
  const t = tracks(1000, 300, 2);
  const at = (p: Pixels, x: number, y: number) => p.data[y * p.width + x];
  const middle = (row: number) => trackPx.tick + row * trackPx.row + trackPx.row / 2;
  const data = ten();
  const p = pixels(1000, t.matrix.height);
  paintMatrix(p, sceneOf(data, { start: 0, span: 40 }), namedPalette);
  const x = (n: number) => (n - 1) * 25 + 12;

  test('a commit has its tick and a strong bar below the middle', () => {
    expect(at(p, x(1), 0)).toBe(namedPalette.outcome[0]?.rgba);
    expect(at(p, x(1), middle(0) + 6)).toBe(namedPalette.better[1].rgba);
    expect(at(p, x(1), middle(0) - 6)).toBe(0);
  });

  test('worse stands above the middle, stronger when it is more than one', () => {
    expect(at(p, x(3), middle(1) - 4)).toBe(namedPalette.worse[0].rgba);
    expect(at(p, x(3), middle(1) - 8)).toBe(0);
    expect(at(p, x(4), middle(1) - 8)).toBe(namedPalette.worse[1].rgba);
    expect(at(p, x(4), middle(0) + 4)).toBe(namedPalette.better[0].rgba);
  });

  test('unchanged and violated is a thin line, zero that stayed zero is nothing', () => {
    const column = (row: number, n: number) =>
      Array.from({ length: trackPx.row }, (_, k) => at(p, x(n), trackPx.tick + row * trackPx.row + k)).filter((v) => v !== 0);
    expect(column(0, 2)).toEqual([namedPalette.lineStrong.rgba, namedPalette.lineStrong.rgba]);
    expect(column(1, 2)).toEqual([]);
  });

  test('without ranks there is a dot in every row', () => {
    for (const row of [0, 1]) {
      expect(at(p, x(8), middle(row))).toBe(namedPalette.lineStrong.rgba);
      expect(at(p, x(8) + 6, middle(row))).toBe(0);
    }
  });

  test('every commit keeps a tick of at least a pixel, however dense', () => {
    const dense = fakeRun(100_000, 8, [900, 600, 0, 700, 800, 500, 400, 200]);
    const wide = pixels(700, tracks(700, 0, 8).matrix.height);
    const scene = sceneOf(dense, { start: 0, span: 100_000 }, 700);
    paintMatrix(wide, scene, namedPalette);
    const strip = pixels(700, trackPx.minimap);
    paintMinimap(strip, scene, namedPalette);
    const green = namedPalette.outcome[0]?.rgba;
    for (let seq = 1; seq < dense.chainLength; seq++) {
      const cx = Math.min(699, Math.floor(centreOf(dense.chainTransition(seq), scene.view, 700)));
      expect(at(wide, cx, 0)).toBe(green);
      expect([cx - 1, cx, cx + 1].some((c) => Array.from({ length: 13 }, (_, yy) => at(strip, c, yy)).includes(green))).toBe(true);
    }
  });

  test('merged columns put worse above and better below the line', () => {
    const run = fakeRun(20_000);
    const wide = pixels(500, tracks(500, 0, 8).matrix.height);
    paintMatrix(wide, sceneOf(run, { start: 0, span: 20_000 }, 500), namedPalette);
    const worse = new Set(namedPalette.worse.map((i) => i.rgba));
    const better = new Set(namedPalette.better.map((i) => i.rgba));
    let seen = 0;
    for (let row = 0; row < 8; row++) {
      for (let c = 0; c < 500; c++) {
        for (let k = 1; k < trackPx.row / 2; k++) {
          expect(better.has(at(wide, c, middle(row) - 1 - k) ?? 0)).toBe(false);
          expect(worse.has(at(wide, c, middle(row) + k) ?? 0)).toBe(false);
          if (worse.has(at(wide, c, middle(row) - 1 - k) ?? 0)) seen++;
        }
      }
    }
    expect(seen).toBeGreaterThan(1000);
  });
});

describe('overlay and ruler', () => {
  const t = tracks(1000, 300, 2);
  const view = { start: 0, span: 40 };

  test('the selection goes through ruler, potential and matrix and carries its number', () => {
    const pen = new RecordingPen();
    const canvas = overlay(view, 10, 1000, 4, 0).selection;
    drawSelection(pen, sceneOf(ten(), view), t, 4, canvas ?? { left: 0, width: 0 }, namedPalette);
    const rects = pen.calls.filter((c) => (c.name === 'fillRect' || c.name === 'strokeRect') && ['focus', 'select'].includes(c.color));
    for (const band of [t.ruler, t.potential, t.matrix]) {
      expect(rects.some((c) => Number(c.args[1]) < band.top + band.height && Number(c.args[1]) + Number(c.args[3]) > band.top)).toBe(true);
    }
    // Everything lies on the narrow canvas.
    for (const c of rects) {
      expect(Number(c.args[0])).toBeGreaterThanOrEqual(canvas?.left ?? Number.NaN);
      expect(Number(c.args[0]) + Number(c.args[2])).toBeLessThanOrEqual((canvas?.left ?? Number.NaN) + (canvas?.width ?? 0));
    }
    expect(pen.calls.find((c) => c.name === 'fillText')?.args[0]).toBe('4');
    expect(pen.pathIn('incomparable')).toEqual(expected.incomparable.calls);
  });

  test('nothing selected and nothing loaded show nothing', () => {
    expect(overlay(view, 10, 1000, 0, 0)).toEqual({ window: { left: 0, width: 1000 }, caret: null, selection: null, hovered: null });
    expect(overlay(view, 0, 1000, 0, 0)).toEqual({ window: null, caret: null, selection: null, hovered: null });
    expect(overlay({ start: 500, span: 100 }, 1000, 1000, 3, 3).selection).toBeNull();
  });

  test('window, caret and pointer stand where their transitions are', () => {
    const over = overlay({ start: 500, span: 100 }, 1000, 1000, 551, 560);
    expect(over.window).toEqual({ left: 500, width: 100 });
    expect(over.caret).toEqual({ left: 550, width: 2 });
    expect(over.hovered).toEqual({ left: 590, width: 10 });
    expect((over.selection?.left ?? 0) + (over.selection?.width ?? 0) / 2).toBeCloseTo(505, 0);
  });

  test('the ruler shows round numbers inside the window only', () => {
    const pen = new RecordingPen();
    drawRuler(pen, sceneOf(fakeRun(240), { start: 100, span: 100 }), t, namedPalette);
    expect(pen.calls.filter((c) => c.name === 'fillText').map((c) => c.args[0])).toEqual([
      '110',
      '120',
      '130',
      '140',
      '150',
      '160',
      '170',
      '180',
      '190',
    ]);
  });
});
