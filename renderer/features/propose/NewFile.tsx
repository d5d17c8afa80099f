import { useId, useState } from 'react';
import type { IsWritable } from '#shared/domain/writable.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { newPathProblem, type CandidateFile } from './candidate.ts';
import styles from './propose.module.css';

type Props = {
  readonly files: readonly CandidateFile[];
  readonly isWritable: IsWritable;
  /** The globs that the check is made with, for people. */
  readonly writable: readonly string[];
  readonly onAdd: (path: string) => void;
  readonly onClose: () => void;
};

/** Asks for the path of a new file, and says at once when it cannot be one. */
export function NewFile({ files, isWritable, writable, onAdd, onClose }: Props) {
  const { t } = useText();
  const [path, setPath] = useState('');
  const id = useId();
  const problem = path === '' ? null : newPathProblem(path, files, isWritable);
  const says = {
    bad: t.proposeNewBad,
    exists: t.proposeNewExists,
    unwritable: t.proposeNewUnwritable(visibleText(writable.join(', '))),
  };
  return (
    <form
      className={styles['newFile']}
      onSubmit={(event) => {
        event.preventDefault();
        if (path !== '' && problem === null) onAdd(path);
      }}
    >
      <label htmlFor={id}>{t.proposeNewPath}</label>
      <input
        id={id}
        className={styles['input']}
        ref={focusFirst}
        value={path}
        spellCheck={false}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem`}
        onChange={(event) => setPath(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
          // The panel would close with it.
          event.stopPropagation();
          onClose();
        }}
      />
      <Button type="submit" disabled={path === '' || problem !== null}>
        {t.proposeNewAdd}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {t.cancel}
      </Button>
      <output id={`${id}-problem`} className={styles['wrong']}>
        {problem === null ? '' : says[problem]}
      </output>
    </form>
  );
}

/** The field was asked for: writing goes on in it. */
const focusFirst = (input: HTMLInputElement | null) => input?.focus();
