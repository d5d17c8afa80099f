import type { RunData } from '#renderer/state/run-data.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { TamperEvident } from '#renderer/widgets/TamperEvident.tsx';
import styles from './Inspector.module.css';

/** What there is to improve, where no transition is selected: every obligation with its value in the head. */
export function HeadStanding({ data, tamperEvidentOnly }: { data: RunData; tamperEvidentOnly: boolean }) {
  const { t, f } = useText();
  if (data.chainLength === 0) return null;
  const rank = data.chainRank(data.chainLength - 1);
  return (
    <section>
      <h2 className={styles['heading']}>{t.headStanding}</h2>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th>{t.obligation}</th>
            <th>{t.headValue}</th>
          </tr>
        </thead>
        <tbody>
          {data.obligations.map(({ key, title }, i) => (
            <tr key={key} className={(rank[i] ?? 0) === 0 ? styles['rest'] : undefined}>
              <td title={visibleText(title)}>
                <Foreign text={key} /> {tamperEvidentOnly ? <TamperEvident /> : null}
              </td>
              <td>{f.int(rank[i] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
