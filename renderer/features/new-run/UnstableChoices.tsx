import { useId } from 'react';
import { useText } from '#renderer/i18n/use-text.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import type { Choice } from './form.ts';
import styles from './new-run.module.css';

type Props = {
  /** Keys of the obligations that were not stable. */
  readonly keys: readonly string[];
  readonly choices: ReadonlyMap<string, Choice>;
  /** A start was refused because of them. */
  readonly refused: boolean;
  readonly onChange: (key: string, choice: Choice) => void;
};

/** What to do about each obligation whose measurements disagree. */
export function UnstableChoices({ keys, choices, refused, onChange }: Props) {
  const { t } = useText();
  return (
    <section className={styles['unstable']} data-asks={refused} aria-label={t.unstableTitle}>
      {refused ? (
        <p role="alert" className={styles['wrong']}>
          {t.unstableTitle}
        </p>
      ) : null}
      <p className={styles['quiet']}>{t.unstableText}</p>
      {keys.map((key) => (
        <ChoiceOf key={key} name={key} choice={choices.get(key) ?? null} onChange={(choice) => onChange(key, choice)} />
      ))}
    </section>
  );
}

function ChoiceOf({ name, choice, onChange }: { name: string; choice: Choice; onChange: (choice: Choice) => void }) {
  const { t } = useText();
  const group = useId();
  const options = [
    [null, t.choiceNone, ''],
    ['quarantine', t.choiceQuarantine, t.choiceQuarantineTitle],
    ['median', t.choiceMedian, t.choiceMedianTitle],
  ] as const;
  return (
    <fieldset className={styles['choice']} aria-label={t.unstableChoice(visibleText(name))}>
      <code>
        <Foreign text={name} />
      </code>
      <span className={styles['options']}>
        {options.map(([value, label, title]) => (
          <label key={label} title={title === '' ? undefined : title}>
            <input type="radio" name={group} checked={choice === value} onChange={() => onChange(value)} />
            {label}
          </label>
        ))}
      </span>
    </fieldset>
  );
}
