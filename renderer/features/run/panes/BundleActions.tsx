import { useText } from '#renderer/i18n/use-text.ts';
import { useUi } from '#renderer/state/store.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import styles from './panes.module.css';

/** What can be done with a certified bundle. Both open a panel that says what will run before anything does. */
export function BundleActions({ seq }: { seq: number }) {
  const { t } = useText();
  return (
    <div className={styles['actions']}>
      <Button className={styles['verify']} keys="Shift+KeyV" onClick={() => useUi.getState().setPanel({ kind: 'verify', seq })}>
        {t.verifyTitle(seq)}
      </Button>
      <Button className={styles['branch']} keys="Shift+KeyF" onClick={() => useUi.getState().setPanel({ kind: 'branch', seq })}>
        {t.branchTitle(seq)}
      </Button>
    </div>
  );
}
