import { useId } from 'react';
import styles from './Segmented.module.css';

type Props<T extends string> = {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [value: T, name: string])[];
  readonly onChange: (value: T) => void;
};

/** One of a few, all of them seen. */
export function Segmented<T extends string>({ label, value, options, onChange }: Props<T>) {
  const group = useId();
  return (
    <fieldset className={styles['field']}>
      <legend className={styles['label']}>{label}</legend>
      <div className={styles['options']} role="radiogroup" aria-label={label}>
        {options.map(([option, name]) => (
          <label key={option} className={styles['option']}>
            <input type="radio" name={group} checked={option === value} onChange={() => onChange(option)} />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
