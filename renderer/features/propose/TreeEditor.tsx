import { useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import type { Sha } from '#shared/domain/ids.ts';
import type { Manifest } from '#shared/domain/tree.ts';
import type { IsWritable } from '#shared/domain/writable.ts';
import { assertNever } from '#shared/lib/assert.ts';
import { createBlobCache } from '#renderer/features/diff/index.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import type { Dictionary } from '#renderer/i18n/dictionary.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { useDrafts, type Draft } from '#renderer/state/drafts.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { CodeEdit, type CodeEditHandle, type EditedFile } from '#renderer/widgets/CodeEdit.tsx';
import { candidateFiles, mixesLineEnds, type CandidateFile } from './candidate.ts';
import { FileList } from './FileList.tsx';
import { NewFile } from './NewFile.tsx';
import { type BaseText, useBaseText } from './use-base-text.ts';
import styles from './propose.module.css';
import { messageOf } from '#shared/lib/message-of.ts';

const blobs = createBlobCache();

type Props = {
  readonly run: string;
  /** The certified tree that the candidate is written over. */
  readonly base: { readonly seq: number; readonly files: Manifest };
  readonly labels: { readonly before: string; readonly after: string };
  readonly isWritable: IsWritable;
  readonly writable: readonly string[];
  /** Hash of what the task asks for, in words. */
  readonly instruction: Sha;
};

/** The files of a candidate: a list, and the chosen one beside what it was. What is written is kept in the draft of the run. */
export function TreeEditor({ run, base, labels, isWritable, writable, instruction }: Props) {
  const { t } = useText();
  const draft = useDrafts((s) => s.drafts.get(run));
  const [path, setPath] = useState<string | null>(null);
  const [adding, setAdding] = useState(false);
  const [reading, setReading] = useState(false);
  const editor = useRef<CodeEditHandle>(null);
  const root = useRef<HTMLDivElement>(null);
  const files = candidateFiles(base.files, draft, isWritable);
  const current =
    files.find((file) => file.path === path) ??
    files.find(({ writable, state }) => writable && state !== 'unchanged') ??
    files.find((file) => file.writable) ??
    files[0];
  const pick = (at: string) => {
    setReading(false);
    setPath(at);
  };
  const write = (at: string, text: string | null | undefined) => useDrafts.getState().write(run, base.seq, at, text);
  // In the editor Tab is a character; Escape leads out of it first, and out of the panel only then.
  const onKeyDown = (event: KeyboardEvent) => {
    const inside = event.target instanceof Element && event.target.closest('.monaco-editor') !== null;
    if (event.key !== 'Escape' || event.defaultPrevented || event.nativeEvent.isComposing || !inside) return;
    event.stopPropagation();
    root.current?.querySelector<HTMLElement>('[aria-current=true]')?.focus();
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- it hears the Escape of the editor inside
    <div ref={root} className={styles['tree']} onKeyDown={onKeyDown}>
      <div className={styles['side']}>
        <button type="button" className={styles['instruction']} aria-pressed={reading} onClick={() => setReading(!reading)}>
          {t.proposeInstruction}
        </button>
        <FileList files={files} current={reading ? null : (current?.path ?? null)} onPick={pick} onOpen={() => editor.current?.focus()} />
        <Button kind="quiet" className={styles['add']} onClick={() => setAdding(true)}>
          {t.proposeNew}
        </Button>
      </div>
      <div className={styles['main']}>
        {reading ? <Instruction sha={instruction} /> : null}
        {adding ? (
          <NewFile
            files={files}
            isWritable={isWritable}
            writable={writable}
            onAdd={(added) => {
              write(added, '');
              pick(added);
              setAdding(false);
              editor.current?.focus();
            }}
            onClose={() => setAdding(false)}
          />
        ) : null}
        {current ? (
          <section className={styles['fileEditor']} hidden={reading} aria-label={visibleText(current.path)}>
            <FileBar key={current.path} file={current} labels={labels} onWrite={(text) => write(current.path, text)} />
            <FileView run={run} base={base} file={current} draft={draft} labels={labels} editor={editor} onWrite={write} />
          </section>
        ) : (
          <p className={styles['note']}>{t.proposeNoFiles}</p>
        )}
      </div>
    </div>
  );
}

type BarProps = {
  readonly file: CandidateFile;
  readonly labels: Props['labels'];
  /** `undefined`: as in the base. */
  readonly onWrite: (text: null | undefined) => void;
};

/** What the task asks for, as it stands in the contract. */
function Instruction({ sha }: { readonly sha: Sha }) {
  const { t } = useText();
  const [asked, setAsked] = useState(0);
  // Its size is not known here, and the loader of tasks bounds it.
  const text = useBaseText({ sha, size: 0 }, blobs, asked);
  return (
    <section className={styles['reading']} aria-label={t.proposeInstruction}>
      {text.kind === 'text' ? (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must be able to reach it
        <pre tabIndex={0}>
          <Foreign text={text.text} />
        </pre>
      ) : text.kind === 'failed' ? (
        <Failed name={t.proposeInstruction} error={text.error} onRetry={() => setAsked(asked + 1)} />
      ) : (
        <p className={styles['note']}>{insteadOf(text.kind, t.proposeInstruction, t)}</p>
      )}
    </section>
  );
}

/** The names of the two sides, and what can be done with the whole file. */
function FileBar({ file, labels, onWrite }: BarProps) {
  const { t } = useText();
  /** What would lose written text, until it is confirmed. */
  const [confirming, setConfirming] = useState<'reset' | 'remove' | null>(null);
  const apply = (what: 'reset' | 'remove') => {
    onWrite(what === 'remove' && file.base !== null ? null : undefined);
    setConfirming(null);
  };
  // The text of a file that stays can be had back by undo; that of one that goes cannot.
  const loses = (what: 'reset' | 'remove') => file.state === 'new' || (what === 'remove' && file.state === 'edited');
  const ask = (what: 'reset' | 'remove') => (loses(what) ? setConfirming(what) : apply(what));
  return (
    <div className={styles['bar']}>
      <span className={styles['sideNames']}>
        {labels.before} → {labels.after}
      </span>
      <span className={styles['grow']} />
      {confirming !== null ? (
        <>
          <span className={styles['confirm']} role="alert">
            {t.proposeConfirmFile(visibleText(file.path))}
          </span>
          <Button onClick={() => apply(confirming)}>{t.proposeDiscardYes}</Button>
          <Button kind="quiet" onClick={() => setConfirming(null)}>
            {t.proposeKeep}
          </Button>
        </>
      ) : file.state === 'removed' ? (
        <Button kind="quiet" onClick={() => apply('reset')}>
          {t.proposeRestore}
        </Button>
      ) : file.writable ? (
        <>
          <Button kind="quiet" disabled={file.state === 'unchanged'} onClick={() => ask('reset')}>
            {t.proposeReset}
          </Button>
          <Button kind="quiet" onClick={() => ask('remove')}>
            {t.proposeRemove}
          </Button>
        </>
      ) : null}
    </div>
  );
}

type ViewProps = {
  readonly run: string;
  readonly base: Props['base'];
  readonly file: CandidateFile;
  readonly draft: Draft | undefined;
  readonly labels: Props['labels'];
  readonly editor: RefObject<CodeEditHandle | null>;
  readonly onWrite: (path: string, text: string | undefined) => void;
};

/** The editor, which stays with its undo while files are changed, under whatever has to be said instead of the file. */
function FileView({ run, base, file, draft, labels, editor, onWrite }: ViewProps) {
  const { t, language } = useText();
  const [asked, setAsked] = useState(0);
  const text = useBaseText(file.base, blobs, asked);
  const [broken, setBroken] = useState<{ readonly error: unknown } | null>(null);
  /** Another attempt is another editor; so is another language, whose words it takes in once. */
  const [attempt, setAttempt] = useState(0);
  const name = visibleText(file.path);
  const wanted: EditedFile | null =
    file.state === 'removed' || text.kind !== 'text'
      ? null
      : {
          key: `${run} ${base.seq} ${file.path}`,
          path: file.path,
          before: text.text,
          after: draft?.texts.get(file.path) ?? text.text,
          readOnly: !file.writable,
        };
  // One object per text, however often the parents render.
  const [given, setGiven] = useState(wanted);
  if (wanted !== null && (given === null || !sameFile(given, wanted))) setGiven(wanted);
  const [shown, setShown] = useState<string | null>(null);
  const changed = (path: string, written: string, same: boolean) =>
    onWrite(path, same && base.files.some((known) => known.path === path) ? undefined : written);
  return (
    <>
      <Hint file={file} text={text} />
      <div className={styles['content']} aria-busy={wanted !== null && shown !== wanted.key} data-testid="candidate-editor">
        <div className={styles['editor']} data-covered={wanted === null || broken !== null}>
          <CodeEdit
            key={`${language} ${attempt}`}
            ref={editor}
            file={given}
            labels={labels}
            onChange={changed}
            onShown={setShown}
            onError={(error) => setBroken({ error })}
          />
        </div>
        {broken !== null ? (
          <Failed
            name={name}
            error={broken.error}
            onRetry={() => {
              setBroken(null);
              setAttempt(attempt + 1);
            }}
          />
        ) : file.state === 'removed' ? (
          <p className={styles['note']}>{t.proposeRemoved(name)}</p>
        ) : text.kind === 'failed' ? (
          <Failed name={name} error={text.error} onRetry={() => setAsked(asked + 1)} />
        ) : text.kind === 'text' ? null : (
          <p className={styles['note']}>{insteadOf(text.kind, name, t)}</p>
        )}
      </div>
    </>
  );
}

const sameFile = (a: EditedFile, b: EditedFile): boolean =>
  a.key === b.key && a.before === b.before && a.after === b.after && a.readOnly === b.readOnly;

function insteadOf(kind: Exclude<BaseText['kind'], 'text' | 'failed'>, name: string, t: Dictionary): string {
  switch (kind) {
    case 'loading':
      return t.loading;
    case 'binary':
      return t.proposeBinary(name);
    case 'too-large':
      return t.proposeTooLarge(name);
    default:
      return assertNever(kind, 'kind of text');
  }
}

function Hint({ file, text }: { readonly file: CandidateFile; readonly text: BaseText }) {
  const { t } = useText();
  if (!file.writable) return <p className={styles['hint']}>{t.proposeLockedFile(visibleText(file.path))}</p>;
  return text.kind === 'text' && mixesLineEnds(text.text) ? <p className={styles['hint']}>{t.proposeMixed}</p> : null;
}

function Failed({ name, error, onRetry }: { readonly name: string; readonly error: unknown; readonly onRetry: () => void }) {
  const { t } = useText();
  return (
    <div className={styles['note']} role="alert">
      <p>{t.diffFailed(name)}</p>
      <p>{visibleText(messageOf(error))}</p>
      <Button onClick={onRetry}>{t.retry}</Button>
    </div>
  );
}
