import { outcomes } from '#shared/domain/transition.ts';
import type { TransitionDetail } from '#shared/contract/run.ts';
import type { Dictionary } from '#renderer/i18n/dictionary.ts';
import styles from './panes.module.css';

/** The files that differ from the certified base. */
export function DiffPane({ detail, t }: { detail: TransitionDetail; t: Dictionary }) {
  const { changes, transition } = detail;
  if (!changes) return <div className={styles['pane']}>{t.noTree}</div>;
  return (
    <div className={styles['pane']} data-outcome={outcomes.indexOf(transition.outcome)}>
      <p className={styles['quiet']}>{t.differsFromBase(changes.length)}</p>
      <ul>
        {changes.map((change) => (
          <li key={change.path}>
            {change.path} +{change.added} -{change.removed}
          </li>
        ))}
      </ul>
    </div>
  );
}
