import styles from './MiddleEllipsis.module.css';

const tailLength = 10;

/** A long name that loses its middle, not its end: the full text on hover and in the copy. */
export function MiddleEllipsis({ text, tail = tailLength }: { text: string; tail?: number }) {
  const cut = Math.max(0, text.length - tail);
  return (
    <span className={styles['whole']} title={text}>
      <span className={styles['head']}>{text.slice(0, cut)}</span>
      <span className={styles['tail']}>{text.slice(cut)}</span>
    </span>
  );
}
