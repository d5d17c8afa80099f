import { useId } from 'react';
import { useText } from '#renderer/i18n/use-text.ts';
import styles from './UnsandboxedSwitch.module.css';

/** Letting candidate code run without a sandbox, and what that means. Offered only where there is no other way. */
export function UnsandboxedSwitch({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  const { t } = useText();
  const help = useId();
  return (
    <div className={styles['switch']}>
      <label>
        <input type="checkbox" checked={checked} aria-describedby={help} onChange={(event) => onChange(event.target.checked)} />
        {t.unsandboxedSwitch}
      </label>
      <p id={help}>{t.unsandboxedHelp}</p>
    </div>
  );
}
