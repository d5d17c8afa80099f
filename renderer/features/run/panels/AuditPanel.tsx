import { Check, CircleDashed, X } from 'lucide-react';
import { useCallback, useEffect } from 'react';
import type { AuditReport } from '#shared/contract/audit.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import { type AuditRecord, type AuditRule, type AuditStatus, auditStatuses, type RecordKind } from '#shared/domain/audit/report.ts';
import { groupRecords } from '#shared/domain/audit/words.ts';
import { useConnection } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { useUi } from '#renderer/state/store.ts';
import { Bar } from '#renderer/widgets/Bar.tsx';
import { Button } from '#renderer/widgets/Button.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { Hash } from '#renderer/widgets/Hash.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { useStreamedReport } from '../use-streamed-report.ts';
import { RunPanelFrame } from './RunPanelFrame.tsx';
import styles from './panels.module.css';
import own from './audit.module.css';

/** The published rules, each decided for this run and shown with its records. It begins by itself: it executes and stores nothing. */
export function AuditPanel({ detail }: { detail: RunDetail }) {
  const { t, f } = useText();
  const { engine } = useConnection();
  const run = detail.id;
  const open = useCallback((signal: AbortSignal) => engine.stream('audit.run', { run }, { signal }), [engine, run]);
  const { work, start, cancel } = useStreamedReport<AuditReport>(open);
  useEffect(start, [start]);
  return (
    <RunPanelFrame title={t.auditTitle} kind="view">
      <p className={styles['says']}>{t.auditWhat}</p>
      {work.kind === 'running' ? (
        <div className={styles['work']}>
          <Bar
            label={t.replayProgress}
            text={t.usedOf(f.int(work.transitions), f.int(work.of))}
            used={work.transitions}
            max={work.of}
            title={t.usedOf(f.int(work.transitions), f.int(work.of))}
          />
          <Button onClick={cancel}>{t.cancel}</Button>
        </div>
      ) : null}
      {work.kind === 'cancelled' ? (
        <div className={styles['work']}>
          <Button kind="primary" onClick={start}>
            {t.auditAgain}
          </Button>
          <output>{t.auditCancelled}</output>
        </div>
      ) : null}
      {work.kind === 'failed' ? <Problem error={work.error} onRetry={start} /> : null}
      {work.kind === 'done' ? <Report report={work.report} transitions={detail.transitions} onAgain={start} /> : null}
    </RunPanelFrame>
  );
}

function Report({ report, transitions, onAgain }: { report: AuditReport; transitions: number; onAgain: () => void }) {
  const { t, f } = useText();
  const { rules } = report;
  const violated = rules.filter(({ status }) => status === 'violated').length;
  const counts = auditStatuses.map((status) => ({ status, n: rules.filter((rule) => rule.status === status).length }));
  const grown = transitions > report.transitions;
  return (
    <>
      <div>
        <output className={styles['result']} data-tone={violated > 0 ? 'bad' : undefined}>
          {t.auditViolated(violated)}
        </output>
        <p className={styles['quiet']}>
          {t.auditCounts(
            counts.map(({ status, n }) => `${t.auditStatus[status]} ${f.int(n)}`),
            rules.length,
          )}{' '}
          {t.auditRecomputed(report.transitions, report.bundles, report.events, f.duration(report.ms))}
        </p>
      </div>
      {report.open ? <p className={styles['quiet']}>{t.replayOpen}</p> : null}
      {grown ? (
        <div className={styles['work']}>
          <p className={styles['warn']}>{t.auditGrown}</p>
          <Button onClick={onAgain}>{t.auditAgain}</Button>
        </div>
      ) : null}
      <ol className={own['rules']}>
        {rules.map((rule) => (
          <Rule key={rule.rule} rule={rule} />
        ))}
      </ol>
    </>
  );
}

function Rule({ rule: { rule, status, because, records, recordCount } }: { rule: AuditRule }) {
  const { t, f } = useText();
  return (
    <li className={own['rule']} data-status={status}>
      <span className={own['number']} aria-hidden="true">
        {f.int(rule)}
      </span>
      <span className={own['status']}>
        <StatusMark status={status} />
        {t.auditStatus[status]}
      </span>
      <div className={own['text']}>
        <h3>
          <span className="visually-hidden">{f.int(rule)} </span>
          {t.auditRule(rule)}
        </h3>
        <p>
          <Foreign text={t.auditReason(because)} />
        </p>
        <Records records={records} count={recordCount} />
      </div>
    </li>
  );
}

function StatusMark({ status }: { status: AuditStatus }) {
  switch (status) {
    case 'held':
      return <Check size={13} aria-hidden="true" />;
    case 'violated':
      return <X size={13} aria-hidden="true" />;
    case 'not_checkable':
      return <CircleDashed size={13} aria-hidden="true" />;
    default:
      return status satisfies never;
  }
}

/** Shown of one rule; the rest is counted. */
const shown = 24;

function Records({ records, count }: { records: readonly AuditRecord[]; count: number }) {
  const { t } = useText();
  if (records.length === 0) return null;
  const listed = records.slice(0, shown);
  const rest = count > listed.length ? <li className={styles['quiet']}>{t.relMore(count - listed.length)}</li> : null;
  // What is the matter with a record takes a line of its own.
  if (listed.some(({ note }) => note !== null)) {
    return (
      <ul className={own['noted']} aria-label={t.auditRecords}>
        {listed.map((record) => (
          <li key={`${record.kind} ${record.from} ${record.id} ${record.note}`}>
            <Named record={record} />
            {record.note === null ? null : (
              <code>
                <Foreign text={record.note} />
              </code>
            )}
          </li>
        ))}
        {rest}
      </ul>
    );
  }
  return (
    <ul className={own['records']} aria-label={t.auditRecords}>
      {groupRecords(listed).map((group) => (
        <li key={`${group[0]?.kind} ${group[0]?.from} ${group[0]?.id}`}>
          <Group records={group} />
        </li>
      ))}
      {rest}
    </ul>
  );
}

/** Records of one kind: the kind once, then their numbers. */
function Group({ records }: { records: readonly AuditRecord[] }) {
  const { t, f } = useText();
  const [first] = records;
  if (first === undefined) return null;
  if (records.length === 1) return <Named record={first} />;
  return (
    <span className={own['group']}>
      <span>{t.auditKind(first.kind)}</span>
      {records.map((record) => (
        <Named key={record.from} record={record} text={record.from === null ? undefined : f.int(record.from)} />
      ))}
    </span>
  );
}

/** Kinds whose numbers are those of transitions. */
const ofTransition: ReadonlySet<RecordKind> = new Set(['transition', 'request', 'response', 'verdict', 'verifier_run', 'memory']);

/** The name of a record; one that belongs to a transition leads there. `text`: shown in its place where the kind is said already. */
function Named({ record, text }: { record: AuditRecord; text?: string | undefined }) {
  const { t } = useText();
  const { kind, from, to, id } = record;
  const name = t.auditRecord(record);
  if (from !== null && from === to && ofTransition.has(kind)) {
    return (
      <button type="button" className={own['link']} aria-label={name} onClick={() => useUi.getState().select(from, 'jump')}>
        {text ?? name}
      </button>
    );
  }
  return (
    <span className={own['name']}>
      {kind === 'other' && id !== null ? <Foreign text={id} /> : (text ?? name)}
      {id === null || kind === 'other' ? null : <Hash value={id} />}
    </span>
  );
}
