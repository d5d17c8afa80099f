import type { Obligation } from '#shared/domain/obligation.ts';
import type { TransitionDetail } from '#shared/contract/run.ts';
import type { RunRef } from '#shared/domain/verdict.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { guaranteeName } from '#renderer/widgets/RunsWhere.tsx';
import { TamperEvident } from '#renderer/widgets/TamperEvident.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import shared from '../records.module.css';
import { AutoCommands } from './AutoCommands.tsx';
import styles from './panes.module.css';

type Props = { readonly obligations: readonly Obligation[]; readonly detail: TransitionDetail; readonly tamperEvidentOnly: boolean };

/** Where candidate code was run for this verdict, once for all executions that say the same. */
function RanIn({ runs }: { runs: readonly RunRef[] }) {
  const { t } = useText();
  const said = new Set(
    runs.flatMap(({ unsandboxed, sandbox }) => {
      if (unsandboxed === true) return [t.ranFree];
      if (sandbox === undefined) return [];
      const where = t.ranBoxed(sandbox.backend, sandbox.experimental === true);
      return [sandbox.lacks === undefined ? where : `${where}; ${t.sandboxLacks(sandbox.lacks.map((name) => guaranteeName(name, t)))}`];
    }),
  );
  return [...said].map((text) => (
    <p key={text} className={styles['ran']}>
      <Foreign text={text} />
    </p>
  ));
}

/** Obligation by obligation: before, after, what the verifier said; then its output as it wrote it, and what automatic commands said. */
export function VerdictPane({ obligations, detail, tamperEvidentOnly }: Props) {
  const { t, f } = useText();
  const { verdict, rank, baseRank, transition, output } = detail;
  const details = verdict?.kind === 'ranked' ? verdict.details : {};
  const runs = verdict && verdict.kind !== 'invalid' ? verdict.runs : [];
  return (
    <div className={styles['pane']}>
      <section>
        <h2 className={shared['heading']}>
          {t.obligationsAgainstBase}
          <small>
            {t.verdictSource[transition.verdictSource]}
            {runs.length > 0 ? ` · ${t.verifierRuns(runs.length, f.duration(runs.reduce((sum, run) => sum + run.durationMs, 0)))}` : ''}
          </small>
        </h2>
        <RanIn runs={runs} />
        {verdict && verdict.kind !== 'ranked' ? (
          <p>
            {tamperEvidentOnly && verdict.kind === 'no_verdict' ? <TamperEvident /> : null} {t.verdictCode[verdict.code]}.{' '}
            <span className={styles['text']}>
              <Foreign text={verdict.message} />
            </span>
          </p>
        ) : null}
        {rank ? (
          <table className={`${shared['table'] ?? ''} ${styles['verdict'] ?? ''}`}>
            <colgroup>
              <col className={styles['keyColumn']} />
              <col />
              <col className={styles['numberColumn']} />
              <col className={styles['numberColumn']} />
              <col className={styles['numberColumn']} />
              <col />
            </colgroup>
            <thead>
              <tr>
                <th colSpan={2}>{t.obligation}</th>
                <th className={styles['number']}>{t.before}</th>
                <th className={styles['number']}>{t.after}</th>
                <th className={styles['number']}>{t.change}</th>
                <th>
                  {t.detail}, {t.untrusted}
                </th>
              </tr>
            </thead>
            <tbody>
              {obligations.map((obligation, i) => {
                const before = baseRank[i] ?? 0;
                const after = rank[i] ?? 0;
                const tone = after < before ? styles['better'] : after > before ? styles['worse'] : '';
                return (
                  <tr key={obligation.key} className={tone}>
                    <td>
                      <Foreign text={obligation.key} /> {tamperEvidentOnly ? <TamperEvident /> : null}
                    </td>
                    <td className={styles['wide']}>
                      <Foreign text={obligation.title} />
                    </td>
                    <td className={styles['number']}>{f.int(before)}</td>
                    <td className={styles['number']}>{f.int(after)}</td>
                    <td className={styles['number']}>
                      {after === before ? '' : `${after > before ? '+' : '−'}${f.int(Math.abs(after - before))}`}
                    </td>
                    <td className={styles['wide']}>
                      <Foreign text={details[obligation.key] ?? ''} />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        ) : (
          <p className={styles['quiet']}>{t.noRank}</p>
        )}
      </section>
      <section>
        <h2 className={shared['heading']}>{t.verifierOutput}</h2>
        {output === null || output === '' ? (
          <p className={styles['quiet']}>{t.verifierOutputNone}</p>
        ) : (
          <pre className={styles['pre']}>
            <Foreign text={output} />
          </pre>
        )}
      </section>
      <AutoCommands detail={detail} />
    </div>
  );
}
