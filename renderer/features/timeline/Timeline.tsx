import {
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type PointerEvent as ReactPointerEvent,
  type Ref,
} from 'react';
import { useText } from '#renderer/i18n/use-text.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import {
  hitTest,
  leastHeight,
  minimapView,
  naturalHeight,
  potentialTicks,
  potentialY,
  rowsSeen,
  scrollToRow,
  trackPx,
  tracks,
  transitionAt,
  type Hit,
  type PotentialScale,
} from './layout.ts';
import { Labels } from './Labels.tsx';
import { rowValues } from './row-values.ts';
import { readPalette } from './palette.ts';
import { Readout, type Pointed } from './Readout.tsx';
import { Surface, type Axis, type SurfaceParts } from './surface.ts';
import styles from './Timeline.module.css';
import type { View } from './viewport.ts';

/** What the run screen's keys do to the timeline. */
export type TimelineHandle = {
  /** `factor` < 1 zooms in, around the selection when it is seen, else around the middle. */
  zoom(factor: number): void;
  /** By a share of the window: 0.5 moves half a window to the right. */
  pan(share: number): void;
  /** Shows the whole run. */
  fit(): void;
};

export type TimelineProps = {
  /** A snapshot: another object whenever something changed. */
  readonly data: RunData;
  /** Selected transition; 0 = none. */
  readonly selected: number;
  /** Index of the obligation in focus; -1 = none. */
  readonly focusedObligation: number;
  /** Codes of outcomes that are not shown. */
  readonly hidden: ReadonlySet<number>;
  readonly live: boolean;
  /** A candidate could have forged the verdicts; the names of the obligations say so. */
  readonly tamperEvidentOnly?: boolean;
  readonly onSelect: (n: number) => void;
  readonly onFocusObligation: (i: number) => void;
  readonly ref?: Ref<TimelineHandle>;
};

type Drag =
  | { readonly kind: 'scrub' }
  | { readonly kind: 'pan' | 'window' | 'left' | 'right'; readonly x: number; readonly view: View; readonly per: number };

/** One notch of a common wheel is 100 px. */
const zoomPerPx = 1.0022;
const changesShown = 3;

/**
 * The run as one picture: minimap, potential staircase and obligation matrix on a common axis of transitions. A click or drag selects; the wheel
 * zooms at the pointer, with shift it pans; shift-drag pans; the window of the minimap is dragged and resized. Keys are the run screen's.
 */
export function Timeline({
  data,
  selected,
  focusedObligation,
  hidden,
  live,
  tamperEvidentOnly = false,
  onSelect,
  onFocusObligation,
  ref,
}: TimelineProps) {
  const { t } = useText();
  const root = useRef<HTMLDivElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const mini = useRef<HTMLCanvasElement>(null);
  const main = useRef<HTMLCanvasElement>(null);
  const selection = useRef<HTMLCanvasElement>(null);
  const view = useRef<HTMLDivElement>(null);
  const caret = useRef<HTMLDivElement>(null);
  const hovered = useRef<HTMLDivElement>(null);
  const surface = useRef<Surface | null>(null);
  const drag = useRef<Drag | null>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [scroll, setScroll] = useState(0);
  const [axis, setAxis] = useState<Axis>({ resolution: 1, scale: null });
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const m = data.m;
  const layout = useMemo(() => tracks(size.width, size.height, m), [size, m]);

  useLayoutEffect(() => {
    const parts = {
      mini: mini.current,
      main: main.current,
      selection: selection.current,
      window: view.current,
      caret: caret.current,
      hovered: hovered.current,
    };
    if (!root.current || !plot.current || !isWhole(parts)) return undefined;
    const element = plot.current;
    const made = new Surface(parts, m, readPalette(root.current), () => setAxis((old) => (sameAxis(old, made.axis) ? old : made.axis)));
    surface.current = made;
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      made.resize(width, height, devicePixelRatio);
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    // A window that moves to another screen changes the ratio without changing the size.
    const ratio = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    ratio.addEventListener('change', measure);
    const repaint = () => {
      if (root.current) made.setPalette(readPalette(root.current));
    };
    const themed = new MutationObserver(repaint);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class', 'style'] });
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', repaint);
    document.fonts.addEventListener('loadingdone', repaint);
    return () => {
      resized.disconnect();
      themed.disconnect();
      ratio.removeEventListener('change', measure);
      system.removeEventListener('change', repaint);
      document.fonts.removeEventListener('loadingdone', repaint);
      made.dispose();
      surface.current = null;
    };
  }, [m]);

  // Before paint: what a key press changed is in the next frame.
  useLayoutEffect(() => {
    surface.current?.update({ data, selected, hidden, live, scroll });
  }, [data, selected, hidden, live, scroll]);

  // The obligation in focus is brought into sight when it, or the room for rows, changes; otherwise the reader scrolls.
  const reveal = `${focusedObligation} ${layout.rows.height}`;
  const [revealed, setRevealed] = useState('');
  if (reveal !== revealed) {
    setRevealed(reveal);
    if (focusedObligation >= 0) setScroll(scrollToRow(focusedObligation, scroll, m, layout.rows.height));
  }

  useImperativeHandle(
    ref,
    (): TimelineHandle => ({
      zoom(factor) {
        const view = surface.current?.view;
        if (!view) return;
        const anchor = (selected - 0.5 - view.start) / view.span;
        surface.current?.zoom(factor, anchor >= 0 && anchor <= 1 ? anchor : 0.5);
      },
      pan(share) {
        surface.current?.pan((surface.current?.view.span ?? 0) * share);
      },
      fit() {
        surface.current?.fit();
      },
    }),
    [selected],
  );

  useEffect(() => {
    const element = plot.current;
    if (!element) return undefined;
    // React listens passively to wheels; zooming must keep the page where it is.
    const onWheel = (event: WheelEvent) => {
      const made = surface.current;
      if (!made || made.columnPx <= 0) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      const sideways = event.shiftKey ? event.deltaY + event.deltaX : event.deltaX;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) made.pan((sideways * unit) / made.columnPx);
      else
        made.zoom(
          zoomPerPx ** (event.deltaY * unit * (event.ctrlKey ? 4 : 1)),
          (event.clientX - element.getBoundingClientRect().left) / Math.max(1, element.clientWidth),
        );
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, []);

  const touch = (event: ReactPointerEvent): { x: number; y: number; hit: Hit | null } => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const view = surface.current?.view ?? { start: 0, span: 0 };
    return { x, y, hit: hitTest(x, y, layout, view, data.count, m, scroll) };
  };
  const select = (n: number) => {
    if (n > 0 && n !== selected) onSelect(n);
  };

  const onPointerDown = (event: ReactPointerEvent<HTMLDivElement>) => {
    const made = surface.current;
    const { x, hit } = touch(event);
    if (!made || !hit || (event.button !== 0 && event.button !== 1)) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setPointed(null);
    made.hover(0);
    const view = made.view;
    if (hit.on === 'minimap') {
      if (hit.part === 'outside') made.centre(hit.n);
      drag.current = {
        kind: hit.part === 'outside' ? 'window' : hit.part,
        x,
        view: made.view,
        per: minimapView(view, data.count).span / Math.max(1, layout.width),
      };
      return;
    }
    if (event.shiftKey || event.button === 1) {
      drag.current = { kind: 'pan', x, view, per: 1 / made.columnPx };
      return;
    }
    drag.current = { kind: 'scrub' };
    select(hit.n);
    if (hit.on === 'matrix' && hit.obligation !== focusedObligation) onFocusObligation(hit.obligation);
  };

  const onPointerMove = (event: ReactPointerEvent<HTMLDivElement>) => {
    const made = surface.current;
    if (!made) return;
    const { x, y, hit } = touch(event);
    const held = drag.current;
    if (!held) {
      event.currentTarget.style.cursor = cursorOf(hit, event.shiftKey);
      const n = hit && hit.on !== 'minimap' ? hit.n : 0;
      made.hover(n);
      setPointed(
        n > 0 && hit
          ? {
              n,
              obligation: hit.on === 'matrix' ? hit.obligation : -1,
              x,
              y: Math.min(Math.max(layout.ruler.top + 2, y - 48), layout.height - 64),
              resolution: made.resolution,
            }
          : null,
      );
      return;
    }
    if (held.kind === 'scrub') {
      select(transitionAt(Math.min(Math.max(0, x), layout.width), made.view, layout.width, data.count));
      return;
    }
    const by = (x - held.x) * held.per;
    const { start, span } = held.view;
    const least = layout.width / trackPx.potential;
    if (held.kind === 'pan') made.setView({ start: start - by, span });
    else if (held.kind === 'window') made.setView({ start: start + by, span });
    else if (held.kind === 'left') made.setView({ start: Math.min(start + by, start + span - least), span: Math.max(least, span - by) });
    else made.setView({ start, span: Math.max(least, span + by) });
  };
  const release = () => {
    drag.current = null;
  };
  const leave = () => {
    surface.current?.hover(0);
    setPointed(null);
  };

  const onScroll = useCallback((to: number) => setScroll(to), []);
  const headSeq = data.chainLength - 1;
  const values = useMemo(() => rowValues(data, selected, headSeq >= 0 ? data.chainRank(headSeq) : null), [data, selected, headSeq]);
  const seen = rowsSeen(layout, scroll, m);

  return (
    <div ref={root} className={styles['timeline']} style={{ minHeight: leastHeight(m) }}>
      <div className={styles['labels']}>
        <div className={styles['rule']} style={{ top: layout.minimap.height - 1 }} />
        <div className={styles['axis']} style={{ top: layout.ruler.top, height: layout.matrix.top - layout.ruler.top }}>
          <div className={styles['axisTitle']}>
            <span>{t.timelinePotential}</span>
            {axis.resolution > 1 && <span className={styles['merged']}>{t.timelineMerged(axis.resolution)}</span>}
          </div>
          {axis.scale && <Ticks scale={axis.scale} top={layout.ruler.top} />}
          {seen && <span className={styles['seen']}>{t.timelineRows(seen.first, seen.last, m)}</span>}
        </div>
        <Labels
          obligations={data.obligations}
          values={values}
          focused={focusedObligation}
          tamperEvidentOnly={tamperEvidentOnly}
          band={layout.rows}
          scroll={scroll}
          onScroll={onScroll}
          onFocus={onFocusObligation}
        />
      </div>
      <div
        ref={plot}
        className={styles['plot']}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an input of type range cannot hold canvases
        role="slider"
        tabIndex={0}
        aria-label={t.timeline}
        aria-orientation="horizontal"
        aria-valuemin={data.count > 0 ? 1 : 0}
        aria-valuemax={data.count}
        aria-valuenow={selected}
        aria-valuetext={valueText(data, selected, t)}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={release}
        onPointerCancel={release}
        onPointerLeave={leave}
        onDoubleClick={(event) => {
          if (event.clientY - event.currentTarget.getBoundingClientRect().top < layout.minimap.height) surface.current?.fit();
        }}
      >
        <div style={{ height: naturalHeight(m) }} />
        <div className={styles['rule']} style={{ top: layout.minimap.height - 1 }} />
        {focusedObligation >= 0 && rowSeen(focusedObligation, scroll, layout.rows.height) && (
          <div className={styles['rowTint']} style={{ top: layout.rows.top + focusedObligation * trackPx.row - scroll }} />
        )}
        <canvas ref={main} />
        <canvas ref={mini} />
        <div ref={view} className={styles['window']} hidden />
        <div ref={caret} className={styles['caret']} hidden />
        <div ref={hovered} className={styles['hovered']} hidden />
        <canvas ref={selection} hidden />
        {pointed && <Readout data={data} at={pointed} width={layout.width} />}
      </div>
    </div>
  );
}

/** Numbers of the potential axis, exact on hover. */
function Ticks({ scale, top }: { scale: PotentialScale; top: number }) {
  const { f } = useText();
  return potentialTicks(scale).map((v) => (
    <span key={v} className={styles['tick']} style={{ top: potentialY(v, scale) - top }} title={f.int(v)}>
      {v < 10_000 ? f.int(v) : f.compact(v)}
    </span>
  ));
}

const sameAxis = (a: Axis, b: Axis): boolean =>
  a.resolution === b.resolution &&
  a.scale?.low === b.scale?.low &&
  a.scale?.top === b.scale?.top &&
  a.scale?.from === b.scale?.from &&
  a.scale?.y0 === b.scale?.y0 &&
  a.scale?.y1 === b.scale?.y1;

/** Whether React has made every part. */
const isWhole = (parts: { readonly [K in keyof SurfaceParts]: SurfaceParts[K] | null }): parts is SurfaceParts =>
  Object.values(parts).every((part) => part !== null);

const rowSeen = (i: number, scroll: number, height: number): boolean =>
  i * trackPx.row - scroll > -trackPx.row / 2 && i * trackPx.row - scroll <= height - trackPx.row / 2;

function cursorOf(hit: Hit | null, shift: boolean): string {
  if (!hit) return '';
  if (hit.on !== 'minimap') return shift ? 'grab' : 'default';
  return hit.part === 'left' || hit.part === 'right' ? 'ew-resize' : hit.part === 'window' ? 'grab' : 'pointer';
}

/** "182 of 240, incomparable, touching ends 2 to 1, empty input 0 to 1". */
function valueText(data: RunData, n: number, t: ReturnType<typeof useText>['t']): string {
  if (n < 1) return t.none;
  const outcome = outcomes[data.outcome(n)];
  const rank = data.rank(n);
  const base = data.baseRank(n);
  const changes: string[] = [];
  for (const [i, after] of rank?.entries() ?? []) {
    const before = base[i] ?? 0;
    if (before !== after && changes.length < changesShown)
      changes.push(t.announceChange(visibleText(data.obligations[i]?.key ?? ''), before, after));
  }
  return [t.ofTotal(n, data.count), t.announce(outcome === undefined ? t.loading : t.outcome[outcome], changes.join(', '), '')].join(', ');
}
