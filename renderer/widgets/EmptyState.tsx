import type { ReactNode } from 'react';
import { Foreign } from './Foreign.tsx';
import styles from './EmptyState.module.css';

type Props = {
  readonly title: string;
  readonly text: string;
  /** What was said elsewhere about why it is so, as it was said. */
  readonly reason?: string | null;
  /** What can be done next. */
  readonly children?: ReactNode;
};

/** A screen that has nothing to show: what is the case, why, and what to do next. */
export function EmptyState({ title, text, reason = null, children }: Props) {
  return (
    <section className={styles['empty']} role="alert">
      <h2 className={styles['title']}>{title}</h2>
      <p className={styles['text']}>{text}</p>
      {reason === null ? null : (
        <p className={styles['reason']}>
          <Foreign text={reason} />
        </p>
      )}
      {children}
    </section>
  );
}
