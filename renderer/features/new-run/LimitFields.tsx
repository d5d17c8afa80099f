import type { Budget } from '#shared/domain/budget.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { NumberField } from '#renderer/widgets/NumberField.tsx';
import { inSeconds, type LimitDimension, limitDimensions, type LimitText, maxOf, taskLimit, type Form } from './form.ts';
import styles from './new-run.module.css';

const asTask: LimitText = { text: '', lifted: false };

type Props = { readonly form: Form; readonly budget: Budget; readonly error: string; readonly onChange: (form: Form) => void };

/** The dimensions of the budget beside attempts: the task's limits, others for this run, or none. */
export function LimitFields({ form, budget, error, onChange }: Props) {
  const { t } = useText();
  const changed = limitDimensions.filter((dimension) => {
    const { text, lifted } = form.limits[dimension] ?? asTask;
    return lifted || text !== '';
  }).length;
  return (
    <details className={styles['limits']}>
      <summary>
        {t.limitsTitle} <span className={styles['quiet']}>{changed === 0 ? t.limitsAsTask : t.limitsChanged(changed)}</span>
      </summary>
      {error === '' ? null : <p className={styles['wrong']}>{error}</p>}
      <div className={styles['numbers']}>
        {limitDimensions.map((dimension) => (
          <LimitField
            key={dimension}
            dimension={dimension}
            limit={taskLimit(budget, dimension)}
            value={form.limits[dimension] ?? asTask}
            onChange={(value) => onChange({ ...form, limits: { ...form.limits, [dimension]: value } })}
          />
        ))}
      </div>
    </details>
  );
}

type FieldProps = {
  readonly dimension: LimitDimension;
  readonly limit: string | null;
  readonly value: LimitText;
  readonly onChange: (value: LimitText) => void;
};

function LimitField({ dimension, limit, value, onChange }: FieldProps) {
  const { t } = useText();
  const name = t.budget[dimension];
  return (
    <div>
      <NumberField
        label={inSeconds(dimension) ? t.inSeconds(name) : name}
        help={limit === null ? t.limitHelpNone : t.limitHelp(limit)}
        placeholder={value.lifted || limit === null ? t.limitNone : limit}
        value={value.lifted ? '' : value.text}
        min={1}
        max={maxOf(dimension)}
        optional
        onChange={(text) => onChange({ text, lifted: false })}
      />
      {limit === null ? null : (
        <label className={styles['lift']}>
          <input
            type="checkbox"
            checked={value.lifted}
            aria-label={t.limitLift(name)}
            onChange={(event) => onChange({ text: value.text, lifted: event.target.checked })}
          />
          {t.limitNone}
        </label>
      )}
    </div>
  );
}
