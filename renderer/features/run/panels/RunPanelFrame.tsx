import { useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';
import { X } from 'lucide-react';
import { useText } from '#renderer/i18n/use-text.ts';
import { useUi } from '#renderer/state/store.ts';
import { Kbd } from '#renderer/widgets/Kbd.tsx';
import screen from '../RunScreen.module.css';
import styles from './panels.module.css';

type Props = {
  readonly title: string;
  readonly kind: 'view' | 'verify' | 'branch' | 'propose';
  /** The content takes all of the room and scrolls by itself. */
  readonly fill?: boolean;
  readonly children: ReactNode;
};

/** A panel in place of the views of the selected transition. `kind` is its look: what it would do is seen before it is read. */
export function RunPanelFrame({ title, kind, fill = false, children }: Props) {
  const { t } = useText();
  const ref = useRef<HTMLElement>(null);
  const close = () => useUi.getState().setPanel(null);
  useEffect(() => {
    const first = ref.current?.querySelector<HTMLElement>('[data-first]:not(:disabled)') ?? ref.current;
    first?.focus({ preventScroll: true });
  }, []);
  // Fields keep keys to themselves, so the panel hears Escape on its own.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
    event.stopPropagation();
    close();
  };
  return (
    // The panel takes the focus when it is opened, so that the tab key goes on inside it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it hears the Escape of the fields inside
    <section
      ref={ref}
      className={`${screen['panel'] ?? ''} ${styles['frame'] ?? ''}`}
      data-kind={kind}
      aria-label={title}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <div className={styles['head']}>
        <h2>{title}</h2>
        <Kbd keys="Escape" />
        <button type="button" className={styles['close']} onClick={close} aria-label={t.close} title={t.close}>
          <X size={14} aria-hidden="true" />
        </button>
      </div>
      {fill ? (
        <div className={styles['fill']}>{children}</div>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must be able to reach it
        <div className={styles['body']} tabIndex={0}>
          {children}
        </div>
      )}
    </section>
  );
}
