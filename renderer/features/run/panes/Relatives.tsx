import type { BundleRef } from '#shared/contract/replay.ts';
import { formatPlace, runPlace } from '#renderer/app/navigation.ts';
import { useQuery } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { useUi } from '#renderer/state/store.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { shortRun } from '#renderer/widgets/run-name.ts';
import shared from '../records.module.css';
import styles from './panes.module.css';

const shown = 50;

/** The run that this one branched from, and those that branched from it. `seq`: the bundle that is looked at. */
export function Relatives({ run, seq }: { run: string; seq: number | null }) {
  const { t } = useText();
  const relatives = useQuery('run.relatives', { run }).data;
  if (!relatives) return null;
  const { parent, branches } = relatives;
  return (
    <section>
      <h2 className={shared['heading']}>{t.relatives}</h2>
      {parent === null && branches.length === 0 ? (
        <p className={styles['quiet']}>{t.relativesNone}</p>
      ) : (
        <table className={shared['table']}>
          <thead>
            <tr>
              <th>{t.relRun}</th>
              <th>{t.relAt}</th>
              <th>{t.colStatus}</th>
              <th className={styles['number']}>{t.headPotential}</th>
              <th className={styles['number']}>{t.colCommits}</th>
              <th className={styles['number']}>{t.compare}</th>
            </tr>
          </thead>
          <tbody>
            {parent ? <Relative run={parent.run} at={parent} what={t.relParent} here={false} /> : null}
            {branches.slice(0, shown).map((branch) => (
              <Relative key={branch.run} run={branch.run} at={branch} what={null} here={branch.seq === seq} />
            ))}
          </tbody>
        </table>
      )}
      {branches.length > shown ? <p className={styles['quiet']}>{t.relMore(branches.length - shown)}</p> : null}
    </section>
  );
}

type RelativeProps = { readonly run: string; readonly at: BundleRef; readonly what: string | null; readonly here: boolean };

function Relative({ run, at, what, here }: RelativeProps) {
  const { t, f } = useText();
  const summary = useQuery('run.get', { run }).data;
  return (
    <tr>
      <td>
        {what === null ? null : <span className={styles['text']}>{what} </span>}
        <a className={styles['link']} href={formatPlace(runPlace(run))} title={run}>
          {shortRun(run)}
        </a>
      </td>
      <td>{here ? t.relHere : t.bundleName(at.seq)}</td>
      <td>{summary ? (summary.stop === null ? t.status[summary.status] : t.stop[summary.stop]) : ''}</td>
      <td className={styles['number']}>{summary?.head ? f.int(summary.head.potential) : ''}</td>
      <td className={styles['number']}>{summary ? `${f.int(summary.counts.commit)} / ${f.int(summary.transitions)}` : ''}</td>
      <td className={styles['number']}>
        <Button
          kind="quiet"
          aria-label={`${t.compare} ${shortRun(run)}`}
          onClick={() => useUi.getState().setPanel({ kind: 'compare', other: run })}
        >
          {t.compare}
        </Button>
      </td>
    </tr>
  );
}
