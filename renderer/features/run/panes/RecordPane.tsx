import type { TransitionDetail } from '#shared/contract/run.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import shared from '../records.module.css';
import styles from './panes.module.css';

/** The stored records as they are. */
export function RecordPane({ detail }: { detail: TransitionDetail }) {
  const { t } = useText();
  return (
    <div className={styles['pane']}>
      <Json title={t.recordTransition} value={detail.transition} />
      {detail.verdict ? <Json title={t.recordVerdict} value={detail.verdict} /> : null}
      {detail.events.length > 0 ? (
        <section>
          <h2 className={shared['heading']}>{t.recordEvents}</h2>
          <pre className={styles['pre']}>
            <Foreign text={detail.events.join('\n')} />
          </pre>
        </section>
      ) : null}
    </div>
  );
}

function Json({ title, value }: { title: string; value: object }) {
  return (
    <section>
      <h2 className={shared['heading']}>{title}</h2>
      <pre className={styles['pre']}>
        <Foreign text={JSON.stringify(value, null, 2)} />
      </pre>
    </section>
  );
}
