import type { RunStatus, StopReason } from '#shared/domain/transition.ts';
import { endedAs } from '#shared/domain/ended-as.ts';
import styles from './StatusMark.module.css';

/** A shape for how a run stands: ring with a core = running, disc = nothing left to fix, square = stopped, broken ring = cut off, ring with a caret = a person's turn, cross = never began or could not go on. */
export function StatusMark({ status, stop }: { status: RunStatus; stop: StopReason | null }) {
  const kind = status === 'stopped' && endedAs(stop) !== 'stopped' ? endedAs(stop) : status;
  return (
    <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" className={styles['mark']} data-kind={kind}>
      {kind === 'running' ? (
        <>
          <circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" strokeWidth="1.4" />
          <circle cx="6" cy="6" r="2" fill="currentColor" className={styles['core']} />
        </>
      ) : kind === 'done' ? (
        <circle cx="6" cy="6" r="4.6" fill="currentColor" />
      ) : kind === 'stopped' ? (
        <rect x="2.2" y="2.2" width="7.6" height="7.6" rx="1" fill="none" stroke="currentColor" strokeWidth="1.4" />
      ) : kind === 'waiting' ? (
        <>
          <circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" strokeWidth="1.4" />
          <path d="M6 3.8v4.4" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" />
        </>
      ) : kind === 'interrupted' ? (
        <circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" strokeWidth="1.4" strokeDasharray="3.2 2.6" />
      ) : (
        <path d="m2.5 2.5 7 7m0-7-7 7" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" />
      )}
    </svg>
  );
}
