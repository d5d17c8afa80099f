import type { RunDetail } from '#shared/contract/run.ts';
import { budgetDimensions, type BudgetDimension } from '#shared/domain/budget.ts';
import { commitsLeftBound } from '#shared/domain/rank.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Bar } from '#renderer/widgets/Bar.tsx';
import styles from './Facts.module.css';

const inMs: ReadonlySet<BudgetDimension> = new Set<BudgetDimension>(['verifierMs', 'wallMs']);

/** Where the head stands, how much was kept of what was tried, and what is left of each limited dimension. */
export function Facts({ detail }: { detail: RunDetail }) {
  const { t, f } = useText();
  const { head, genesis, budget } = detail;
  const amount = (dimension: BudgetDimension, value: number, exact: boolean) =>
    inMs.has(dimension) ? f.duration(value) : exact || value < 100_000 ? f.int(value) : f.compact(value);
  return (
    <div className={styles['facts']}>
      {head && genesis ? (
        <div>
          <div className={styles['label']}>{t.headPotential}</div>
          <div className={styles['value']}>
            {f.int(head.potential)}{' '}
            <small>
              {head.potential === 0
                ? t.headPotentialZero(genesis.potential)
                : t.headPotentialOf(genesis.potential, commitsLeftBound(head.rank))}
            </small>
          </div>
        </div>
      ) : null}
      <div>
        <div className={styles['label']}>{t.committed}</div>
        <div className={styles['value']}>
          {f.int(detail.counts.commit)} <small>{t.committedOf(detail.transitions)}</small>
        </div>
      </div>
      <div className={styles['bars']}>
        {budgetDimensions.map((dimension) => {
          const max = budget.max[dimension];
          if (max === null) return null;
          const used = budget.used[dimension];
          const over = budget.overshoot[dimension];
          const exact = t.usedOf(amount(dimension, used, true), amount(dimension, max, true));
          return (
            <Bar
              key={dimension}
              label={t.budget[dimension]}
              text={t.usedOf(amount(dimension, used, false), amount(dimension, max, false))}
              used={used}
              max={max}
              title={over > 0 ? `${exact}, ${t.overshoot(amount(dimension, over, true))}` : exact}
            />
          );
        })}
      </div>
    </div>
  );
}
