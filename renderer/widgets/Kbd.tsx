import { keyLabel } from '#renderer/app/keys.ts';
import { usePlatform } from '#renderer/app/platform.ts';
import styles from './Kbd.module.css';

/** A key beside what it does. Decorative: the name of the control does not depend on it. */
export function Kbd({ keys }: { keys: string }) {
  const platform = usePlatform();
  return (
    <kbd className={styles['kbd']} aria-hidden="true">
      {keyLabel(keys, platform)}
    </kbd>
  );
}
