import type { TaskInfo } from '#shared/contract/task.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { TamperEvident } from '#renderer/widgets/TamperEvident.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import type { Proposer } from './form.ts';
import styles from './new-run.module.css';

/** What was found in the task folder; `info` is undefined while it is read. */
export function TaskSummary({ info, proposer }: { info: TaskInfo | undefined; proposer: Proposer }) {
  const { t, f } = useText();
  if (!info) return <output className={styles['summary']}>{t.checking}</output>;
  const tamper = isTamperEvidentOnly(info.contract);
  return (
    <div className={styles['summary']} aria-live="polite">
      <p className={styles['taskTitle']}>
        <Foreign text={info.title} />
      </p>
      <p>{t.taskFacts(info.contract.obligations.length, info.seedFiles, f.bytes(info.seedBytes))}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must be able to reach it */}
      <ul className={styles['obligations']} tabIndex={0}>
        {info.contract.obligations.map((obligation) => (
          <li key={obligation.key}>
            <code>
              <Foreign text={obligation.key} />
            </code>{' '}
            <Foreign text={obligation.title} /> {tamper ? <TamperEvident /> : null}
          </li>
        ))}
      </ul>
      {proposer !== 'search' ? null : info.operators.length === 0 ? (
        <p className={styles['wrong']}>{t.taskNoOperators}</p>
      ) : (
        <p>
          {t.taskOperators}:{' '}
          <code>
            <Foreign text={info.operators.join(', ')} />
          </code>
        </p>
      )}
    </div>
  );
}
