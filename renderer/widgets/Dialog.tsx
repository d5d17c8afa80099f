import { useEffect, useRef, type ReactNode } from 'react';
import styles from './Dialog.module.css';

/** A modal panel over the page, by the browser's own dialog: focus stays inside, Escape and a press outside close it. */
export function Dialog({
  label,
  onClose,
  wide = false,
  children,
}: {
  label: string;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // The press outside lands on the dialog element itself, since everything inside is in the panel. Escape is its keyboard twin.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={ref}
      aria-label={label}
      className={styles['dialog']}
      data-wide={wide}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div className={styles['panel']}>{children}</div>
    </dialog>
  );
}
