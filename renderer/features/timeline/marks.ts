// One geometry for every outcome, used by the canvas and by the SVG in legends and lists, so that a mark means the same everywhere.
// Shapes differ without colour (design: look): filled or hollow, closed or open, number of strokes.
import { outcomes, type Outcome } from '#shared/domain/transition.ts';

/** In units of the mark's radius; y grows downwards. */
export type Subpath =
  | { readonly kind: 'line'; readonly points: readonly (readonly [x: number, y: number])[]; readonly closed: boolean }
  | { readonly kind: 'circle'; readonly r: number };

export type MarkShape = {
  readonly fill: boolean;
  /** A ring of separate strokes instead of one closed line. */
  readonly dashed: boolean;
  readonly subpaths: readonly Subpath[];
};

const line = (...points: (readonly [number, number])[]): Subpath => ({ kind: 'line', points, closed: false });
const shape = (...points: (readonly [number, number])[]): Subpath => ({ kind: 'line', points, closed: true });
const hollow = (...subpaths: Subpath[]): MarkShape => ({ fill: false, dashed: false, subpaths });

const wave = Array.from({ length: 9 }, (_, i): readonly [number, number] => [-1 + i / 4, -0.55 * Math.sin((i / 8) * 2 * Math.PI)]);

const shapes: Readonly<Record<Outcome, MarkShape>> = {
  commit: { fill: true, dashed: false, subpaths: [{ kind: 'circle', r: 1 }] },
  tie: hollow(line([-0.9, 0], [0.9, 0])),
  regression: hollow(shape([-1, -0.8], [1, -0.8], [0, 1])),
  incomparable: hollow(shape([0, -1.1], [1.1, 0], [0, 1.1], [-1.1, 0])),
  not_selected: hollow(shape([-1, 0.8], [1, 0.8], [0, -1])),
  duplicate: hollow(line([-0.9, -0.4], [0.9, -0.4]), line([-0.9, 0.45], [0.9, 0.45])),
  unstable: hollow(line(...wave)),
  invalid: hollow(line([-0.75, -0.75], [0.75, 0.75]), line([0.75, -0.75], [-0.75, 0.75])),
  no_verdict: { fill: false, dashed: true, subpaths: [{ kind: 'circle', r: 0.95 }] },
  aborted: hollow(shape([-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8])),
};

/** Outcomes in the order of their codes: `outcomeNames[data.outcome(n)]`. */
export const outcomeNames: readonly Outcome[] = outcomes;

/** Code in the columns for a name. */
export const outcomeCode = (outcome: Outcome): number => outcomes.indexOf(outcome);

/** The shape of an outcome. */
export const markShape = (outcome: Outcome): MarkShape => shapes[outcome];

/** Name of the custom property that holds the colour of an outcome (tokens.css). */
export const outcomeToken = (outcome: Outcome): string => `--${outcome.replaceAll('_', '-')}`;

/** Lengths of stroke and gap around a dashed ring of this radius: six strokes, whatever the size. */
export function ringDash(radius: number): [number, number] {
  const part = (2 * Math.PI * radius) / 6;
  return [part * 0.55, part * 0.45];
}

/** The SVG path of a shape around (cx, cy). */
export function markPath(mark: MarkShape, cx: number, cy: number, radius: number): string {
  const f = (v: number) => Number(v.toFixed(2)).toString();
  return mark.subpaths
    .map((part) => {
      if (part.kind === 'circle') {
        const r = part.r * radius;
        return `M${f(cx + r)} ${f(cy)}A${f(r)} ${f(r)} 0 1 1 ${f(cx - r)} ${f(cy)}A${f(r)} ${f(r)} 0 1 1 ${f(cx + r)} ${f(cy)}Z`;
      }
      const points = part.points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${f(cx + x * radius)} ${f(cy + y * radius)}`);
      return points.join('') + (part.closed ? 'Z' : '');
    })
    .join('');
}
