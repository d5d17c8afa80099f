import type { TaskInfo } from '#shared/contract/task.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import type { QueryState } from '#renderer/client/query-cache.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { TamperEvident } from '#renderer/widgets/TamperEvident.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import styles from './NewRunPanel.module.css';

/** What was found in the task folder, or what is wrong with it, by file and field. */
export function TaskSummary({ path, task, onRetry }: { path: string; task: QueryState<TaskInfo>; onRetry: () => void }) {
  const { t, f } = useText();
  if (path === '') return null;
  if (task.error) return <Problem error={task.error} onRetry={onRetry} />;
  const info = task.data;
  if (!info) {
    return <output className={styles['summary']}>{t.checking}</output>;
  }
  const tamper = isTamperEvidentOnly(info.contract);
  return (
    <div className={styles['summary']} aria-live="polite">
      <p className={styles['taskTitle']}>
        <Foreign text={info.title} />
      </p>
      <p>{t.taskFacts(info.contract.obligations.length, info.seedFiles, f.bytes(info.seedBytes))}</p>
      <ul className={styles['obligations']}>
        {info.contract.obligations.map((obligation) => (
          <li key={obligation.key}>
            <code>
              <Foreign text={obligation.key} />
            </code>{' '}
            <Foreign text={obligation.title} /> {tamper ? <TamperEvident /> : null}
          </li>
        ))}
      </ul>
      {info.operators.length === 0 ? (
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
