import { useState } from 'react';
import type { BundleReplay } from '#shared/contract/replay.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import type { Rank } from '#shared/domain/verdict.ts';
import { useCommand, useConnection, useQuery } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { isRefusedHere, RunsWhere } from '#renderer/widgets/RunsWhere.tsx';
import { TamperEvident } from '#renderer/widgets/TamperEvident.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { RunPanelFrame } from './RunPanelFrame.tsx';
import shared from '../records.module.css';
import styles from './panels.module.css';

const none = {};
const tones = { match: 'good', drift: 'bad', flake: 'warn', no_verdict: 'warn' } as const;

/** Measuring a certified bundle again: first what would run where, then what came out beside what was certified. */
export function VerifyPanel({ detail, seq }: { detail: RunDetail; seq: number }) {
  const { t } = useText();
  const { cache } = useConnection();
  const sandbox = useQuery('app.info', none).data?.sandbox;
  const verify = useCommand('replay.verifyBundle');
  const [result, setResult] = useState<BundleReplay | null>(null);
  const { verifier } = detail.contractBody;
  const unsandboxed = detail.header.unsandboxed === true;
  const refused = isRefusedHere(verifier, sandbox, unsandboxed);
  const start = async () => {
    setResult(null);
    const answer = await verify.run({ run: detail.id, seq });
    cache.refresh('replay.reverifications');
    if (answer) setResult(answer);
  };
  return (
    <RunPanelFrame title={t.verifyTitle(seq)} kind="verify">
      <div className={styles['split']}>
        <div>
          <p className={styles['says']}>{t.verifyWhat}</p>
          <RunsWhere verifier={verifier} sandbox={sandbox} unsandboxed={unsandboxed} />
          <div className={styles['work']}>
            <Button data-first kind="primary" disabled={refused || verify.pending} onClick={() => void start()}>
              {verify.pending ? t.verifyRunning : t.verifyStart}
            </Button>
            {verify.pending ? <Button onClick={verify.cancel}>{t.cancel}</Button> : null}
            {verify.cancelled ? <output>{t.verifyCancelled}</output> : null}
          </div>
          {verify.error ? <Problem error={verify.error} /> : null}
        </div>
        <div className={styles['found']}>
          {result ? <Result result={result} detail={detail} /> : null}
          <Earlier run={detail.id} seq={seq} />
        </div>
      </div>
    </RunPanelFrame>
  );
}

function Result({ result, detail }: { result: BundleReplay; detail: RunDetail }) {
  const { t, f } = useText();
  const tamper = isTamperEvidentOnly(detail.contractBody, detail.header.unsandboxed === true);
  return (
    <section className={styles['card']} aria-label={t.verifyResult[result.result]}>
      <output className={styles['result']} data-tone={tones[result.result]}>
        {t.verifyResult[result.result]}
      </output>
      {result.message === null ? null : (
        <p className={styles['says']}>
          <Foreign text={result.message} />
        </p>
      )}
      {result.coordinates.length > 0 ? (
        <table className={shared['table']}>
          <thead>
            <tr>
              <th>{t.obligation}</th>
              <th className={styles['number']}>{t.verifyRecorded}</th>
              <th className={styles['number']}>{t.verifyNow}</th>
              <th>{t.verifyWhyHead}</th>
            </tr>
          </thead>
          <tbody>
            {result.coordinates.map((one) => (
              <tr key={one.key} data-tone={tones[one.result]}>
                <td>
                  <Foreign text={one.key} /> {tamper ? <TamperEvident /> : null}
                </td>
                <td className={styles['number']}>{f.int(one.certified)}</td>
                <td className={styles['number']}>{one.again.map((value) => f.int(value)).join(', ')}</td>
                <td>{t.verifyWhy[one.result]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      <p className={styles['quiet']}>{t.verifyUnchanged}</p>
    </section>
  );
}

/** Every execution that re-verifying this bundle has come to so far. */
function Earlier({ run, seq }: { run: string; seq: number }) {
  const { t, f } = useText();
  const records = useQuery('replay.reverifications', { run, seq }).data ?? [];
  const certified = useQuery('run.bundle', { run, seq }).data?.bundle.rank;
  if (records.length === 0 || !certified) return null;
  const same = (rank: Rank) => rank.length === certified.length && rank.every((value, i) => value === certified[i]);
  return (
    <section>
      <h3 className={shared['heading']}>{t.verifyEarlier(records.length)}</h3>
      <table className={shared['table']}>
        <thead>
          <tr>
            <th>{t.verifyStarted}</th>
            <th className={styles['number']}>{t.verifyTook}</th>
            <th>{t.verifyGave}</th>
          </tr>
        </thead>
        <tbody>
          {records.toReversed().map((one) => (
            <tr key={one.id}>
              <td>{f.dateTime(one.startedAt)}</td>
              <td className={styles['number']}>{f.duration(one.durationMs)}</td>
              <td>{one.rank === null ? <code>{one.result}</code> : same(one.rank) ? t.verifySameRank : t.verifyOtherRank}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
