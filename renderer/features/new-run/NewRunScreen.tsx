import { useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { RpcError } from '#shared/contract/errors.ts';
import type { TaskPreflight } from '#shared/contract/preflight.ts';
import type { TaskInfo } from '#shared/contract/task.ts';
import { budgetWith } from '#shared/domain/budget.ts';
import { forecastRun } from '#shared/domain/forecast.ts';
import { useCommands, type Command } from '#renderer/app/commands.ts';
import { formatPlace, go, runPlace } from '#renderer/app/navigation.ts';
import { useCommand, useConnection, useKept, useQuery, useSettled } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { Header } from '#renderer/widgets/Header.tsx';
import { inRange, maxAttempts, maxSeed, maxSlots, NumberField } from '#renderer/widgets/NumberField.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { isRefusedHere, needsSandbox, RunsWhere } from '#renderer/widgets/RunsWhere.tsx';
import { UnsandboxedSwitch } from '#renderer/widgets/UnsandboxedSwitch.tsx';
import { fieldOf, type Field } from './field-error.ts';
import { budgetAsked, emptyForm, revision, slotsOf, startOf, type Choice, type Choices, type Form } from './form.ts';
import { HeaderPreview } from './HeaderPreview.tsx';
import { LimitFields } from './LimitFields.tsx';
import { ProposerFields } from './ProposerFields.tsx';
import { SeedMeasurement } from './SeedMeasurement.tsx';
import { TaskSummary } from './TaskSummary.tsx';
import { UnstableChoices } from './UnstableChoices.tsx';
import styles from './new-run.module.css';

const none = {};
const typingPauseMs = 250;
const noChoices: Choices = new Map();

/** What was chosen, and found, belongs to the folder it was chosen for. */
type ChosenFor = { readonly path: string; readonly choices: Choices };
type Found = ChosenFor & { readonly result: TaskPreflight };

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

const leave = () => go({ screen: 'library' });

/** Everything that a new run is given. Task, header and forecast are read and judged while it is written; nothing runs before it is started. */
export function NewRunScreen() {
  const { t, f } = useText();
  const { engine, cache } = useConnection();
  const app = useQuery('app.info', none).data;
  const samples = app?.samples ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const [form, setForm] = useState<Form>(emptyForm);
  const start = useCommand('run.start');
  const preflight = useCommand('task.preflight');
  const [found, setFound] = useState<Found | null>(null);
  const [chosenFor, setChosenFor] = useState<ChosenFor>({ path: '', choices: noChoices });
  const [unsandboxed, setUnsandboxed] = useState(false);
  const [triedPath, setTriedPath] = useState('');
  const group = useId();
  const formRef = useRef<HTMLFormElement>(null);

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

  // What would be started, as text: the same text is the same start.
  const known = info !== undefined && !refused;
  const wanted = useMemo(() => (known ? startOf(form, path, choices, free) : null), [known, form, path, choices, free]);
  const wantedText = JSON.stringify(wanted);
  const settledText = useSettled(wantedText, typingPauseMs);
  const current = settledText === wantedText;
  const header = useQuery('run.header', current ? wanted : null);
  const keptHeader = useKept(header.data);
  const problem = header.error ?? (start.error?.code === 'unstable' ? null : start.error);
  const field = problem === null ? null : fieldOf(problem);
  const errorAt = (at: Field): string => (field === at ? (problem?.message ?? '') : '');
  const ready = wanted !== null && header.error === null;

  const { run: startRun } = start;
  const shown = current ? header.data?.sha : undefined;
  const submit = useCallback(async () => {
    if (!ready || wanted === null) return;
    setTriedPath(path);
    // Only a header that was seen binds: who is faster than it takes what it is.
    const started = await startRun({ ...wanted, ...(shown === undefined ? {} : { headerSha: shown }) });
    if (started) go(runPlace(started.run));
  }, [ready, wanted, path, shown, startRun]);
  const commands = useMemo(
    (): Command[] => [{ id: 'new.start', name: 'start', keys: ['$mod+Enter'], group: 'run', when: () => ready, run: () => void submit() }],
    [ready, submit],
  );
  useCommands(commands);
  useEffect(() => {
    // From any field, where the command registry keeps still.
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing || document.querySelector('dialog:modal') !== null) return;
      leave();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  // The screen was asked for by a key or a press: writing goes on in its first field.
  const loaded = app !== undefined;
  useEffect(() => {
    if (loaded) formRef.current?.querySelector<HTMLElement>('input:checked, input')?.focus({ preventScroll: true });
  }, [loaded]);
  // What a refused start asks for may stand out of sight.
  const asks = refusedUnstable !== null;
  useEffect(() => {
    if (asks) formRef.current?.querySelector('[data-asks=true]')?.scrollIntoView({ block: 'nearest' });
  }, [asks]);
  const { cancel } = start;
  // A run that nobody waits for any more does not begin, and nobody is led away from where they went.
  useEffect(() => cancel, [cancel]);

  const measure = async () => {
    if (!info || refused) return;
    const slots = slotsOf(form);
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
  const human = form.proposer === 'human';
  const budget = budgetAsked(form);
  const slots = slotsOf(form);
  const forecast =
    info && budget && inRange(slots, 1, maxSlots)
      ? forecastRun(budgetWith(info.budget, budget), {
          slots: Number(slots),
          measurement: info.contract.measurement,
          verifierMs: measured?.result.verifier?.medianMs ?? 0,
        })
      : null;
  const timeCounts = measured?.result.verifier == null && (info?.budget.wallMs != null || info?.budget.verifierMs != null);

  return (
    <>
      <Header crumb={{ text: t.navLibrary, href: formatPlace({ screen: 'library' }) }} title={t.newRunTitle} />
      <main className={styles['screen']}>
        <form
          ref={formRef}
          className={styles['form']}
          aria-label={t.newRunTitle}
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <div className={styles['columns']}>
            <div className={styles['column']}>
              <section className={styles['section']} aria-label={t.newRunTask}>
                <h2>{t.newRunTask}</h2>
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
                {task.error ? <Problem error={task.error} onRetry={() => cache.refresh('task.inspect')} /> : null}
              </section>
              <section className={styles['section']} aria-label={t.newRunProposer}>
                <h2>{t.newRunProposer}</h2>
                <ProposerFields form={form} task={info} errorAt={errorAt} onChange={setForm} />
              </section>
              <section className={styles['section']} aria-label={t.newRunBudget}>
                <h2>{t.newRunBudget}</h2>
                <div className={styles['numbers']}>
                  {human ? (
                    <p className={styles['quiet']}>{t.slotsHuman}</p>
                  ) : (
                    <NumberField
                      label={t.slotsLabel}
                      help={t.slotsHelp}
                      error={errorAt('slots')}
                      value={form.slots}
                      min={1}
                      max={maxSlots}
                      onChange={(value) => setForm({ ...form, slots: value })}
                    />
                  )}
                  <NumberField
                    label={t.seedLabel}
                    help={t.seedOf[form.proposer]}
                    error={errorAt('seed')}
                    value={form.seed}
                    min={0}
                    max={maxSeed}
                    onChange={(seed) => setForm({ ...form, seed })}
                  />
                  <NumberField
                    label={t.attemptsLabel}
                    help={info?.budget.attempts ? t.attemptsHelp(info.budget.attempts) : ''}
                    error={errorAt('attempts')}
                    placeholder={info?.budget.attempts ? String(info.budget.attempts) : ''}
                    value={form.attempts}
                    min={1}
                    max={maxAttempts}
                    optional
                    onChange={(attempts) => setForm({ ...form, attempts })}
                  />
                </div>
                {info ? <LimitFields form={form} budget={info.budget} error={errorAt('limits')} onChange={setForm} /> : null}
              </section>
            </div>
            <div className={styles['column']}>
              {asked === '' || task.error ? null : <TaskSummary info={info} proposer={form.proposer} />}
              {info ? (
                <div className={styles['section']}>
                  <RunsWhere verifier={info.contract.verifier} sandbox={app?.sandbox} unsandboxed={free} proposer={form.proposer} />
                  {offered ? <UnsandboxedSwitch checked={unsandboxed} onChange={setUnsandboxed} /> : null}
                  {errorAt('unsandboxed') === '' ? null : <p className={styles['wrong']}>{errorAt('unsandboxed')}</p>}
                </div>
              ) : null}
              {info ? (
                <section className={styles['section']} aria-label={t.forecastTitle}>
                  <h2>{t.forecastTitle}</h2>
                  <div className={styles['measure']}>
                    <Button disabled={refused || preflight.pending} onClick={() => void measure()}>
                      {preflight.pending ? t.preflightRunning : t.preflight}
                    </Button>
                    {preflight.pending ? <Button onClick={preflight.cancel}>{t.cancel}</Button> : null}
                  </div>
                  {preflight.error ? <Problem error={preflight.error} /> : null}
                  {measured ? <SeedMeasurement found={measured.result} stale={measured.choices !== choices} /> : null}
                  {unstable.length > 0 ? (
                    <UnstableChoices keys={unstable} choices={choices} refused={refusedUnstable !== null} onChange={choose} />
                  ) : null}
                  {forecast === null ? null : (
                    <p data-testid="forecast">
                      {t.preflightForecast(forecast.attempts, t.budget[forecast.dimension])}{' '}
                      {forecast.few ? <span className={styles['warn']}>{t.preflightFew}</span> : null}{' '}
                      {timeCounts ? <span className={styles['quiet']}>{t.forecastUnmeasured}</span> : null}
                    </p>
                  )}
                </section>
              ) : null}
              <HeaderPreview
                header={keptHeader ?? null}
                stale={!current || header.data === undefined}
                impossible={info === undefined || wanted === null || header.error !== null}
              />
            </div>
          </div>
          {problem !== null && field === null ? (
            <div className={styles['problem']}>
              <Problem error={problem} />
            </div>
          ) : null}
          <div className={styles['foot']}>
            <Button type="submit" kind="primary" className={styles['start']} keys="$mod+Enter" disabled={!ready || start.pending}>
              {start.pending ? t.starting : t.start}
            </Button>
            {start.pending ? <Button onClick={start.cancel}>{t.cancel}</Button> : null}
            <span className={styles['quiet']}>
              {ready && !start.pending ? t.startMeans(human, f.int(info?.contract.measurement.preflightRuns ?? 1)) : ''}
            </span>
            <span className={styles['grow']} />
            <Button kind="quiet" keys="Escape" onClick={leave}>
              {t.cancel}
            </Button>
          </div>
        </form>
      </main>
    </>
  );
}
