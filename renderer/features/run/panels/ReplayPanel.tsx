import type { DecisionReplayReport } from '#shared/contract/replay.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Bar } from '#renderer/widgets/Bar.tsx';
import { Button } from '#renderer/widgets/Button.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import type { DecisionReplay } from '../use-decision-replay.ts';
import { RunPanelFrame } from './RunPanelFrame.tsx';
import shared from '../records.module.css';
import styles from './panels.module.css';

/** Recomputing the decisions: what it is, how far it is, what it found. */
export function ReplayPanel({ replay }: { replay: DecisionReplay }) {
  const { t, f } = useText();
  const { work, status, standing, start, cancel } = replay;
  return (
    <RunPanelFrame title={t.replayTitle} kind="view">
      <p className={styles['says']}>{t.replayWhat}</p>
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
      ) : (
        <div className={styles['work']}>
          <Button kind={standing === 'matches' ? 'plain' : 'primary'} keys="Shift+KeyD" onClick={start}>
            {status === undefined || standing === 'never' ? t.replayStart : t.replayAgain}
          </Button>
          {status?.at ? (
            <span className={styles['quiet']}>
              {t.replayLast(f.dateTime(status.at), status.transitions, status.mismatches + status.missing)}
            </span>
          ) : null}
        </div>
      )}
      {work.kind === 'cancelled' ? <output>{t.replayCancelled}</output> : null}
      {work.kind === 'failed' ? <Problem error={work.error} onRetry={start} /> : null}
      {work.kind === 'done' ? <Report report={work.report} grown={standing === 'grown'} /> : null}
    </RunPanelFrame>
  );
}

function Report({ report, grown }: { report: DecisionReplayReport; grown: boolean }) {
  const { t, f } = useText();
  const { mismatches, missing, recorded } = report;
  return (
    <>
      <output className={styles['result']} data-tone={report.ok ? 'good' : 'bad'}>
        {report.ok ? t.replayOk(report.transitions) : t.replayNotOk(report.mismatchCount, report.missingCount)}
      </output>
      {grown ? <p className={styles['warn']}>{t.replayGrownSince}</p> : null}
      {report.open ? <p className={styles['quiet']}>{t.replayOpen}</p> : null}
      {mismatches.length > 0 ? (
        <section>
          <h3 className={shared['heading']}>
            {t.replayMismatches} <small>{listed(mismatches.length, report.mismatchCount, t.ofTotal)}</small>
          </h3>
          <table className={shared['table']}>
            <thead>
              <tr>
                <th>{t.replayWhere}</th>
                <th>{t.replayField}</th>
                <th>{t.replayStored}</th>
                <th>{t.replayRecomputed}</th>
              </tr>
            </thead>
            <tbody>
              {mismatches.map((one) => (
                <tr key={`${one.where} ${one.field}`}>
                  <td>{one.where}</td>
                  <td>
                    <code>{one.field}</code>
                  </td>
                  <td>
                    <code>{one.stored ?? t.none}</code>
                  </td>
                  <td>
                    <code>{one.recomputed ?? t.none}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : null}
      {missing.length > 0 ? (
        <section>
          <h3 className={shared['heading']}>
            {t.replayMissing} <small>{listed(missing.length, report.missingCount, t.ofTotal)}</small>
          </h3>
          <table className={shared['table']}>
            <thead>
              <tr>
                <th>{t.replayWhere}</th>
                <th>{t.replayLacks}</th>
              </tr>
            </thead>
            <tbody>
              {missing.map((one) => (
                <tr key={`${one.where} ${one.what}`}>
                  <td>{one.where}</td>
                  <td>{one.what}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : null}
      <p className={styles['quiet']}>
        {t.replayCounts(report.transitions, report.rounds, report.bundles, report.verdicts, report.events, f.duration(report.ms))}
      </p>
      {recorded.aborted + recorded.host + recorded.ancestors > 0 ? (
        <p className={styles['quiet']}>{t.replayRecorded(recorded.aborted, recorded.host, recorded.ancestors)}</p>
      ) : null}
    </>
  );
}

const listed = (shown: number, all: number, of: (part: number, total: number) => string): string => (shown < all ? of(shown, all) : '');
