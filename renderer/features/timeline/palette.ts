// The timeline's colours, read from the custom properties of tokens.css: once per theme, never per frame.
import { outcomes } from '#shared/domain/transition.ts';
import { outcomeToken } from './marks.ts';

/** A colour for the canvas (`css`) and for pixels (`rgba`, packed as 0xAABBGGRR: the byte order of ImageData on every machine we run on). */
export type Ink = { readonly css: string; readonly rgba: number };

export type Palette = {
  readonly panel: Ink;
  readonly ink: Ink;
  readonly faint: Ink;
  readonly line: Ink;
  readonly lineStrong: Ink;
  readonly focus: Ink;
  /** Translucent. */
  readonly select: Ink;
  /** Per outcome code. */
  readonly outcome: readonly Ink[];
  /** The same at less than half strength over the panel, for the minimap's crowd of rejections. */
  readonly soft: readonly Ink[];
  readonly better: readonly [weak: Ink, strong: Ink];
  readonly worse: readonly [weak: Ink, strong: Ink];
  readonly font: string;
};

/** Packs channels 0..255. */
export const packRgba = (r: number, g: number, b: number, a = 255): number => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** `over` seen through `share` (0..1) of its strength on an opaque ground. */
function mix(over: number, ground: number, share: number): number {
  const channel = (shift: number) => Math.round(((over >>> shift) & 255) * share + ((ground >>> shift) & 255) * (1 - share));
  return packRgba(channel(0), channel(8), channel(16));
}

const cssOf = (rgba: number): string => `rgb(${rgba & 255} ${(rgba >>> 8) & 255} ${(rgba >>> 16) & 255})`;

/** Reads the palette that applies to an element. Any CSS colour may stand in a token: the canvas itself resolves it. */
export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const probe = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  if (!probe) throw new Error('this browser offers no 2D canvas, the timeline cannot be drawn');
  const ink = (token: string): Ink => {
    const css = style.getPropertyValue(token).trim();
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = '#000';
    probe.fillStyle = css;
    probe.fillRect(0, 0, 1, 1);
    const [r = 0, g = 0, b = 0, a = 255] = probe.getImageData(0, 0, 1, 1).data;
    return { css, rgba: packRgba(r, g, b, a) };
  };
  const panel = ink('--panel');
  const outcome = outcomes.map((o) => ink(outcomeToken(o)));
  const soft = outcome.map((o) => {
    const rgba = mix(o.rgba, panel.rgba, 0.5);
    return { css: cssOf(rgba), rgba };
  });
  return {
    panel,
    ink: ink('--ink'),
    faint: ink('--ink-3'),
    line: ink('--line'),
    lineStrong: ink('--line-strong'),
    focus: ink('--focus'),
    select: ink('--select'),
    outcome,
    soft,
    better: [ink('--better-2'), ink('--better-3')],
    worse: [ink('--worse-2'), ink('--worse-3')],
    font: style.getPropertyValue('--font-ui').trim() || 'sans-serif',
  };
}
