import type { TransitionDetail } from '#shared/contract/run.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { Hash } from '#renderer/widgets/Hash.tsx';
import styles from './panes.module.css';

/** What automatic commands said, each with the tree that it spoke of, and which further ones the proposer asked for. Nothing without any. */
export function AutoCommands({ detail: { autos, registrations, transition } }: { readonly detail: TransitionDetail }) {
  const { t } = useText();
  if (autos.length + registrations.length === 0) return null;
  return (
    <section aria-label={t.autoTitle}>
      <h2 className={styles['heading']}>
        {t.autoTitle}
        <small>{t.autoAuthority}</small>
      </h2>
      <ul className={styles['autos']}>
        {numbered(autos).map(({ key, name, command, tree, ending, output, cut, record }) => (
          <li key={key}>
            <p>
              <b title={command.join(' ')}>
                <Foreign text={name} />
              </b>{' '}
              <Foreign text={ending} />
              <span className={styles['quiet']}>
                {' · '}
                {tree === transition.tree ? t.autoOnCandidate : t.autoOnEarlier} <Hash value={tree} />
              </span>
            </p>
            {output === '' ? null : (
              <pre className={styles['pre']}>
                <Foreign text={output} />
              </pre>
            )}
            {cut ? (
              <a className={styles['link']} href={`/blob/${record}`} target="_blank" rel="noreferrer">
                {t.autoWhole}
              </a>
            ) : null}
          </li>
        ))}
        {numbered(registrations).map(({ key, name, command, refusal }) => (
          <li key={`asked ${key}`}>
            {t.autoAsked}{' '}
            <b>
              <Foreign text={name} />
            </b>{' '}
            <code>
              <Foreign text={command.join(' ')} />
            </code>
            {': '}
            <span className={refusal === null ? '' : styles['worseText']}>{refusal === null ? t.autoHolds : t.autoRefusal[refusal]}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Places in a record that never changes: the same may stand in it twice. */
const numbered = <T extends object>(list: readonly T[]): (T & { readonly key: string })[] =>
  list.map((one, i) => ({ ...one, key: String(i) }));
