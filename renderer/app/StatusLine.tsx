import { useEngineState, useQuery } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { assertNever } from '#shared/lib/assert.ts';
import { useUi } from '#renderer/state/store.ts';
import { Kbd } from '#renderer/widgets/Kbd.tsx';
import type { EngineState } from '#renderer/client/engine.ts';
import type { Dictionary } from '#renderer/i18n/dictionary.ts';
import type { Place } from './navigation.ts';
import styles from './App.module.css';

const none = {};

/** The bottom line: how the engine stands, what may run here, and the keys that matter now. */
export function StatusLine({ place }: { place: Place }) {
  const { t } = useText();
  const state = useEngineState();
  const info = useQuery('app.info', none).data;
  return (
    <footer className={styles['status']}>
      <output className={styles['engine']}>
        <span className={styles['dot']} data-state={state.kind} aria-hidden="true" />
        {wordsOf(state, t)}
      </output>
      {info ? (
        <>
          <button
            type="button"
            className={styles['sandbox']}
            data-available={info.sandbox.available}
            title={`${t.sandboxOpen}\n${info.sandbox.message}`}
            onClick={() => useUi.getState().setOverlay('settings')}
          >
            {info.sandbox.backend === null ? t.sandboxMissing : t.sandboxAvailable(info.sandbox.backend, info.sandbox.experimental)}
          </button>
          <span title={info.dataDir}>{t.version(info.version)}</span>
        </>
      ) : null}
      <span className={styles['grow']} />
      <span className={styles['hints']}>
        {place.screen === 'run' ? (
          <>
            <Hint keys={['KeyJ', 'KeyK']} text={t.hintStep} />
            <Hint keys={['Shift+KeyJ', 'Shift+KeyK']} text={t.hintCommits} />
            <Hint keys={['KeyN']} text={t.hintKind} />
          </>
        ) : place.screen === 'new' ? null : (
          <>
            <Hint keys={['KeyJ', 'KeyK']} text={t.hintMove} />
            <Hint keys={['Enter']} text={t.hintOpen} />
          </>
        )}
        <Hint keys={['$mod+KeyK']} text={t.hintCommands} />
        <Hint keys={['Shift+Slash']} text={t.hintKeys} />
      </span>
    </footer>
  );
}

function Hint({ keys, text }: { keys: readonly string[]; text: string }) {
  return (
    <span className={styles['hint']}>
      {keys.map((key) => (
        <Kbd key={key} keys={key} />
      ))}
      {text}
    </span>
  );
}

function wordsOf(state: EngineState, t: Dictionary): string {
  switch (state.kind) {
    case 'connecting':
      return t.engineConnecting;
    case 'ready':
      return t.engineReady;
    case 'lost':
      return t.engineLost;
    case 'refused':
      return state.code === 'incompatible' ? t.engineRefused : t.engineNoAccess;
    default:
      return assertNever(state, 'engine state');
  }
}
