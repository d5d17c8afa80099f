import { useEffect, useRef, type ReactNode } from 'react';
import styles from './Dialog.module.css';

/** A modal panel over the page, by the browser's own dialog: it focuses the first control, keeps the focus inside, and Escape or a press outside asks to close it. */
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
    <dialog
      ref={ref}
      aria-label={label}
      className={styles['dialog']}
      data-wide={wide}
      closedby="any"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className={styles['panel']}>{children}</div>
    </dialog>
  );
}
