import { useMemo } from 'react';
import { LibraryScreen } from '#renderer/features/library/index.ts';
import { NewRunScreen } from '#renderer/features/new-run/index.ts';
import { RunScreen } from '#renderer/features/run/index.ts';
import { useUi } from '#renderer/state/store.ts';
import { assertNever } from '#shared/lib/assert.ts';
import { useConnection, useEngineState } from '#renderer/client/use-query.ts';
import { TextContext } from '#renderer/i18n/use-text.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { EmptyState } from '#renderer/widgets/EmptyState.tsx';
import { useCommands, useKeyboard, type Command } from './commands.ts';
import { CommandPalette } from './CommandPalette.tsx';
import { ConnectionBanner } from './ConnectionBanner.tsx';
import { CrashBoundary } from './CrashBoundary.tsx';
import { KeysHelp } from './KeysHelp.tsx';
import { go, parsePlace, useVisit, type Place } from './navigation.ts';
import { Rail } from './Rail.tsx';
import { SettingsPanel } from './SettingsPanel.tsx';
import { StatusLine } from './StatusLine.tsx';
import { PlatformContext } from './platform.ts';
import { useLanguage, useSettings, useTheme } from './settings.ts';
import { useUnsentWarning } from './unsent.ts';
import styles from './App.module.css';

function Screen({ place }: { place: Place }) {
  switch (place.screen) {
    case 'run':
      return <RunScreen place={place} />;
    case 'new':
      return <NewRunScreen />;
    case 'library':
      return <LibraryScreen />;
    default:
      return assertNever(place, 'place');
  }
}

/** The frame that every screen stands in: rail, header, body, status line. */
export function App() {
  const { engine } = useConnection();
  const { settings, set, failed } = useSettings();
  const state = useEngineState();
  const noAccess = state.kind === 'refused' && state.code === 'unavailable' ? state.message : null;
  const theme = useTheme(settings.theme);
  const text = useLanguage(settings.language);
  const visit = useVisit();
  const place = useMemo(() => parsePlace(visit.hash), [visit]);
  const overlay = useUi((s) => s.overlay);
  useKeyboard();
  useUnsentWarning(engine.desktop, text.t);
  const commands = useMemo(
    (): Command[] => [
      { id: 'app.palette', name: 'cmdPalette', keys: ['$mod+KeyK'], group: 'app', run: () => useUi.getState().setOverlay('palette') },
      {
        id: 'app.keys',
        name: 'cmdKeys',
        keys: ['Shift+Slash', '[Shift]+(\\?)'],
        group: 'app',
        run: () => useUi.getState().setOverlay('keys'),
      },
      { id: 'app.library', name: 'cmdLibrary', keys: ['Shift+KeyL'], group: 'app', run: () => go({ screen: 'library' }) },
      { id: 'app.theme', name: 'cmdTheme', keys: [], group: 'app', run: () => set({ theme: theme === 'dark' ? 'light' : 'dark' }) },
    ],
    [set, theme],
  );
  useCommands(commands);

  return (
    <PlatformContext value={engine.desktop.platform}>
      <TextContext value={text}>
        <div className={styles['app']}>
          <Rail place={place} />
          <div className={styles['screen']}>
            <ConnectionBanner />
            {failed === null ? null : (
              <div className={styles['banner']} role="alert">
                {text.t.settingFailed(visibleText(failed))}
              </div>
            )}
            {noAccess !== null ? (
              <main className={styles['noAccess']}>
                <EmptyState title={text.t.engineNoAccess} text={`${text.t.engineSession} ${text.t.engineSessionGone}`} reason={noAccess} />
              </main>
            ) : (
              <CrashBoundary key={place.screen} text={text}>
                <Screen place={place} />
              </CrashBoundary>
            )}
          </div>
          <StatusLine place={place} />
        </div>
        {overlay === 'palette' ? <CommandPalette /> : null}
        {overlay === 'keys' ? <KeysHelp /> : null}
        {overlay === 'settings' ? <SettingsPanel settings={settings} onChange={set} /> : null}
      </TextContext>
    </PlatformContext>
  );
}
