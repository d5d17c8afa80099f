import { List, Settings2 } from 'lucide-react';
import { useUi } from '#renderer/state/store.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { formatPlace, runPlace, type Place } from './navigation.ts';
import styles from './App.module.css';

const iconPx = 17;

/** Where one can go. Only what exists is here. */
export function Rail({ place }: { place: Place }) {
  const { t } = useText();
  const last = useUi((s) => s.run);
  const run = place.screen === 'run' ? place.run : last;
  return (
    <nav className={styles['rail']} aria-label={t.navMain}>
      <span className={styles['logo']} title={t.appName}>
        <svg
          width="22"
          height="22"
          viewBox="0 0 24 24"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.8"
          strokeLinecap="round"
          strokeLinejoin="round"
          aria-hidden="true"
        >
          <path d="M3 19h4v-5h5V9h5V4h4" />
          <path d="m14 19 3.5-3.5L21 19" />
        </svg>
      </span>
      <a
        className={styles['railItem']}
        href={formatPlace({ screen: 'library' })}
        aria-label={t.navLibrary}
        title={t.navLibrary}
        aria-current={place.screen === 'library' ? 'page' : undefined}
      >
        <List size={iconPx} strokeWidth={1.7} aria-hidden="true" />
      </a>
      {run === null ? null : (
        <a
          className={styles['railItem']}
          href={formatPlace(runPlace(run))}
          aria-label={t.navRun}
          title={t.navRun}
          aria-current={place.screen === 'run' ? 'page' : undefined}
        >
          <svg
            width={iconPx}
            height={iconPx}
            viewBox="0 0 24 24"
            fill="none"
            stroke="currentColor"
            strokeWidth="1.9"
            strokeLinecap="round"
            strokeLinejoin="round"
            aria-hidden="true"
          >
            <path d="M3 18h5v-5h5V8h8" />
          </svg>
        </a>
      )}
      <span className={styles['grow']} />
      <button
        type="button"
        className={styles['railItem']}
        aria-label={t.navSettings}
        title={t.navSettings}
        onClick={() => useUi.getState().setOverlay('settings')}
      >
        <Settings2 size={iconPx} strokeWidth={1.7} aria-hidden="true" />
      </button>
    </nav>
  );
}
