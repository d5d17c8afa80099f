import type { Outcome } from '#shared/domain/transition.ts';
import { markPath, markShape, outcomeToken, ringDash } from './marks.ts';

/**
 * The mark of an outcome for legends and lists, in the outcome's own colour. Decorative unless `label` is given: put the name beside it.
 * `size` is the edge of the square in CSS px.
 */
export function OutcomeMark({ outcome, size = 12, label }: { outcome: Outcome; size?: number; label?: string }) {
  const mark = markShape(outcome);
  const radius = size * 0.36;
  const ring = mark.subpaths[0];
  const dash = mark.dashed && ring?.kind === 'circle' ? ringDash(radius * ring.r).join(' ') : undefined;
  const color = `var(${outcomeToken(outcome)})`;
  return (
    <svg
      width={size}
      height={size}
      viewBox={`0 0 ${size} ${size}`}
      style={{ flex: 'none', display: 'block' }}
      data-outcome={outcome}
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <path
        d={markPath(mark, size / 2, size / 2, radius)}
        fill={mark.fill ? color : 'none'}
        stroke={mark.fill ? 'none' : color}
        strokeWidth={1.4}
        strokeLinejoin="round"
        strokeDasharray={dash}
      />
    </svg>
  );
}
