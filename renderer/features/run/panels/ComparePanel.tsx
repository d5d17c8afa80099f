import { useEffect, useMemo, useState } from 'react';
import { asRpcError, type RpcError } from '#shared/contract/errors.ts';
import type { RunDivergence } from '#shared/contract/replay.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import { go, runPlace } from '#renderer/app/navigation.ts';
import { useConnection, useQuery, useStable } from '#renderer/client/use-query.ts';
import { OutcomeMark } from '#renderer/features/timeline/index.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { compareRuns, shownAttempts, type Attempt, type Comparison, type RunReader } from '#renderer/state/comparison.ts';
import { useUi } from '#renderer/state/store.ts';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { shortRun } from '#renderer/widgets/run-name.ts';
import { RunPanelFrame } from './RunPanelFrame.tsx';
import { Staircases } from './Staircases.tsx';
import styles from './compare.module.css';
import panel from './panels.module.css';

/** This run and a related one, attempt by attempt from the certified bundle that both come from. */
export function ComparePanel({ detail, other }: { detail: RunDetail; other: string }) {
  const { t } = useText();
  const answer = useQuery('run.divergence', { a: detail.id, b: other });
  const divergence = answer.data;
  return (
    <RunPanelFrame title={t.compareTitle(shortRun(other))} kind="view">
      {answer.error ? (
        <Problem error={answer.error} />
      ) : divergence === undefined ? (
        <p className={panel['quiet']}>{t.loading}</p>
      ) : divergence.common === null ? (
        <p>{t.compareNoCommon}</p>
      ) : (
        <Sides detail={detail} other={other} common={divergence.common} first={divergence.first} />
      )}
    </RunPanelFrame>
  );
}

type SidesProps = {
  readonly detail: RunDetail;
  readonly other: string;
  readonly common: NonNullable<RunDivergence['common']>;
  readonly first: RunDivergence['first'];
};

function Sides({ detail, other, common, first }: SidesProps) {
  const { t } = useText();
  const { data, error } = useComparison(detail, other, common, first);
  if (error) return <Problem error={error} />;
  if (!data) return <p className={panel['quiet']}>{t.loading}</p>;
  const at = first?.index ?? null;
  const rows = Math.max(data.a.length, data.b.length);
  const says =
    first === null
      ? null
      : first.fields.length === 0
        ? t.compareFirstEnd
        : t.compareFirst(first.fields.map((field) => t.compareField[field]).join(', '));
  return (
    <>
      <p className={panel['says']}>
        {t.compareFrom(common.seq, shortRun(common.run))} {at === null ? t.compareSame(Math.max(...data.lengths)) : t.compareAlike(at)}
      </p>
      <Staircases stairs={data.stairs} lengths={data.lengths} at={at} />
      <table className={styles['table']}>
        <thead>
          <tr>
            <th className={panel['number']}>{t.compareAttempt}</th>
            <th>
              {t.compareThis} <code title={detail.id}>{shortRun(detail.id)}</code>
            </th>
            <th>
              {t.compareOther} <code title={other}>{shortRun(other)}</code>
            </th>
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, i) => {
            const index = data.from + i;
            return <Row key={index} index={index} a={data.a[i]} b={data.b[i]} run={detail.id} mark={index === at ? says : null} />;
          })}
        </tbody>
      </table>
      {rows === shownAttempts ? <p className={panel['quiet']}>{t.compareRest(rows)}</p> : null}
    </>
  );
}

type RowProps = {
  readonly index: number;
  readonly a: Attempt | undefined;
  readonly b: Attempt | undefined;
  readonly run: string;
  readonly mark: string | null;
};

function Row({ index, a, b, run, mark }: RowProps) {
  const { f } = useText();
  return (
    <>
      {mark === null ? null : (
        <tr className={styles['mark']}>
          <td colSpan={3}>{mark}</td>
        </tr>
      )}
      <tr data-first={mark !== null}>
        <td className={panel['number']}>{f.int(index + 1)}</td>
        <Side attempt={a} run={run} />
        <Side attempt={b} run={run} />
      </tr>
    </>
  );
}

/** An attempt of one side; pressing it goes there, in this run or in the other. */
function Side({ attempt, run }: { attempt: Attempt | undefined; run: string }) {
  const { t, f } = useText();
  if (!attempt) return <td className={panel['quiet']}>{t.compareEnded}</td>;
  const { row } = attempt;
  const visit = () => {
    if (attempt.run === run) useUi.getState().select(row.n, 'jump');
    else go({ ...runPlace(attempt.run), n: row.n });
  };
  return (
    <td>
      <button type="button" className={styles['attempt']} onClick={visit} title={`${attempt.run}\n${t.goToTransition(row.n)}`}>
        <OutcomeMark outcome={row.outcome} />
        <span className={styles['n']}>{f.int(row.n)}</span>
        <span className={styles['outcome']}>{t.outcome[row.outcome]}</span>
        <span className={styles['potential']}>{row.rank === null ? '' : f.int(row.rank.reduce((sum, value) => sum + value, 0))}</span>
      </button>
    </td>
  );
}

/** Reads both sides again whenever the first difference or the length of this run changes. */
function useComparison(detail: RunDetail, other: string, common: SidesProps['common'], first: SidesProps['first']) {
  const { cache, engine } = useConnection();
  const { id, transitions } = detail;
  const [state, setState] = useState<{ readonly data: Comparison | null; readonly error: RpcError | null }>({ data: null, error: null });
  const read = useMemo(
    (): RunReader => ({
      parent: async (run) => (await cache.load('run.relatives', { run })).parent,
      madeBy: async (ref) => (await cache.load('run.bundle', { run: ref.run, seq: ref.seq })).bundle.transition,
      // Not from the cache, which takes pages for full: that of a run that goes on may not be.
      page: (run, after, limit) => engine.call('run.page', { run, after, limit }),
      transitions: async (run) => (run === id ? transitions : (await cache.load('run.get', { run })).transitions),
      chain: (run) => cache.load('run.chain', { run }),
    }),
    [cache, engine, id, transitions],
  );
  // An answer that says the same is still a new object each time.
  const meeting = useStable({ common, first });
  useEffect(() => {
    let current = true;
    const load = async () => {
      const { run, seq } = meeting.common;
      const { bundle } = await cache.load('run.bundle', { run, seq });
      return compareRuns(read, id, other, meeting, bundle.potential);
    };
    load().then(
      (data) => {
        if (current) setState({ data, error: null });
      },
      (cause: unknown) => {
        const error = asRpcError(cause);
        if (current) setState({ data: null, error });
      },
    );
    return () => {
      current = false;
    };
  }, [cache, read, id, other, meeting]);
  return state;
}
