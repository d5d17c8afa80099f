// A drawing context that writes down what it is told, so that a test can say which shape was drawn where and in which colour.
import type { Pen } from '#renderer/features/timeline/draw.ts';
import { packRgba, type Ink, type Palette } from '#renderer/features/timeline/palette.ts';
import { outcomes } from '#shared/domain/transition.ts';

export type Call = { readonly name: string; readonly args: readonly unknown[]; readonly color: string };

export class RecordingPen implements Pen {
  readonly calls: Call[] = [];
  fillStyle: string = '';
  strokeStyle: string = '';
  lineWidth = 1;
  lineJoin: CanvasLineJoin = 'miter';
  globalAlpha = 1;
  font = '';
  textAlign: CanvasTextAlign = 'start';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  beginPath() {
    this.#note('beginPath');
  }
  moveTo(...args: [number, number]) {
    this.#note('moveTo', args);
  }
  lineTo(...args: [number, number]) {
    this.#note('lineTo', args);
  }
  arc(...args: [number, number, number, number, number]) {
    this.#note('arc', args);
  }
  closePath() {
    this.#note('closePath');
  }
  fill() {
    this.#note('fill', [], this.fillStyle);
  }
  stroke() {
    this.#note('stroke', [], this.strokeStyle);
  }
  fillRect(...args: [number, number, number, number]) {
    this.#note('fillRect', args, this.fillStyle);
  }
  strokeRect(...args: [number, number, number, number]) {
    this.#note('strokeRect', args, this.strokeStyle);
  }
  clearRect(...args: [number, number, number, number]) {
    this.#note('clearRect', args);
  }
  setLineDash(dash: number[]) {
    this.#note('setLineDash', [dash.length]);
  }
  fillText(text: string, x: number, y: number) {
    this.#note('fillText', [text, x, y], this.fillStyle);
  }
  measureText(text: string): TextMetrics {
    const width = text.length * 6;
    return {
      width,
      actualBoundingBoxAscent: 8,
      actualBoundingBoxDescent: 2,
      actualBoundingBoxLeft: 0,
      actualBoundingBoxRight: width,
      fontBoundingBoxAscent: 8,
      fontBoundingBoxDescent: 2,
      emHeightAscent: 8,
      emHeightDescent: 2,
      alphabeticBaseline: 0,
      hangingBaseline: 0,
      ideographicBaseline: 0,
    };
  }
  #note(name: string, args: readonly unknown[] = [], color = '') {
    this.calls.push({ name, args, color });
  }
  /** Names of the calls between the last beginPath and the fill or stroke in this colour. */
  pathIn(color: string): string[] {
    const end = this.calls.findLastIndex((c) => (c.name === 'fill' || c.name === 'stroke') && c.color === color);
    const begin = this.calls.findLastIndex((c, i) => i < end && c.name === 'beginPath');
    return this.calls.slice(begin + 1, end + 1).map((c) => c.name);
  }
  /** The calls themselves, as pathIn. */
  callsIn(color: string): Call[] {
    const end = this.calls.findLastIndex((c) => (c.name === 'fill' || c.name === 'stroke') && c.color === color);
    const begin = this.calls.findLastIndex((c, i) => i < end && c.name === 'beginPath');
    return this.calls.slice(begin + 1, end + 1);
  }
}

let next = 1;
const ink = (css: string): Ink => ({ css, rgba: packRgba(next++, 10, 20) });

/** A palette in which every colour is its own name. */
export const namedPalette: Palette = {
  panel: ink('panel'),
  ink: ink('ink'),
  faint: ink('faint'),
  line: ink('line'),
  lineStrong: ink('lineStrong'),
  focus: ink('focus'),
  select: ink('select'),
  outcome: outcomes.map((o) => ink(o)),
  soft: outcomes.map((o) => ink(`soft ${o}`)),
  better: [ink('better'), ink('much better')],
  worse: [ink('worse'), ink('much worse')],
  font: 'sans-serif',
};
