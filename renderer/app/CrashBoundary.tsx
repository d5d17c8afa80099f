import { Component, type ReactNode } from 'react';
import type { Text } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import styles from './App.module.css';

type Props = { readonly text: Text; readonly children: ReactNode };
type State = { readonly error: Error | null };

/** A fault of one screen stays on that screen and says so. */
export class CrashBoundary extends Component<Props, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    const { t } = this.props.text;
    return (
      <main className={styles['crash']} role="alert">
        <h1>{t.crashTitle}</h1>
        <p>{t.crashText}</p>
        <pre>{error.stack ?? error.message}</pre>
        <Button onClick={() => this.setState({ error: null })}>{t.retry}</Button>
      </main>
    );
  }
}
