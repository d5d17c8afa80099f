import type { TaskPreflight } from '#shared/contract/preflight.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import styles from './new-run.module.css';

/** What measuring the seed came to. `stale`: a choice was changed since. */
export function SeedMeasurement({ found, stale }: { found: TaskPreflight; stale: boolean }) {
  const { t, f } = useText();
  const { verdict, verifier, genesis, runs } = found;
  const moved = found.obligations.filter(({ stable }) => !stable).length;
  return (
    <div className={styles['summary']} data-stale={stale}>
      {verdict.kind === 'ranked' ? (
        <output className={found.stable ? styles['stable'] : styles['wrong']}>
          {found.stable ? t.preflightStable(runs) : t.preflightUnstable(runs, moved)}
        </output>
      ) : (
        <p className={styles['wrong']}>{t.preflightNoVerdict(`${t.verdictCode[verdict.code]}. ${visibleText(verdict.message)}`)}</p>
      )}
      {stale ? <p className={styles['warn']}>{t.preflightStale}</p> : null}
      <table className={styles['values']}>
        <thead>
          <tr>
            <th>{t.obligation}</th>
            <th>{t.preflightValues}</th>
          </tr>
        </thead>
        <tbody>
          {found.obligations.map(({ key, values, stable, aggregate }) => (
            <tr key={key} data-stable={stable}>
              <td>
                <code>
                  <Foreign text={key} />
                </code>{' '}
                {aggregate === 'median' ? <small>{t.choiceMedian}</small> : null}
              </td>
              <td>{values.map((value) => f.int(value)).join(', ')}</td>
            </tr>
          ))}
          {found.advisory.map(({ key, values }) => (
            <tr key={key}>
              <td>
                <code>
                  <Foreign text={key} />
                </code>{' '}
                <small>{t.choiceQuarantine}</small>
              </td>
              <td>{values.map((value) => (value === null ? t.none : f.int(value))).join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {genesis ? <p>{t.preflightGenesis(genesis.potential)}</p> : null}
      {verifier ? <p>{t.preflightTimes(f.duration(verifier.medianMs), f.duration(verifier.p95Ms))}</p> : null}
    </div>
  );
}
