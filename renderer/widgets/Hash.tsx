import { useState } from 'react';
import { Check, Copy } from 'lucide-react';
import { useText } from '#renderer/i18n/use-text.ts';
import styles from './Hash.module.css';

/** A hash by its first characters; the whole of it on hover and in the copy. */
export function Hash({ value }: { value: string }) {
  const { t } = useText();
  const [copied, setCopied] = useState(false);
  const copy = () => {
    navigator.clipboard.writeText(value).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <span className={styles['hash']} title={value}>
      <code>{value.slice(0, 12)}</code>
      <button
        type="button"
        className={styles['copy']}
        onClick={copy}
        onBlur={() => setCopied(false)}
        aria-label={`${copied ? t.copied : t.copy} ${value}`}
      >
        {copied ? <Check size={12} aria-hidden="true" /> : <Copy size={12} aria-hidden="true" />}
      </button>
    </span>
  );
}
