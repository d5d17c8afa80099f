import { keyLabel } from '#renderer/app/keys.ts';
import { useConnection } from '#renderer/client/use-query.ts';
import styles from './Kbd.module.css';

/** A key beside what it does. Decorative: the name of the control does not depend on it. */
export function Kbd({ keys }: { keys: string }) {
  const { engine } = useConnection();
  return (
    <kbd className={styles['kbd']} aria-hidden="true">
      {keyLabel(keys, engine.desktop.platform)}
    </kbd>
  );
}
