import { useConnection, useEngineState } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import styles from './App.module.css';

/** Says that the engine is gone and what to do; what was loaded before stays on the screen. */
export function ConnectionBanner() {
  const { t } = useText();
  const { engine } = useConnection();
  const state = useEngineState();
  if (state.kind === 'lost') {
    return (
      <div className={styles['banner']} role="alert">
        <span>{state.reason === null ? t.engineLostPlain : t.engineLostWhy(state.reason)}</span>
        {engine.desktop.kind === 'electron' ? <Button onClick={() => void engine.restart()}>{t.engineRestart}</Button> : null}
      </div>
    );
  }
  // Without access there is nothing on the screen but that: see App.
  if (state.kind === 'refused' && state.code === 'incompatible') {
    return (
      <div className={styles['banner']} role="alert">
        <span>{`${t.engineRefused}: ${state.message}`}</span>
        <Button onClick={() => window.location.reload()}>{t.reload}</Button>
      </div>
    );
  }
  return null;
}
