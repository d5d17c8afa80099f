import styles from './Bar.module.css';

/** How much of a limit is used. The exact numbers stand in `title`. */
export function Bar({ label, text, used, max, title }: { label: string; text: string; used: number; max: number; title: string }) {
  const share = max === 0 ? 0 : Math.min(1, used / max);
  return (
    <div className={styles['bar']} title={title}>
      <div className={styles['label']}>
        <span>{label}</span> <span className={styles['text']}>{text}</span>
      </div>
      <div
        className={styles['track']}
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the element meter cannot be drawn as a hairline in every engine
        role="meter"
        aria-label={label}
        aria-valuenow={used}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuetext={title}
      >
        <div className={styles['fill']} style={{ inlineSize: `${share * 100}%` }} />
      </div>
    </div>
  );
}
