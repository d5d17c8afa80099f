import type { ReactNode } from 'react';
import styles from './Chip.module.css';

/** A fact in a few words. */
export function Chip({
  tone = 'plain',
  title,
  children,
}: {
  tone?: 'plain' | 'live' | 'good' | 'warn' | 'dashed';
  title?: string;
  children: ReactNode;
}) {
  return (
    <span className={[styles['chip'], styles[tone]].join(' ')} title={title}>
      {tone === 'live' ? <span className={styles['pulse']} aria-hidden="true" /> : null}
      {children}
    </span>
  );
}
