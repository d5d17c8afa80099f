import { useState } from 'react';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { Hash } from '#renderer/widgets/Hash.tsx';
import styles from './new-run.module.css';

type Props = {
  /** The text and its hash; null while there is none. */
  readonly header: { readonly json: string; readonly sha: string } | null;
  /** It belongs to what stood in the fields before. */
  readonly stale: boolean;
  /** Fields are missing or wrong, so that there can be none. */
  readonly impossible: boolean;
};

/** What the run will be, to the byte, before it is. */
export function HeaderPreview({ header, stale, impossible }: Props) {
  const { t } = useText();
  const [copied, setCopied] = useState<string | null>(null);
  const copy = (json: string) => {
    navigator.clipboard.writeText(json).then(
      () => setCopied(json),
      () => setCopied(null),
    );
  };
  return (
    <section className={styles['section']} aria-label={t.headerTitle}>
      <h2>{t.headerTitle}</h2>
      <p className={styles['quiet']}>{t.headerText}</p>
      {header === null || impossible ? (
        <output className={styles['quiet']}>{impossible ? t.headerImpossible : t.headerPending}</output>
      ) : (
        <div className={styles['header']} data-stale={stale} aria-busy={stale}>
          <div className={styles['hash']}>
            <span className={styles['quiet']}>SHA-256</span> <Hash value={header.sha} />
            <span className={styles['grow']} />
            <Button kind="quiet" onClick={() => copy(header.json)} onBlur={() => setCopied(null)}>
              {copied === header.json ? t.copied : t.headerCopy}
            </Button>
          </div>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must be able to reach it */}
          <pre className={styles['json']} tabIndex={0} data-testid="header-json">
            <Foreign text={header.json} />
          </pre>
        </div>
      )}
    </section>
  );
}
