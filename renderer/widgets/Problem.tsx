import type { RpcError } from '#shared/contract/errors.ts';
import { CircleAlert } from 'lucide-react';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from './Button.tsx';
import { Foreign } from './Foreign.tsx';
import styles from './Problem.module.css';

/** What went wrong, where, and what to do about it. */
export function Problem({ error, onRetry }: { error: RpcError; onRetry?: () => void }) {
  const { t } = useText();
  return (
    <div className={styles['problem']} role="alert">
      <CircleAlert size={15} aria-hidden="true" />
      <div className={styles['text']}>
        <p className={styles['message']}>
          <Foreign text={error.message} />
        </p>
        {error.where.file === undefined && error.where.field === undefined ? null : (
          <dl className={styles['where']}>
            {error.where.file === undefined ? null : (
              <>
                <dt>{t.fieldFile}</dt>
                <dd>
                  <Foreign text={error.where.file} />
                </dd>
              </>
            )}
            {error.where.field === undefined ? null : (
              <>
                <dt>{t.fieldField}</dt>
                <dd>
                  <Foreign text={error.where.field} />
                </dd>
              </>
            )}
          </dl>
        )}
      </div>
      {onRetry === undefined ? null : <Button onClick={onRetry}>{t.retry}</Button>}
    </div>
  );
}
