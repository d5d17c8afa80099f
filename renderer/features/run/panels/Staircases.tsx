import type { Step } from '#renderer/state/comparison.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import styles from './compare.module.css';

const width = 600;
const height = 72;
const pad = 4;

type Props = {
  readonly stairs: readonly [a: readonly Step[], b: readonly Step[]];
  readonly lengths: readonly [a: number, b: number];
  /** Index of the first difference. */
  readonly at: number | null;
};

/** Both heads fall from the common bundle; a line stands where the runs begin to differ. The list below says the same in numbers. */
export function Staircases({ stairs, lengths, at }: Props) {
  const { t, f } = useText();
  const longest = Math.max(1, ...lengths);
  const top = Math.max(1, ...stairs.flatMap((side) => side.map((step) => step.potential)));
  const x = (index: number) => (index / longest) * width;
  const y = (potential: number) => height - pad - (potential / top) * (height - 2 * pad);
  const line = (side: readonly Step[], length: number) =>
    side.map((step, i) => `${i === 0 ? 'M' : `H${x(step.index)} V`}${i === 0 ? `${x(step.index)} ` : ''}${y(step.potential)}`).join(' ') +
    ` H${x(length)}`;
  const [a, b] = stairs;
  return (
    <figure className={styles['chart']}>
      <figcaption>{t.compareChart}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {at === null ? null : <line className={styles['at']} x1={x(at)} x2={x(at)} y1={0} y2={height} />}
        <path className={styles['other']} d={line(b, lengths[1])} />
        <path className={styles['own']} d={line(a, lengths[0])} />
      </svg>
      <p className={styles['ends']}>
        <span data-side="own">
          {t.compareThis} {f.int(a.at(-1)?.potential ?? 0)}
        </span>
        <span data-side="other">
          {t.compareOther} {f.int(b.at(-1)?.potential ?? 0)}
        </span>
      </p>
    </figure>
  );
}
