import type { OutcomeCounts } from '#shared/contract/run.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { useUi } from '#renderer/state/store.ts';
import { OutcomeMark } from '#renderer/features/timeline/index.ts';
import styles from './Legend.module.css';

/** Outcomes with their counts. It is also the filter: what is switched off is counted beside it. */
export function Legend({ counts, total }: { counts: OutcomeCounts; total: number }) {
  const { t, f } = useText();
  const hidden = useUi((s) => s.hidden);
  const toggle = useUi((s) => s.toggleOutcome);
  const showAll = useUi((s) => s.showAll);
  const missing = outcomes.reduce((sum, outcome, code) => sum + (hidden.has(code) ? counts[outcome] : 0), 0);
  return (
    <fieldset className={styles['legend']} aria-label={t.legend}>
      {outcomes.map((outcome, code) => (
        <button
          key={outcome}
          type="button"
          className={styles['item']}
          aria-pressed={!hidden.has(code)}
          data-none={counts[outcome] === 0}
          onClick={() => toggle(code)}
        >
          <OutcomeMark outcome={outcome} />
          <span>{t.outcome[outcome]}</span> <span className={styles['count']}>{f.int(counts[outcome])}</span>
        </button>
      ))}
      <span className={styles['grow']} />
      {hidden.size > 0 ? (
        <>
          <output className={styles['hiding']}>{t.hiding(missing, total)}</output>
          <button type="button" className={styles['all']} onClick={showAll}>
            {t.showAll}
          </button>
        </>
      ) : null}
    </fieldset>
  );
}
