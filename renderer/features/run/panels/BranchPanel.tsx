import { useEffect, useState } from 'react';
import type { RunDetail } from '#shared/contract/run.ts';
import { go, runPlace } from '#renderer/app/navigation.ts';
import { useCommand, useQuery } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { inRange, maxAttempts, maxSeed, maxSlots, NumberField } from '#renderer/widgets/NumberField.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { isRefusedHere, needsSandbox, RunsWhere } from '#renderer/widgets/RunsWhere.tsx';
import { UnsandboxedSwitch } from '#renderer/widgets/UnsandboxedSwitch.tsx';
import { RunPanelFrame } from './RunPanelFrame.tsx';
import styles from './panels.module.css';

const none = {};

/** A new run from a certified bundle of this one: what it is given, what will run where, then its own screen. */
export function BranchPanel({ detail, seq }: { detail: RunDetail; seq: number }) {
  const { t } = useText();
  const sandbox = useQuery('app.info', none).data?.sandbox;
  const start = useCommand('run.start');
  const [slots, setSlots] = useState(String(detail.slots));
  const [seed, setSeed] = useState(String(Math.min(maxSeed, detail.seed + 1)));
  const [attempts, setAttempts] = useState('');
  const [unsandboxed, setUnsandboxed] = useState(false);
  const { verifier } = detail.contractBody;
  // Where there is a sandbox it is used, whatever the parent did.
  const offered = needsSandbox(verifier) && sandbox?.available === false;
  const free = offered && unsandboxed;
  const before = detail.header.budget.attempts;
  const ready =
    !isRefusedHere(verifier, sandbox, free) &&
    inRange(slots, 1, maxSlots) &&
    inRange(seed, 0, maxSeed) &&
    (attempts === '' || inRange(attempts, 1, maxAttempts));
  const { cancel } = start;
  // A run that nobody waits for any more does not begin, and nobody is led away from where they went.
  useEffect(() => cancel, [cancel]);
  const submit = async () => {
    if (!ready) return;
    const started = await start.run({
      from: { run: detail.id, seq },
      proposer: detail.proposer,
      slots: Number(slots),
      seed: Number(seed),
      ...(attempts === '' ? {} : { attempts: Number(attempts) }),
      ...(free ? { unsandboxed: true } : {}),
    });
    if (started) go(runPlace(started.run));
  };
  return (
    <RunPanelFrame title={t.branchTitle(seq)} kind="branch">
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <p className={styles['says']}>{t.branchWhat}</p>
        <RunsWhere verifier={verifier} sandbox={sandbox} unsandboxed={free} proposer={detail.proposer} />
        {offered ? <UnsandboxedSwitch checked={unsandboxed} onChange={setUnsandboxed} /> : null}
        <div className={styles['fields']}>
          <NumberField label={t.slotsLabel} help={t.slotsHelp} value={slots} min={1} max={maxSlots} onChange={setSlots} />
          <NumberField label={t.seedLabel} help={t.branchSeedHelp(detail.seed)} value={seed} min={0} max={maxSeed} onChange={setSeed} />
          <NumberField
            label={t.attemptsLabel}
            help={before === null ? '' : t.branchAttemptsHelp(before)}
            placeholder={before === null ? '' : String(before)}
            value={attempts}
            min={1}
            max={maxAttempts}
            optional
            onChange={setAttempts}
          />
        </div>
        <div className={styles['work']}>
          <Button data-first type="submit" kind="primary" disabled={!ready || start.pending}>
            {start.pending ? t.branchStarting : t.branchStart}
          </Button>
          {start.pending ? <Button onClick={start.cancel}>{t.cancel}</Button> : null}
        </div>
        {start.error ? <Problem error={start.error} /> : null}
      </form>
    </RunPanelFrame>
  );
}
