import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Contract } from '#shared/contract/contract.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import type { Output } from '#shared/rpc/types.ts';
import { writableMatcher } from '#shared/domain/writable.ts';
import { useCommands, type Command } from '#renderer/app/commands.ts';
import { useCommand, useKept, useQuery } from '#renderer/client/use-query.ts';
import { editsOf, TreeEditor } from '#renderer/features/propose/index.ts';
import { OutcomeMark } from '#renderer/features/timeline/index.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { useDrafts } from '#renderer/state/drafts.ts';
import { reasonOf } from '#renderer/state/reason.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import { useUi } from '#renderer/state/store.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { PhraseText } from '#renderer/widgets/PhraseText.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { explain } from '../explain.ts';
import { proposeBlock } from '../propose-block.ts';
import { RunPanelFrame } from './RunPanelFrame.tsx';
import styles from './propose.module.css';

type Made = Output<Contract['run.propose']>;

/** A candidate that a person writes over the head, and what became of the last one. The text stays until it is certified or discarded. */
export function ProposePanel({ detail, data }: { detail: RunDetail; data: RunData }) {
  const { t } = useText();
  const run = detail.id;
  const seq = detail.head?.seq ?? 0;
  const propose = useCommand('run.propose');
  const [made, setMade] = useState<Made | null>(null);
  const [confirming, setConfirming] = useState(false);
  const draft = useDrafts((s) => s.drafts.get(run));
  // The contract of a run never changes inside an era; a refreshed detail brings an equal one in a new object.
  const [{ artifact, instruction }] = useState(detail.contractBody);
  const isWritable = useMemo(() => writableMatcher(artifact), [artifact]);
  const answer = useQuery('run.bundle', { run, seq });
  const base = useKept(answer.data);
  const files = base?.files;
  useEffect(() => {
    if (files) useDrafts.getState().compare(run, files);
  }, [run, files]);

  const changed = draft?.texts.size ?? 0;
  const block = proposeBlock(detail, t);
  const ready = draft !== undefined && block === null && !propose.pending && base?.bundle.seq === seq;
  const { run: callPropose } = propose;
  const submit = useCallback(async () => {
    const current = useDrafts.getState().drafts.get(run);
    if (!ready || current === undefined) return;
    setMade(null);
    // Read and seen against this head: what is compared with it from now on is its own.
    useDrafts.getState().moveTo(run, seq);
    const answered = await callPropose({ run, base: seq, files: editsOf(current) });
    if (!answered) return;
    setMade(answered);
    if (answered.outcome === 'commit') useDrafts.getState().moveTo(run, seq + 1);
    useUi.getState().select(answered.n, 'jump');
  }, [ready, run, seq, callPropose]);
  const commands = useMemo(
    (): Command[] => [
      { id: 'run.submitProposal', name: 'proposeSubmit', keys: ['$mod+Enter'], group: 'run', when: () => ready, run: () => void submit() },
    ],
    [ready, submit],
  );
  useCommands(commands);

  return (
    <RunPanelFrame title={t.proposeTitle(seq)} kind="propose" fill>
      <div className={styles['top']}>
        <Button data-first kind="primary" keys="$mod+Enter" disabled={!ready} onClick={() => void submit()}>
          {propose.pending ? t.proposePending : t.proposeSubmit}
        </Button>
        <span className={styles['count']}>{changed === 0 ? t.proposeNothing : t.proposeChanged(changed)}</span>
        {confirming && changed > 0 ? (
          <>
            <span className={styles['warn']} role="alert">
              {t.proposeConfirmAll(changed)}
            </span>
            <Button
              onClick={() => {
                useDrafts.getState().discard(run);
                setConfirming(false);
              }}
            >
              {t.proposeDiscardYes}
            </Button>
            <Button kind="quiet" onClick={() => setConfirming(false)}>
              {t.proposeKeep}
            </Button>
          </>
        ) : changed > 0 ? (
          <Button kind="quiet" onClick={() => setConfirming(true)}>
            {t.proposeDiscard}
          </Button>
        ) : null}
        <span className={styles['grow']} />
        <span className={styles['quiet']}>{t.proposeEscape}</span>
      </div>
      {block === null ? null : <p className={styles['says']}>{block}</p>}
      {block === null && detail.proposer !== 'human' ? (
        <p className={styles['says']}>{t.proposeOther(t.proposer[detail.proposer])}</p>
      ) : null}
      {draft !== undefined && draft.base < seq ? (
        <output className={styles['says']}>
          <span className={styles['warn']}>{t.proposeMoved(seq)}</span>{' '}
          <Button kind="quiet" onClick={() => useDrafts.getState().moveTo(run, seq)}>
            {t.proposeMovedSeen}
          </Button>
        </output>
      ) : null}
      {propose.error ? (
        <div className={styles['problem']}>
          <Problem error={propose.error} />
        </div>
      ) : null}
      {made === null ? null : <Result made={made} detail={detail} data={data} kept={changed > 0} />}
      {base ? (
        <TreeEditor
          run={run}
          base={{ seq: base.bundle.seq, files: base.files }}
          labels={{ before: t.baseLabel(base.bundle.seq), after: t.proposeCandidate }}
          isWritable={isWritable}
          writable={artifact.writable}
          instruction={instruction}
        />
      ) : answer.error ? (
        <div className={styles['problem']}>
          <Problem error={answer.error} />
        </div>
      ) : (
        <p className={styles['says']}>{t.loading}</p>
      )}
    </RunPanelFrame>
  );
}

/** What became of the last proposal, in the words of the inspector. */
function Result({ made, detail, data, kept }: { made: Made; detail: RunDetail; data: RunData; kept: boolean }) {
  const { t } = useText();
  const stored = useQuery('run.transition', { run: detail.id, n: made.n }).data;
  const reason = data.count >= made.n ? reasonOf(data, made.n) : null;
  const verdict = stored?.verdict ?? null;
  const message = verdict !== null && verdict.kind !== 'ranked' ? verdict.message : '';
  return (
    <output className={styles['result']} data-outcome={made.outcome}>
      <OutcomeMark outcome={made.outcome} size={14} />
      <span className={styles['why']}>
        {reason === null ? t.outcome[made.outcome] : <PhraseText phrase={explain(reason, verdict, t)} />}
        {message === '' ? null : (
          <span className={styles['message']}>
            {' '}
            <Foreign text={message} />
          </span>
        )}{' '}
        {made.stop === null || made.stop === 'user' ? (kept ? t.proposeKept : '') : t.stopped(t.proposeRunEnded, t.stop[made.stop])}
      </span>
      <Button
        kind="quiet"
        onClick={() => {
          useUi.getState().select(made.n, 'jump');
          useUi.getState().setPanel(null);
        }}
      >
        {t.goToTransition(made.n)}
      </Button>
    </output>
  );
}
