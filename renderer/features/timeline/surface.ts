// What one timeline shows and which part of it is out of date. React tells it what changed; it redraws what this concerns and nothing else:
// `mini` (the whole run), `main` (ruler, potential, matrix of the window), and over them the selection: a narrow canvas and a few boxes that are
// moved. A step that stays inside the window touches the selection alone.
import type { RunData } from '#renderer/state/run-data.ts';
import { Chain } from './chain.ts';
import { drawPotential, drawRuler, drawSelection, sceneScale } from './draw.ts';
import { columnPx, merging, overlay, tracks, visible, selectionCanvasPx, type PotentialScale, type Span, type Tracks } from './layout.ts';
import type { Palette } from './palette.ts';
import { paintMatrix, paintMinimap, type Pixels, type Scene } from './raster.ts';
import { Summary } from './summary.ts';
import {
  centreOn,
  clampView,
  endedView,
  fitView,
  growView,
  initialView,
  isFit,
  panView,
  revealView,
  zoomView,
  type View,
} from './viewport.ts';

export type SurfaceInput = {
  readonly data: RunData;
  readonly selected: number;
  readonly hidden: ReadonlySet<number>;
  readonly live: boolean;
  readonly scroll: number;
};

/** `resolution` = transitions that share a column; `scale` = null while the chain is not loaded. */
export type Axis = { readonly resolution: number; readonly scale: PotentialScale | null };

export type SurfaceParts = {
  readonly mini: HTMLCanvasElement;
  readonly main: HTMLCanvasElement;
  readonly selection: HTMLCanvasElement;
  /** Boxes that are moved: window and caret of the minimap, column under the pointer. */
  readonly window: HTMLElement;
  readonly caret: HTMLElement;
  readonly hovered: HTMLElement;
};

type Layer = { readonly canvas: HTMLCanvasElement; readonly pen: CanvasRenderingContext2D };
type Buffer = { readonly image: ImageData; readonly pixels: Pixels };

function layer(canvas: HTMLCanvasElement): Layer {
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('this browser offers no 2D canvas, the timeline cannot be drawn');
  return { canvas, pen };
}

function buffer(width: number, height: number): Buffer {
  const image = new ImageData(Math.max(1, width), Math.max(1, height));
  return { image, pixels: { width: image.width, height: image.height, data: new Uint32Array(image.data.buffer) } };
}

function place(element: HTMLElement, span: Span | null, resize: boolean): void {
  element.hidden = span === null;
  if (!span) return;
  element.style.transform = `translateX(${span.left}px)`;
  if (resize) element.style.width = `${span.width}px`;
}

export class Surface {
  readonly #mini: Layer;
  readonly #main: Layer;
  readonly #selection: Layer;
  readonly #parts: SurfaceParts;
  readonly #obligations: number;
  readonly #moved: () => void;
  #palette: Palette;
  #input: SurfaceInput | null = null;
  #seen = { count: 0, selected: 0, live: false };
  #summary: Summary | null = null;
  #chain: Chain | null = null;
  #view: View = { start: 0, span: 0 };
  #width = 0;
  #height = 0;
  #dpr = 1;
  #hovered = 0;
  #miniBuffer = buffer(1, 1);
  #matrixBuffer = buffer(1, 1);
  readonly #dirty = { mini: false, main: false, overlay: false };
  #frame = 0;

  /** For a run with so many obligations. `moved` is called whenever what the axis says may have changed. */
  constructor(parts: SurfaceParts, obligations: number, palette: Palette, moved: () => void) {
    this.#obligations = obligations;
    this.#parts = parts;
    this.#mini = layer(parts.mini);
    this.#main = layer(parts.main);
    this.#selection = layer(parts.selection);
    this.#palette = palette;
    this.#moved = moved;
  }

  get view(): View {
    return this.#view;
  }
  get tracks(): Tracks {
    return tracks(this.#width, this.#height, this.#obligations);
  }
  /** Transitions that share a column; 1 = each has its own. */
  get resolution(): number {
    return this.#input ? merging(this.#view, this.#width, this.#input.data.count).resolution : 1;
  }
  /** What the axis beside the plot has to say. */
  get axis(): Axis {
    const scale =
      this.#input && this.#chain && this.#chain.length > 0
        ? sceneScale({ chain: this.#chain, view: this.#view, data: this.#input.data }, this.tracks)
        : null;
    return { resolution: this.resolution, scale };
  }
  /** CSS px of one transition. */
  get columnPx(): number {
    return columnPx(this.#view, this.#width);
  }

  /** Takes new input and draws what changed before it returns, so that it is in the very next frame. */
  update(input: SurfaceInput): void {
    const before = this.#input;
    this.#input = input;
    const { data } = input;
    const other = before?.data.run !== data.run;
    if (other || before.hidden !== input.hidden || !this.#summary || !this.#chain) {
      this.#summary = new Summary(data, input.hidden);
      this.#chain = new Chain(data);
      this.#dirty.mini = this.#dirty.main = this.#dirty.overlay = true;
    } else if (before.data !== data) {
      this.#summary.update(data);
      this.#chain.update(data);
      this.#dirty.mini = this.#dirty.main = this.#dirty.overlay = true;
    }
    if (before?.scroll !== input.scroll) this.#dirty.main = true;
    if (before?.selected !== input.selected) this.#dirty.overlay = true;
    this.#follow(input, other);
    this.#seen = { count: data.count, selected: input.selected, live: input.live };
    this.flush();
  }

  #follow({ data, selected, live }: SurfaceInput, other: boolean): void {
    if (this.#width <= 0 || data.count < 1) return;
    const { count } = data;
    const seen = this.#seen;
    let view = this.#view;
    if (other || seen.count === 0 || view.span <= 0) view = initialView(count, this.#width, selected);
    else {
      if (count > seen.count)
        view = growView(view, seen.count, count, this.#width, live && (seen.selected >= seen.count || selected >= count));
      if (selected !== seen.selected) view = revealView(view, selected, count, this.#width);
    }
    this.#show(view);
  }

  /** Size of the plot in CSS px and device pixels per CSS px. */
  resize(width: number, height: number, dpr: number): void {
    if (width === this.#width && height === this.#height && dpr === this.#dpr) return;
    const first = this.#width <= 0;
    const fit = this.#input !== null && isFit(this.#view, this.#input.data.count);
    this.#width = width;
    this.#height = height;
    this.#dpr = dpr;
    const t = this.tracks;
    const px = (v: number) => Math.max(1, Math.round(v * dpr));
    const fitCanvas = ({ canvas, pen }: Layer, top: number, w: number, h: number) => {
      canvas.width = px(w);
      canvas.height = px(h);
      canvas.style.width = `${w}px`;
      canvas.style.height = `${h}px`;
      canvas.style.top = `${top}px`;
      // Every layer is drawn in the coordinates of the whole plot.
      pen.setTransform(dpr, 0, 0, dpr, 0, -top * dpr);
    };
    fitCanvas(this.#mini, 0, width, t.minimap.height);
    fitCanvas(this.#main, t.ruler.top, width, t.height - t.ruler.top);
    fitCanvas(this.#selection, t.ruler.top, selectionCanvasPx, t.height - t.ruler.top);
    this.#parts.hovered.style.top = `${t.potential.top}px`;
    this.#parts.hovered.style.height = `${t.rows.top + t.rows.height - t.potential.top}px`;
    for (const box of [this.#parts.window, this.#parts.caret]) box.style.height = `${t.minimap.height}px`;
    this.#miniBuffer = buffer(px(width), px(t.minimap.height));
    this.#matrixBuffer = buffer(px(width), px(t.matrix.height));
    this.#dirty.mini = this.#dirty.main = this.#dirty.overlay = true;
    if (this.#input && width > 0) {
      const { count } = this.#input.data;
      if (first) this.#follow(this.#input, true);
      else if (count > 0) this.#show(fit ? fitView(count, width) : clampView(this.#view, count, width));
    }
    this.flush();
  }

  setPalette(palette: Palette): void {
    this.#palette = palette;
    this.#dirty.mini = this.#dirty.main = this.#dirty.overlay = true;
    this.flush();
  }

  /** The transition under the pointer; 0 = none. */
  hover(n: number): void {
    if (n === this.#hovered) return;
    this.#hovered = n;
    this.#dirty.overlay = true;
    this.#schedule();
  }

  zoom(factor: number, anchor: number): void {
    this.#change((count) => zoomView(this.#view, factor, anchor, count, this.#width));
  }
  /** By a number of transitions. */
  pan(by: number): void {
    this.#change((count) => panView(this.#view, by, count, this.#width));
  }
  fit(): void {
    this.#change((count) => fitView(count, this.#width));
  }
  centre(n: number): void {
    this.#change((count) => centreOn(this.#view, n, count, this.#width));
  }
  setView(view: View): void {
    this.#change((count) => clampView(view, count, this.#width));
  }

  #change(next: (count: number) => View): void {
    if (!this.#input || this.#input.data.count < 1 || this.#width <= 0) return;
    this.#show(next(this.#input.data.count));
    this.#schedule();
  }

  #show(wanted: View): void {
    const view = this.#input && !this.#input.live ? endedView(wanted, this.#input.data.count) : wanted;
    if (view.start === this.#view.start && view.span === this.#view.span) return;
    this.#view = view;
    this.#dirty.main = this.#dirty.overlay = true;
    if (this.#input) {
      // What is seen first, then the rest for the minimap.
      const { first, last } = visible(view, this.#input.data.count);
      this.#input.data.ensure(
        Math.max(1, Math.floor(first - view.span / 2)),
        Math.min(this.#input.data.count, Math.ceil(last + view.span / 2)),
      );
      this.#input.data.ensure(1, this.#input.data.count);
    }
  }

  #schedule(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.flush();
    });
  }

  /** Draws the layers that are out of date, now. */
  flush(): void {
    if (!this.#input || !this.#summary || !this.#chain || this.#width <= 0) return;
    const t = this.tracks;
    const scene: Scene = {
      data: this.#input.data,
      summary: this.#summary,
      chain: this.#chain,
      view: this.#view,
      width: this.#width,
      dpr: this.#dpr,
      scroll: this.#input.scroll,
      hidden: this.#input.hidden,
    };
    if (this.#dirty.mini) {
      paintMinimap(this.#miniBuffer.pixels, scene, this.#palette);
      this.#mini.pen.putImageData(this.#miniBuffer.image, 0, 0);
    }
    if (this.#dirty.main) {
      const { pen } = this.#main;
      pen.clearRect(0, t.ruler.top, t.width, t.height - t.ruler.top);
      drawRuler(pen, scene, t, this.#palette);
      drawPotential(pen, scene, t, this.#palette);
      paintMatrix(this.#matrixBuffer.pixels, scene, this.#palette);
      pen.putImageData(this.#matrixBuffer.image, 0, Math.round((t.matrix.top - t.ruler.top) * this.#dpr));
    }
    if (this.#dirty.overlay || this.#dirty.main) this.#drawOverlay(scene, t, this.#input.selected);
    if (this.#dirty.main) this.#moved();
    this.#dirty.mini = this.#dirty.main = this.#dirty.overlay = false;
  }

  #drawOverlay(scene: Scene, t: Tracks, selected: number): void {
    const over = overlay(this.#view, scene.data.count, this.#width, selected, this.#hovered);
    place(this.#parts.window, over.window, true);
    place(this.#parts.caret, over.caret, false);
    place(this.#parts.hovered, over.hovered, true);
    place(this.#parts.selection, over.selection, false);
    if (!over.selection) return;
    const { pen } = this.#selection;
    pen.setTransform(this.#dpr, 0, 0, this.#dpr, -over.selection.left * this.#dpr, -t.ruler.top * this.#dpr);
    drawSelection(pen, scene, t, selected, over.selection, this.#palette);
  }

  dispose(): void {
    if (this.#frame !== 0) cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }
}
