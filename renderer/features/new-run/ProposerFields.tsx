import { Fragment, useId } from 'react';
import type { TaskInfo } from '#shared/contract/task.ts';
import { assertNever } from '#shared/lib/assert.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { NumberField } from '#renderer/widgets/NumberField.tsx';
import type { Field } from './field-error.ts';
import { maxTimeoutS, proposers, withRecord, type Form } from './form.ts';
import { RecordPicker } from './RecordPicker.tsx';
import styles from './new-run.module.css';

const commandRows = 2;

type Props = {
  readonly form: Form;
  readonly task: TaskInfo | undefined;
  /** What the engine says about a field; '' = nothing. */
  readonly errorAt: (field: Field) => string;
  readonly onChange: (form: Form) => void;
};

/** Who proposes, with what each of them is and where it runs, and what the chosen one needs. */
export function ProposerFields({ form, task, errorAt, onChange }: Props) {
  const { t } = useText();
  const group = useId();
  return (
    <fieldset className={styles['group']} aria-label={t.newRunProposer}>
      {proposers.map((kind) => (
        <Fragment key={kind}>
          <label className={styles['kind']}>
            <input
              type="radio"
              name={group}
              checked={form.proposer === kind}
              aria-labelledby={`${group}-${kind}`}
              aria-describedby={`${group}-${kind}-about`}
              onChange={() => onChange({ ...form, proposer: kind })}
            />
            <span>
              <span id={`${group}-${kind}`} className={styles['kindName']}>
                {t.proposer[kind]}
              </span>
              <span id={`${group}-${kind}-about`} className={styles['kindAbout']}>
                {t.proposerAbout[kind]}
              </span>
            </span>
          </label>
          {form.proposer === kind ? <OwnFields form={form} task={task} errorAt={errorAt} onChange={onChange} /> : null}
        </Fragment>
      ))}
    </fieldset>
  );
}

function OwnFields({ form, task, errorAt, onChange }: Props) {
  switch (form.proposer) {
    case 'command':
      return <CommandFields form={form} errorAt={errorAt} onChange={onChange} />;
    case 'recorded':
      return <RecordPicker task={task} chosen={form.record} error={errorAt('record')} onPick={(run) => onChange(withRecord(form, run))} />;
    case 'search':
    case 'human':
      return null;
    default:
      return assertNever(form.proposer, 'proposer');
  }
}

function CommandFields({ form, errorAt, onChange }: Omit<Props, 'task'>) {
  const { t } = useText();
  const id = useId();
  // What is still to be written is not wrong yet.
  const wrong = form.command === '' ? '' : errorAt('command');
  return (
    <div className={styles['own']}>
      <p className={styles['caution']} role="note">
        {t.commandWarning}
      </p>
      <div className={styles['group']}>
        <label htmlFor={id}>{t.commandLabel}</label>
        <textarea
          id={id}
          className={styles['code']}
          rows={commandRows}
          value={form.command}
          spellCheck={false}
          aria-invalid={wrong !== ''}
          aria-describedby={`${id}-help`}
          onChange={(event) => onChange({ ...form, command: event.target.value })}
        />
        <p id={`${id}-help`} className={styles['help']} data-wrong={wrong !== ''}>
          {wrong === '' ? t.commandHelp : visibleText(wrong)}
        </p>
      </div>
      <NumberField
        label={t.commandTimeoutLabel}
        help={t.commandTimeoutHelp}
        error={errorAt('command.timeoutMs')}
        value={form.timeout}
        placeholder="600"
        min={1}
        max={maxTimeoutS}
        optional
        onChange={(timeout) => onChange({ ...form, timeout })}
      />
    </div>
  );
}
