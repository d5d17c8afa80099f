import type { OutcomeCounts } from '#shared/contract/run.ts';
import { outcomes, type Outcome } from '#shared/domain/transition.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import styles from './OutcomeBar.module.css';

// Kept, turned down with a rank, without a rank: the same order in every row, so that rows compare.
const order: readonly Outcome[] = [
  'commit',
  'not_selected',
  'tie',
  'incomparable',
  'regression',
  'duplicate',
  'unstable',
  'invalid',
  'no_verdict',
  'aborted',
];

// Those whose colours are alike are told apart by their form: a thin line, stripes, an outline.
const looks: ReadonlyMap<Outcome, string> = new Map([
  ['tie', 'line'],
  ['no_verdict', 'stripes'],
  ['aborted', 'outline'],
]);

/** The outcomes of a run as shares of one bar; the counts on hover and for screen readers. */
export function OutcomeBar({ counts, total }: { counts: OutcomeCounts; total: number }) {
  const { t } = useText();
  const text = outcomes.flatMap((outcome) => (counts[outcome] > 0 ? [t.outcomeCount(t.outcome[outcome], counts[outcome])] : [])).join(', ');
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an img needs a file; this picture is made of boxes
    <span className={styles['bar']} role="img" aria-label={t.outcomesOf(text === '' ? t.none : text)} title={text}>
      {order.map((outcome) =>
        counts[outcome] === 0 ? null : (
          <span
            key={outcome}
            className={styles['share']}
            data-kept={outcome === 'commit'}
            data-look={looks.get(outcome)}
            style={{ flexGrow: counts[outcome] / Math.max(1, total), color: `var(--${outcome.replaceAll('_', '-')})` }}
          />
        ),
      )}
    </span>
  );
}
