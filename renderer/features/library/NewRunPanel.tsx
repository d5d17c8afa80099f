import { useEffect, useId, useState } from 'react';
import { X } from 'lucide-react';
import type { RpcError } from '#shared/contract/errors.ts';
import type { RevisionChoices, TaskPreflight } from '#shared/contract/preflight.ts';
import type { TaskInfo } from '#shared/contract/task.ts';
import { useConnection, useCommand, useQuery, useSettled } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { inRange, maxAttempts, maxSeed, maxSlots, NumberField } from '#renderer/widgets/NumberField.tsx';
import { isRefusedHere, needsSandbox, RunsWhere } from '#renderer/widgets/RunsWhere.tsx';
import { UnsandboxedSwitch } from '#renderer/widgets/UnsandboxedSwitch.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { SeedMeasurement, type Choice } from './SeedMeasurement.tsx';
import { UnstableChoices } from './UnstableChoices.tsx';
import { TaskSummary } from './TaskSummary.tsx';
import styles from './NewRunPanel.module.css';

const none = {};
const typingPauseMs = 250;

type Choices = ReadonlyMap<string, Choice>;
const noChoices: Choices = new Map();
/** What was chosen, and found, belongs to the folder it was chosen for. */
type ChosenFor = { readonly path: string; readonly choices: Choices };
type Found = ChosenFor & { readonly result: TaskPreflight };

function revision(choices: Choices): RevisionChoices {
  const keys = (wanted: Choice) => [...choices].flatMap(([key, choice]) => (choice === wanted ? [key] : []));
  const [quarantine, median] = [keys('quarantine'), keys('median')];
  return { ...(quarantine.length > 0 ? { quarantine } : {}), ...(median.length > 0 ? { median } : {}) };
}

/** Obligations of the task that a refused start or a measurement has named, and those about which something was chosen already. */
function unstableKeys({ contract }: TaskInfo, refused: RpcError | null, found: TaskPreflight | null, choices: Choices): string[] {
  const measured = new Set(found?.obligations.flatMap(({ key, stable }) => (stable ? [] : [key])));
  // The error names the first in `field`, and every one at the beginning of a line of its message.
  const lines = refused?.message.split('\n') ?? [];
  return contract.obligations
    .map(({ key }) => key)
    .filter(
      (key) =>
        choices.has(key) ||
        measured.has(key) ||
        refused?.where.field === key ||
        lines.some((line) => line.startsWith(`${key} took the values `)),
    );
}

type Props = { readonly alone: boolean; readonly onStarted: (run: string) => void; readonly onClose: () => void };

/** Everything that a new run is given; the task is read and judged while it is chosen. */
export function NewRunPanel({ alone, onStarted, onClose }: Props) {
  const { t } = useText();
  const { engine, cache } = useConnection();
  const app = useQuery('app.info', none).data;
  const samples = app?.samples ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const [slots, setSlots] = useState('4');
  const [seed, setSeed] = useState('1');
  const [attempts, setAttempts] = useState('');
  const start = useCommand('run.start');
  const preflight = useCommand('task.preflight');
  const [found, setFound] = useState<Found | null>(null);
  const [chosenFor, setChosenFor] = useState<ChosenFor>({ path: '', choices: new Map() });
  const [unsandboxed, setUnsandboxed] = useState(false);
  const [triedPath, setTriedPath] = useState('');
  const group = useId();
  useEffect(() => {
    // From any field of the panel, where the command registry keeps still.
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) onClose();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onClose]);

  const path = chosen ?? (typed.trim() === '' ? (samples[0]?.path ?? '') : typed.trim());
  const typedPath = useSettled(path, typingPauseMs);
  const asked = chosen ?? typedPath;
  const task = useQuery('task.inspect', asked === '' ? null : { path: asked });
  const info = asked !== path || task.error ? undefined : task.data;
  const choices = chosenFor.path === path ? chosenFor.choices : noChoices;
  const measured = found?.path === path ? found : null;
  const verifier = info?.contract.verifier;
  const offered = verifier !== undefined && needsSandbox(verifier) && app?.sandbox.available === false;
  const free = offered && unsandboxed;
  const refused = verifier !== undefined && isRefusedHere(verifier, app?.sandbox, free);
  const refusedUnstable = start.error?.code === 'unstable' && triedPath === path ? start.error : null;
  const unstable = info ? unstableKeys(info, refusedUnstable, measured?.result ?? null, choices) : [];
  const ready =
    info !== undefined &&
    !refused &&
    info.operators.length > 0 &&
    inRange(slots, 1, maxSlots) &&
    inRange(seed, 0, maxSeed) &&
    (attempts === '' || inRange(attempts, 1, maxAttempts));

  const submit = async () => {
    if (!ready) return;
    setTriedPath(path);
    const started = await start.run({
      task: path,
      proposer: 'search',
      slots: Number(slots),
      seed: Number(seed),
      ...(attempts === '' ? {} : { attempts: Number(attempts) }),
      ...revision(choices),
      ...(free ? { unsandboxed: true } : {}),
    });
    if (!started) return;
    onClose();
    onStarted(started.run);
  };
  const measure = async () => {
    if (!info || refused) return;
    const result = await preflight.run({
      path,
      ...(inRange(slots, 1, maxSlots) ? { slots: Number(slots) } : {}),
      ...revision(choices),
      ...(free ? { unsandboxed: true } : {}),
    });
    if (result) setFound({ path, choices, result });
  };
  const choose = (key: string, choice: Choice) => setChosenFor({ path, choices: new Map(choices).set(key, choice) });
  const browse = async () => {
    const picked = await engine.desktop.pickFolder(t.folderPickTitle);
    if (picked === null) return;
    setChosen(null);
    setTyped(picked);
  };

  return (
    <aside className={styles['panel']} data-alone={alone} aria-label={t.newRunTitle}>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div className={styles['head']}>
          <h2>{t.newRunTitle}</h2>
          <button type="button" className={styles['close']} onClick={onClose} aria-label={t.close} title={t.close}>
            <X size={15} aria-hidden="true" />
          </button>
        </div>
        <div className={styles['body']}>
          <fieldset className={styles['group']}>
            <legend>{t.samplesLabel}</legend>
            {samples.map((sample) => (
              <label key={sample.id} className={styles['sample']}>
                <input
                  type="radio"
                  name={group}
                  checked={path === sample.path}
                  onChange={() => {
                    setChosen(sample.path);
                    setTyped('');
                  }}
                />
                <Foreign text={sample.title} />
              </label>
            ))}
          </fieldset>
          <div className={styles['group']}>
            <label htmlFor={`${group}-path`}>{t.folderLabel}</label>
            <span className={styles['path']}>
              <input
                id={`${group}-path`}
                className={styles['input']}
                value={typed}
                placeholder={t.folderPlaceholder}
                spellCheck={false}
                onChange={(event) => {
                  setTyped(event.target.value);
                  setChosen(null);
                }}
              />
              {engine.desktop.kind === 'electron' ? <Button onClick={() => void browse()}>{t.browse}</Button> : null}
            </span>
          </div>
          <TaskSummary path={asked} task={task} onRetry={() => cache.refresh('task.inspect')} />
          {info ? <RunsWhere verifier={info.contract.verifier} sandbox={app?.sandbox} unsandboxed={free} proposer="search" /> : null}
          {offered ? <UnsandboxedSwitch checked={unsandboxed} onChange={setUnsandboxed} /> : null}
          {info ? (
            <div className={styles['measure']}>
              <Button disabled={refused || preflight.pending} onClick={() => void measure()}>
                {preflight.pending ? t.preflightRunning : t.preflight}
              </Button>
              {preflight.pending ? <Button onClick={preflight.cancel}>{t.cancel}</Button> : null}
            </div>
          ) : null}
          {preflight.error ? <Problem error={preflight.error} /> : null}
          {measured ? <SeedMeasurement found={measured.result} stale={measured.choices !== choices} /> : null}
          {unstable.length > 0 ? (
            <UnstableChoices keys={unstable} choices={choices} refused={refusedUnstable !== null} onChange={choose} />
          ) : null}
          <div className={styles['numbers']}>
            <NumberField label={t.slotsLabel} help={t.slotsHelp} value={slots} min={1} max={maxSlots} onChange={setSlots} />
            <NumberField label={t.seedLabel} help={t.seedHelp} value={seed} min={0} max={maxSeed} onChange={setSeed} />
            <NumberField
              label={t.attemptsLabel}
              help={info?.budget.attempts ? t.attemptsHelp(info.budget.attempts) : ''}
              placeholder={info?.budget.attempts ? String(info.budget.attempts) : ''}
              value={attempts}
              min={1}
              max={maxAttempts}
              optional
              onChange={setAttempts}
            />
          </div>
          {start.error && refusedUnstable === null ? <Problem error={start.error} /> : null}
        </div>
        <div className={styles['foot']}>
          <button type="submit" className={styles['start']} disabled={!ready || start.pending}>
            {start.pending ? t.starting : t.start}
          </button>
        </div>
      </form>
    </aside>
  );
}
