import type { TransitionDetail } from '#shared/contract/run.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Hash } from '#renderer/widgets/Hash.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import shared from '../records.module.css';
import styles from './panes.module.css';

/** What this attempt left in exploration memory, and the features that were computed before any decision. */
export function MemoryPane({ detail }: { detail: TransitionDetail }) {
  const { t, f } = useText();
  const { memory, features } = detail;
  const shown = features ?? memory?.features ?? null;
  return (
    <div className={styles['pane']}>
      <p className={styles['quiet']}>{memory ? t.memoryAuthority : t.memoryNone}</p>
      {memory ? (
        <>
          {memory.changes.length > 0 ? (
            <section>
              <h2 className={shared['heading']}>{t.memoryFiles}</h2>
              <ul>
                {memory.changes.map((change) => (
                  <li key={change.path}>
                    <code>
                      <Foreign text={change.path} />
                    </code>{' '}
                    <span className={styles['betterText']}>+{f.int(change.added)}</span>{' '}
                    <span className={styles['worseText']}>−{f.int(change.removed)}</span>
                  </li>
                ))}
              </ul>
            </section>
          ) : null}
          {memory.excerpt === '' ? null : (
            <section>
              <h2 className={shared['heading']}>{t.memoryExcerpt}</h2>
              <pre className={styles['pre']}>
                <Foreign text={memory.excerpt} />
              </pre>
            </section>
          )}
        </>
      ) : null}
      {shown ? (
        <section>
          <h2 className={shared['heading']}>{t.memoryFeatures}</h2>
          <dl className={styles['facts']}>
            {Object.entries(shown).map(([name, value]) => (
              <Fact
                key={name}
                name={name}
                value={typeof value === 'boolean' ? (value ? t.yes : t.no) : value === null ? t.none : String(value)}
              />
            ))}
          </dl>
        </section>
      ) : null}
      {memory ? <Hash value={memory.id} /> : null}
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>
        <code>
          <Foreign text={name} />
        </code>
      </dt>
      <dd>
        <Foreign text={value} />
      </dd>
    </>
  );
}
