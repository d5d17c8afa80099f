import { useId, useState } from 'react';
import type { RunSummary } from '#shared/contract/run.ts';
import type { TaskInfo } from '#shared/contract/task.ts';
import { endedAs } from '#shared/domain/ended-as.ts';
import { useKept, useQuery } from '#renderer/client/use-query.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { shortRun } from '#renderer/widgets/run-name.ts';
import { recordedAttempts } from './form.ts';
import styles from './new-run.module.css';

/** Runs that are listed at first, and the most that one answer of the engine may hold. */
const few = 20;
const most = 200;

type Props = {
  readonly task: TaskInfo | undefined;
  readonly chosen: string | null;
  /** What the engine says about the choice; '' = nothing. */
  readonly error: string;
  readonly onPick: (run: RunSummary) => void;
};

/** The runs of the same task, newest first, whose stored responses can be proposed again. */
export function RecordPicker({ task, chosen, error, onPick }: Props) {
  const { t } = useText();
  const [limit, setLimit] = useState(few);
  const group = useId();
  const answer = useQuery('run.list', task === undefined ? null : { limit, task: task.id });
  const kept = useKept(answer.data);
  if (task === undefined) return null;
  if (answer.error !== null) return <Problem error={answer.error} />;
  if (kept === undefined) return <output className={styles['quiet']}>{t.loading}</output>;
  const listed = kept.runs.filter((run) => run.task.id === task.id);
  const usable = listed.filter((run) => recordedAttempts(run) > 0);
  const hidden = listed.length - usable.length;
  return (
    <fieldset className={styles['own']} aria-describedby={`${group}-help`}>
      <legend>{t.recordLabel}</legend>
      {usable.length === 0 ? <p className={styles['quiet']}>{t.recordNone}</p> : null}
      {usable.length === 0 ? null : (
        <div className={styles['records']}>
          {usable.map((run) => (
            <RecordRow
              key={run.id}
              run={run}
              group={group}
              sameContract={run.contract === task.contractSha}
              checked={run.id === chosen}
              onPick={onPick}
            />
          ))}
        </div>
      )}
      <p id={`${group}-help`} className={styles['help']} data-wrong={error !== '' && chosen !== null}>
        {error !== '' && chosen !== null ? visibleText(error) : t.recordHelp}
        {hidden > 0 ? ` ${t.recordHidden(hidden)}` : ''}
        {kept.more && limit === most ? ` ${t.recordOlderOnly(most)}` : ''}
      </p>
      {kept.more && limit < most ? (
        <Button className={styles['inRow']} onClick={() => setLimit(most)}>
          {t.recordOlder}
        </Button>
      ) : null}
    </fieldset>
  );
}

type RowProps = {
  readonly run: RunSummary;
  readonly group: string;
  readonly sameContract: boolean;
  readonly checked: boolean;
  readonly onPick: (run: RunSummary) => void;
};

function RecordRow({ run, group, sameContract, checked, onPick }: RowProps) {
  const { t, f } = useText();
  const { genesis, head } = run;
  return (
    <label className={styles['record']}>
      <input type="radio" name={group} checked={checked} onChange={() => onPick(run)} />
      <span className={styles['recordName']}>
        {f.dateTime(run.startedAt)} · {t.proposer[run.proposer]} · {t.seed(run.seed)}
        {sameContract ? null : <span className={styles['warn']}> · {t.recordOtherContract}</span>}
      </span>
      <span className={styles['quiet']} title={run.id}>
        {shortRun(run.id)}
      </span>
      <span className={styles['recordFacts']}>
        {t.recordFacts(recordedAttempts(run), run.counts.commit)}
        {genesis && head ? ` · ${f.int(genesis.potential)} → ${f.int(head.potential)}` : ''} ·{' '}
        {run.status === 'stopped' ? t.ended[endedAs(run.stop)] : t.status[run.status]}
      </span>
    </label>
  );
}
