import { useRef, useState, type KeyboardEvent } from 'react';
import { Lock } from 'lucide-react';
import { useText } from '#renderer/i18n/use-text.ts';
import { MiddleEllipsis } from '#renderer/widgets/MiddleEllipsis.tsx';
import type { CandidateFile } from './candidate.ts';
import styles from './propose.module.css';

/** With more files than this the list can be narrowed by writing. */
const fewFiles = 12;
/** Rows that are in the document at most; the rest is found by writing. */
const mostRows = 400;

type Props = {
  readonly files: readonly CandidateFile[];
  readonly current: string | null;
  readonly onPick: (path: string) => void;
  /** A press or Enter: the file is to be written. */
  readonly onOpen: () => void;
};

/** The files of the candidate. Those that may not be written are counted, and listed when asked for. */
export function FileList({ files, current, onPick, onOpen }: Props) {
  const { t } = useText();
  const [filter, setFilter] = useState('');
  const [all, setAll] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  const locked = files.filter((file) => !file.writable && file.state === 'unchanged').length;
  // Where nothing may be written there is nothing else to list.
  const open = all || locked === files.length;
  const wanted = filter.trim().toLowerCase();
  const matching = files.filter(
    (file) => (open || file.writable || file.state !== 'unchanged') && (wanted === '' || file.path.toLowerCase().includes(wanted)),
  );
  const shown = matching.slice(0, mostRows);
  const focused = shown.some((file) => file.path === current) ? current : (shown[0]?.path ?? null);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = shown.findIndex((file) => file.path === focused);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    const next = to === undefined ? undefined : shown[Math.max(0, Math.min(shown.length - 1, to))];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    onPick(next.path);
    list.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(next.path)}"]`)?.focus();
  };
  return (
    <div className={styles['files']}>
      {files.length > fewFiles ? (
        <input
          className={styles['filter']}
          value={filter}
          placeholder={t.proposeFilter}
          aria-label={t.proposeFilter}
          spellCheck={false}
          onChange={(event) => setFilter(event.target.value)}
        />
      ) : null}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the arrow keys of the buttons inside */}
      <ul ref={list} className={styles['list']} aria-label={t.proposeFiles} onKeyDown={onKeyDown}>
        {shown.map((file) => (
          <li key={file.path}>
            <FileButton file={file} current={file.path === current} focusable={file.path === focused} onPick={onPick} onOpen={onOpen} />
          </li>
        ))}
      </ul>
      {matching.length > shown.length ? <p className={styles['more']}>{t.proposeMoreFiles(matching.length - shown.length)}</p> : null}
      {locked > 0 && locked < files.length ? (
        <button type="button" className={styles['more']} aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? t.proposeHideLocked(locked) : t.proposeShowLocked(locked)}
        </button>
      ) : null}
    </div>
  );
}

type ButtonProps = {
  readonly file: CandidateFile;
  readonly current: boolean;
  /** The one that the tab key finds. */
  readonly focusable: boolean;
  readonly onPick: (path: string) => void;
  readonly onOpen: () => void;
};

function FileButton({ file, current, focusable, onPick, onOpen }: ButtonProps) {
  const { t } = useText();
  return (
    <button
      type="button"
      className={styles['file']}
      data-path={file.path}
      data-state={file.state}
      aria-current={current}
      tabIndex={focusable ? 0 : -1}
      onClick={() => {
        onPick(file.path);
        onOpen();
      }}
    >
      <span className={styles['path']}>
        <MiddleEllipsis text={file.path} tail={14} />
      </span>
      {file.state === 'unchanged' ? null : <span className={styles['state']}>{t.proposeState[file.state]}</span>}
      {file.writable ? null : (
        <span className={styles['lock']} title={t.proposeLocked}>
          <Lock size={11} aria-hidden="true" />
          <span className="visually-hidden">{t.proposeLocked}</span>
        </span>
      )}
    </button>
  );
}
