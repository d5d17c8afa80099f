import { useEffect, useRef, useState } from 'react';
import { busy } from '#renderer/client/activity.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { CodeDiff } from '#renderer/widgets/CodeDiff.tsx';
import { MiddleEllipsis } from '#renderer/widgets/MiddleEllipsis.tsx';
import type { FileChange } from '#shared/domain/memory.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { BlobError, createBlobCache } from './blobs.ts';
import { contentKey, largestShown, loadContent, type Content } from './content.ts';
import styles from './TransitionDiff.module.css';
import { messageOf } from '#shared/lib/message-of.ts';

export type TransitionDiffProps = {
  /** Files that differ from the base; null where the attempt left no tree. */
  readonly changes: readonly FileChange[] | null;
  /** What stands over the two sides. */
  readonly labels: { readonly base: string; readonly candidate: string };
  /** What somebody waits for instead, while its files are not even known. */
  readonly awaited?: string | undefined;
};

type Labels = TransitionDiffProps['labels'];
/** What is asked for: a file of a pair of trees. A new object asks again. */
type Wanted = { readonly key: string; readonly change: FileChange; readonly labels: Labels };
/** What is on the screen, with the names it came with: they are never mixed with those of something else. */
type Shown = Wanted & ({ readonly content: Content } | { readonly error: unknown });

const blobs = createBlobCache();
/** Up to this many files stand in one line above the text, more in a column beside it. */
const filesInLine = 3;
/** A diff that is there sooner than this needs no notice that it is coming. */
const noticeMs = 150;
/** Where nothing new was seen for so long, as with a fast live run, one diff is finished before the next is begun. */
const starvedMs = 600;
/** Files that load at the same time while the selection moves on. */
const mostLoading = 4;

/** What a candidate changed, file by file. Text is shown as text, whatever it holds. */
export function TransitionDiff({ changes, labels, awaited }: TransitionDiffProps) {
  const { t } = useText();
  if (changes === null) return <p className={styles['empty']}>{t.noTree}</p>;
  if (changes.length === 0) return <p className={styles['empty']}>{t.diffNoChanges}</p>;
  return <ChangedFiles changes={changes} labels={labels} awaited={awaited} />;
}

function ChangedFiles({ changes, labels, awaited }: { changes: readonly FileChange[]; labels: Labels; awaited: string | undefined }) {
  const { t } = useText();
  const [path, setPath] = useState<string | null>(null);
  // The file that somebody looks at stays chosen from transition to transition while it is among the changed ones.
  const change = changes.find((c) => c.path === path) ?? changes[0];
  if (!change) return null;
  return (
    <div className={styles['diff']} data-many={changes.length > filesInLine}>
      <ul className={styles['files']} aria-label={t.diffFiles}>
        {changes.map((c) => (
          <li key={c.path}>
            <FileButton change={c} current={c === change} onPick={() => setPath(c.path)} />
          </li>
        ))}
      </ul>
      <FileDiff change={change} labels={labels} awaited={awaited} />
    </div>
  );
}

function FileButton({ change, current, onPick }: { change: FileChange; current: boolean; onPick: () => void }) {
  const { t, f } = useText();
  return (
    <button type="button" className={styles['file']} aria-current={current} onClick={onPick}>
      <span className={styles['path']}>
        <MiddleEllipsis text={change.path} />
      </span>
      {change.status === 'modified' ? null : <span className={styles['status']}>{t.diffStatus[change.status]}</span>}
      {change.binary || change.status === 'mode' ? null : (
        <>
          <span className={styles['added']} aria-label={t.diffAdded(change.added)}>
            +{f.int(change.added)}
          </span>
          <span className={styles['removed']} aria-label={t.diffRemoved(change.removed)}>
            −{f.int(change.removed)}
          </span>
        </>
      )}
    </button>
  );
}

/** Loads one changed file; what was asked for later wins, and an answer is taken although something newer is wanted by now. */
function useContent(wanted: Wanted): Shown | null {
  const [loaded, setLoaded] = useState<Shown | null>(null);
  // In the order in which they were asked for.
  const loading = useRef<AbortController[]>([]);
  useEffect(() => {
    const all = loading.current;
    const mine = new AbortController();
    all.push(mine);
    // The oldest is nearest to its answer and the newest is wanted; what lies between is given up.
    if (all.length > mostLoading) for (const between of all.splice(-2, 1)) between.abort();
    const settle = (next: Shown) => {
      if (mine.signal.aborted) return;
      const failedBefore = 'error' in next && all.at(-1) !== mine;
      for (const done of all.splice(0, all.indexOf(mine) + 1)) if (done !== mine) done.abort();
      if (!failedBefore) setLoaded(next);
    };
    loadContent(wanted.change, blobs, mine.signal).then(
      (content) => settle({ ...wanted, content }),
      (error: unknown) => settle({ ...wanted, error }),
    );
  }, [wanted]);
  useEffect(() => {
    const all = loading.current;
    return () => {
      for (const left of all.splice(0)) left.abort();
    };
  }, []);
  return loaded;
}

function FileDiff({ change, labels, awaited }: { change: FileChange; labels: Labels; awaited: string | undefined }) {
  const { t, language } = useText();
  // One object per thing asked for, however often the parents render.
  const [wanted, setWanted] = useState<Wanted>(() => ({ key: contentKey(change), change, labels }));
  if (wanted.key !== contentKey(change) || wanted.labels.base !== labels.base || wanted.labels.candidate !== labels.candidate) {
    setWanted({ key: contentKey(change), change, labels });
  }
  const loaded = useContent(wanted);
  const [painted, setPainted] = useState<string | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  // Another attempt is another editor; so is another language, whose words it takes in once.
  const [attempt, setAttempt] = useState(0);
  const again = () => {
    setFailed(null);
    setAttempt(attempt + 1);
  };
  const [shown, setShown] = useState<Shown | null>(null);
  const waiting = shown?.key !== wanted.key || awaited !== undefined;
  const late = useLate(waiting, null, noticeMs);
  const starved = useLate(waiting, shown, starvedMs);
  // What is given to the editor.
  const [given, setGiven] = useState<Shown | null>(null);
  const text = given && 'content' in given && given.content.kind === 'text' ? given.content.pair : null;
  const finished = text === null || painted === text.key || failed !== null;
  if (loaded && loaded !== given && (finished || !starved)) setGiven(loaded);
  // A text is shown once its diff is painted, everything else as soon as it is known.
  if (given && given !== shown && (text === null || painted === text.key)) setShown(given);
  const stale = shown !== null && waiting;
  const pending = shown?.key !== wanted.key && failed === null;
  // Until the diff is painted the page is not idle.
  useEffect(() => {
    if (!pending) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    void busy(promise);
    return resolve;
  }, [pending]);
  const names = shown?.labels ?? wanted.labels;
  const invisible = shown !== null && 'content' in shown && shown.content.kind === 'text' && shown.content.invisible;
  const message = shown !== null && !('content' in shown && shown.content.kind === 'text');
  return (
    <section className={styles['body']} aria-busy={shown?.key !== wanted.key} aria-label={visibleText((shown ?? wanted).change.path)}>
      <div className={styles['sides']} style={{ gridRow: 1 }}>
        <span title={names.base}>{names.base}</span>
        <span title={names.candidate}>{names.candidate}</span>
      </div>
      {invisible ? (
        <p className={styles['note']} style={{ gridRow: 2 }}>
          {t.diffInvisible}
        </p>
      ) : null}
      {late ? (
        <output className={styles['late']}>{stale && shown ? t.diffStale(nameOf(shown), awaited ?? nameOf(wanted)) : t.loading}</output>
      ) : null}
      <div className={styles['content']} data-stale={stale}>
        <div className={styles['editor']} data-covered={shown === null || message}>
          <CodeDiff
            key={`${language} ${attempt}`}
            pair={text}
            labels={{ before: names.base, after: names.candidate }}
            onShown={setPainted}
            onError={setFailed}
          />
        </div>
        {failed === null ? (
          message && shown ? (
            <Message shown={shown} onRetry={() => setWanted({ ...wanted })} />
          ) : null
        ) : (
          <Failure path={visibleText(wanted.change.path)} error={failed} onRetry={again} onReload={() => window.location.reload()} />
        )}
      </div>
    </section>
  );
}

const nameOf = ({ change, labels }: Wanted): string => `${visibleText(change.path)} (${labels.candidate})`;

/** Whether `waiting` has been true for `ms` without a break and without a change of `since`. */
function useLate(waiting: boolean, since: unknown, ms: number): boolean {
  const [late, setLate] = useState<{ readonly since: unknown } | null>(null);
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setTimeout(() => setLate({ since }), ms);
    return () => {
      clearTimeout(timer);
      setLate(null);
    };
  }, [waiting, since, ms]);
  return waiting && late !== null && late.since === since;
}

function Message({ shown, onRetry }: { shown: Shown; onRetry: () => void }) {
  const { t, f } = useText();
  const path = visibleText(shown.change.path);
  if ('error' in shown) return <Failure path={path} error={shown.error} onRetry={onRetry} />;
  const { content } = shown;
  if (content.kind === 'text') return null;
  const size = (bytes: number | null) => (bytes === null ? t.diffNoSide : f.bytes(bytes));
  const says =
    content.kind === 'binary'
      ? t.diffNotText(path)
      : content.kind === 'mode'
        ? t.diffModeOnly(path)
        : t.diffTooLarge(path, f.bytes(largestShown));
  return (
    <div className={styles['message']}>
      <strong>{says}</strong>
      <span>{t.diffSizes(size(content.before), size(content.after))}</span>
    </div>
  );
}

type FailureProps = { readonly path: string; readonly error: unknown; readonly onRetry?: () => void; readonly onReload?: () => void };

function Failure({ path, error, onRetry, onReload }: FailureProps) {
  const { t } = useText();
  const missing = error instanceof BlobError && error.kind === 'missing';
  return (
    <div className={styles['message']} role="alert">
      <strong>{t.diffFailed(path)}</strong>
      <span>{missing ? t.diffMissing(error.sha) : visibleText(messageOf(error))}</span>
      {missing ? <span>{t.diffMissingDo}</span> : null}
      {onRetry ? <Button onClick={onRetry}>{t.retry}</Button> : null}
      {/* A browser may remember that a part of the page could not be loaded. */}
      {onReload ? (
        <Button kind="quiet" onClick={onReload}>
          {t.reload}
        </Button>
      ) : null}
    </div>
  );
}
