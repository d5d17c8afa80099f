import { useEffect, useId, useState } from 'react';
import { X } from 'lucide-react';
import { useConnection, useCommand, useQuery, useSettled } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { NumberField, inRange } from './NumberField.tsx';
import { TaskSummary } from './TaskSummary.tsx';
import styles from './NewRunPanel.module.css';

const none = {};
const typingPauseMs = 250;
const maxSlots = 64;
const maxSeed = Number.MAX_SAFE_INTEGER;
const maxAttempts = 1_000_000_000;

type Props = { readonly alone: boolean; readonly onStarted: (run: string) => void; readonly onClose: () => void };

/** Everything that a new run is given; the task is read and judged while it is chosen. */
export function NewRunPanel({ alone, onStarted, onClose }: Props) {
  const { t } = useText();
  const { engine, cache } = useConnection();
  const samples = useQuery('app.info', none).data?.samples ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const [slots, setSlots] = useState('4');
  const [seed, setSeed] = useState('1');
  const [attempts, setAttempts] = useState('');
  const start = useCommand('run.start');
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
  const ready =
    info !== undefined &&
    info.operators.length > 0 &&
    inRange(slots, 1, maxSlots) &&
    inRange(seed, 0, maxSeed) &&
    (attempts === '' || inRange(attempts, 1, maxAttempts));

  const submit = async () => {
    if (!ready) return;
    const limit = attempts === '' ? {} : { attempts: Number(attempts) };
    const started = await start.run({ task: path, proposer: 'search', slots: Number(slots), seed: Number(seed), ...limit });
    if (!started) return;
    onClose();
    onStarted(started.run);
  };
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
                {sample.title}
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
          {start.error ? <Problem error={start.error} /> : null}
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
