import { useId } from 'react';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import styles from './NumberField.module.css';

/** Limits of what a run is given; those of the contract, or what a number can hold. */
export const maxSlots = 64;
export const maxSeed = Number.MAX_SAFE_INTEGER;
export const maxAttempts = 1_000_000_000;

/** Whether the text is a whole number from min to max. */
export const inRange = (text: string, min: number, max: number): boolean =>
  /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max;

type Props = {
  readonly label: string;
  readonly help: string;
  readonly value: string;
  readonly min: number;
  readonly max: number;
  readonly placeholder?: string;
  /** An empty field is fine and means the task's own value. */
  readonly optional?: boolean;
  /** What somebody else says is wrong with it; '' = nothing. */
  readonly error?: string;
  readonly onChange: (value: string) => void;
};

/** A whole number in text, said to be wrong where it is written. */
export function NumberField({ label, help, value, min, max, placeholder = '', optional = false, error = '', onChange }: Props) {
  const { t } = useText();
  const id = useId();
  const wrong = !(optional && value === '') && !inRange(value, min, max);
  return (
    <div className={styles['field']}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={styles['input']}
        inputMode="numeric"
        value={value}
        placeholder={placeholder}
        aria-invalid={wrong || error !== ''}
        aria-describedby={`${id}-help`}
        onChange={(event) => onChange(event.target.value.trim())}
      />
      <p id={`${id}-help`} className={styles['help']} data-wrong={wrong || error !== ''}>
        {wrong ? t.rangeError(min, max) : error === '' ? help : visibleText(error)}
      </p>
    </div>
  );
}
