import type { CertifiedBundle } from '#shared/domain/bundle.ts';
import type { RunDetail, TransitionDetail } from '#shared/contract/run.ts';
import { useQuery } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Hash } from '#renderer/widgets/Hash.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { BundleActions } from './BundleActions.tsx';
import { Relatives } from './Relatives.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import styles from './panes.module.css';

/** The bundle that this transition certified, or the one it was tried on. */
export function BundlePane({ run: { id: run }, detail }: { run: RunDetail; detail: TransitionDetail }) {
  const { t } = useText();
  const base = useQuery('run.bundle', { run, seq: detail.baseSeq });
  const shown = detail.bundle ?? base.data?.bundle;
  return (
    <div className={styles['pane']}>
      {detail.bundle ? null : <p className={styles['quiet']}>{t.bundleNone}</p>}
      {shown ? (
        <BundleFacts bundle={shown} />
      ) : base.error ? (
        <Problem error={base.error} />
      ) : (
        <p className={styles['quiet']}>{t.loading}</p>
      )}
      {shown ? <BundleActions seq={shown.seq} /> : null}
      <Relatives run={run} seq={shown?.seq ?? null} />
    </div>
  );
}

function BundleFacts({ bundle }: { bundle: CertifiedBundle }) {
  const { t, f } = useText();
  return (
    <dl className={styles['facts']}>
      <dt>{t.bundleSeq}</dt>
      <dd>{f.int(bundle.seq)}</dd>
      <dt>{t.timelinePotential}</dt>
      <dd>{f.int(bundle.potential)}</dd>
      <dt>{t.bundleId}</dt>
      <dd>
        <Hash value={bundle.id} />
      </dd>
      <dt>{t.bundleParent}</dt>
      <dd>{bundle.parent === null ? t.none : <Hash value={bundle.parent} />}</dd>
      <dt>{t.bundleTree}</dt>
      <dd>
        <Hash value={bundle.tree} />
      </dd>
      <dt>{t.bundleContract}</dt>
      <dd>
        <Hash value={bundle.contract} />
      </dd>
      <dt>{t.bundleHeader}</dt>
      <dd>
        <Hash value={bundle.header} />
      </dd>
      <dt>{t.bundleSummary}</dt>
      <dd className={styles['lines']}>
        <Foreign text={bundle.summaryText} />
      </dd>
    </dl>
  );
}
