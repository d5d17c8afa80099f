import { useText } from '#renderer/i18n/use-text.ts';
import styles from './TamperEvident.module.css';

/** Stands beside an obligation whose verdicts a candidate could have forged. */
export function TamperEvident() {
  const { t } = useText();
  return (
    <small className={styles['mark']} title={t.tamperEvidentTitle}>
      {t.tamperEvident}
    </small>
  );
}
