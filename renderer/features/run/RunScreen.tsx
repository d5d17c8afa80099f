import { useQuery, useKept } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { formatPlace, type RunPlace } from '#renderer/app/navigation.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { EmptyState } from '#renderer/widgets/EmptyState.tsx';
import { RunHeader } from './RunHeader.tsx';
import { RunView } from './RunView.tsx';
import styles from './RunScreen.module.css';

/** One run: what it is, every transition of it, and the selected one in full. */
export function RunScreen({ place }: { place: RunPlace }) {
  const { t } = useText();
  const answer = useQuery('run.get', { run: place.run });
  const kept = useKept(answer.data);
  const detail = kept?.id === place.run ? kept : answer.data;
  if (detail) return <RunView key={detail.id} detail={detail} place={place} />;
  // An id that no run could have is as missing as one that no run has.
  const missing = answer.error !== null && (answer.error.code === 'not_found' || answer.error.where.field === 'run');
  return (
    <>
      <RunHeader detail={null} title={missing ? t.runMissingTitle : ''} />
      <main className={styles['screen']} aria-busy={answer.fetching}>
        {missing ? (
          <EmptyState title={t.runMissingTitle} text={t.runMissing(visibleText(place.run))}>
            <a className={styles['action']} href={formatPlace({ screen: 'library' })}>
              {t.toRuns}
            </a>
          </EmptyState>
        ) : answer.error ? (
          <div className={styles['centre']}>
            <Problem error={answer.error} />
          </div>
        ) : (
          <div className={styles['skeleton']}>
            <output className="visually-hidden">{t.loading}</output>
            <div className={styles['skeletonPanel']} />
            <div className={styles['skeletonWork']}>
              <div className={styles['skeletonPanel']} />
              <div className={styles['skeletonPanel']} />
            </div>
          </div>
        )}
      </main>
    </>
  );
}
