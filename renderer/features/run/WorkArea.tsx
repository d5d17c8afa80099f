import { useRef, type KeyboardEvent } from 'react';
import { assertNever } from '#shared/lib/assert.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import { tabs, useUi, type Tab } from '#renderer/state/store.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import type { TextKey } from '#renderer/i18n/dictionary.ts';
import { Kbd } from '#renderer/widgets/Kbd.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { visibleText } from '#renderer/i18n/foreign.ts';
import type { ShownDetail } from './use-transition-detail.ts';
import { BundlePane } from './panes/BundlePane.tsx';
import { DiffPane } from './panes/DiffPane.tsx';
import { MemoryPane } from './panes/MemoryPane.tsx';
import { RecordPane } from './panes/RecordPane.tsx';
import { VerdictPane } from './panes/VerdictPane.tsx';
import screen from './RunScreen.module.css';
import styles from './WorkArea.module.css';

const tabInfo: Readonly<Record<Tab, { readonly name: TextKey; readonly keys: string }>> = {
  diff: { name: 'tabDiff', keys: 'KeyD' },
  verdict: { name: 'tabVerdict', keys: 'KeyO' },
  memory: { name: 'tabMemory', keys: 'KeyM' },
  bundle: { name: 'tabBundle', keys: 'Shift+KeyB' },
  record: { name: 'tabRecord', keys: 'KeyR' },
};

type Props = {
  readonly data: RunData;
  readonly n: number;
  readonly shown: ShownDetail;
  readonly live: boolean;
  readonly detail: RunDetail;
  readonly tamperEvidentOnly: boolean;
};

/** The selected transition in full, one view at a time. Old content stays, dimmed and named, until the new one is there. */
export function WorkArea({ data, n, shown, live, detail, tamperEvidentOnly }: Props) {
  const { t } = useText();
  const tab = useUi((s) => s.tab);
  const follow = useUi((s) => s.follow);
  const notice = useUi((s) => s.notice);
  const old = shown.data !== undefined && shown.key !== n;
  // The diff loads files of its own: it alone knows what it shows, and says so.
  const ownNotice = tab === 'diff' && (shown.data?.changes ?? []).length > 0;
  const stale = old && !ownNotice;
  return (
    <section className={screen['panel']} aria-label={t.workArea}>
      <div className={styles['bar']}>
        <TabList tab={tab} />
        <span className={styles['grow']} />
        <span className={styles['notice']} title={visibleText(notice)}>
          {visibleText(notice)}
        </span>
        {live ? (
          <button
            type="button"
            className={styles['follow']}
            aria-pressed={follow}
            title={t.followTitle}
            onClick={() => useUi.getState().setFollow(!follow)}
          >
            {t.follow} <Kbd keys="KeyF" />
          </button>
        ) : null}
        <Position text={n > 0 && data.round(n) > 0 ? t.position(n, data.round(n), data.slot(n)) : ''} />
      </div>
      <div className={styles['pane']}>
        {stale && shown.key !== null ? (
          <div className={styles['stale']} role="note">
            {t.staleShowing(shown.key, n)}
          </div>
        ) : null}
        <div
          className={styles['content']}
          role="tabpanel"
          id="run-pane"
          aria-labelledby={`run-tab-${tab}`}
          aria-busy={shown.key !== n}
          data-stale={stale}
          tabIndex={0}
        >
          {shown.error && shown.key === n ? (
            <div className={styles['problem']}>
              <Problem error={shown.error} />
            </div>
          ) : shown.data ? (
            <Pane tab={tab} data={data} run={detail} detail={shown.data} awaited={old ? n : null} tamperEvidentOnly={tamperEvidentOnly} />
          ) : (
            <p className={styles['empty']}>{n > 0 ? t.loadingTransition(n) : ''}</p>
          )}
        </div>
      </div>
    </section>
  );
}

/** Keeps its width before the first transition is there, so that nothing beside it moves. */
function Position({ text }: { text: string }) {
  return (
    <span className={styles['position']} title={text}>
      {text}
    </span>
  );
}

type PaneProps = {
  readonly tab: Tab;
  readonly data: RunData;
  readonly run: RunDetail;
  readonly detail: NonNullable<ShownDetail['data']>;
  /** The transition that is selected while `detail` is still an older one's. */
  readonly awaited: number | null;
  readonly tamperEvidentOnly: boolean;
};

function Pane({ tab, data, run, detail, awaited, tamperEvidentOnly }: PaneProps) {
  switch (tab) {
    case 'diff':
      return <DiffPane detail={detail} awaited={awaited} />;
    case 'verdict':
      return <VerdictPane obligations={data.obligations} detail={detail} tamperEvidentOnly={tamperEvidentOnly} />;
    case 'memory':
      return <MemoryPane detail={detail} />;
    case 'bundle':
      return <BundlePane run={run} detail={detail} />;
    case 'record':
      return <RecordPane detail={detail} />;
    default:
      return assertNever(tab, 'tab');
  }
}

function TabList({ tab }: { tab: Tab }) {
  const { t } = useText();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    if (!next) return;
    useUi.getState().setTab(next);
    list.current?.querySelector<HTMLElement>(`#run-tab-${next}`)?.focus();
  };
  return (
    <div ref={list} role="tablist" aria-label={t.tabs} className={styles['tabs']} onKeyDown={onKeyDown} tabIndex={-1}>
      {tabs.map((name) => (
        <button
          key={name}
          id={`run-tab-${name}`}
          type="button"
          role="tab"
          aria-selected={tab === name}
          aria-controls="run-pane"
          tabIndex={tab === name ? 0 : -1}
          className={styles['tab']}
          onClick={() => useUi.getState().setTab(name)}
        >
          {t[tabInfo[name].name]} <Kbd keys={tabInfo[name].keys} />
        </button>
      ))}
    </div>
  );
}
