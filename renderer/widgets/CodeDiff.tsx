import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { useText } from '#renderer/i18n/use-text.ts';
import type { CodePair, DiffView } from './code-diff-monaco.ts';
import { speak, type MonacoWords } from './code-diff-words.ts';
import styles from './CodeDiff.module.css';

export type { CodePair } from './code-diff-monaco.ts';

type Props = {
  /** What to compare; null keeps what is shown. */
  readonly pair: CodePair | null;
  readonly labels: { readonly before: string; readonly after: string };
  /** The pair with this key is on the screen. */
  readonly onShown: (key: string) => void;
  readonly onError: (error: unknown) => void;
};

/** Monaco with its words in a language; they are read when an editor is made, so a component keeps the language it began with. */
async function loadMonaco(words: MonacoWords) {
  await speak(words);
  return import('./code-diff-monaco.ts');
}

/** Two texts side by side, one above the other where it is narrow. What was shown stays until the next diff is computed. */
export function CodeDiff({ pair, labels, onShown, onError }: Props) {
  const { language, t } = useText();
  const words = useRef({ language, hiddenLines: t.diffHiddenLines });
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<Promise<DiffView> | null>(null);
  const calls = useRef({ onShown, onError, labels });
  useEffect(() => {
    calls.current = { onShown, onError, labels };
  });

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let ended = false;
    const made = loadMonaco(words.current).then(({ DiffView }) => {
      if (ended) throw new DOMException('the diff was closed while the editor loaded', 'AbortError');
      return new DiffView(element, calls.current.labels);
    });
    view.current = made;
    made.catch((error: unknown) => {
      if (!ended) calls.current.onError(error);
    });
    const rethemed = new MutationObserver(() => {
      made.then((v) => v.retheme()).catch(() => {});
    });
    rethemed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => {
      ended = true;
      view.current = null;
      rethemed.disconnect();
      made.then((v) => v.dispose()).catch(() => {});
    };
  }, []);

  useEffect(() => {
    const made = view.current;
    if (!made || !pair) return undefined;
    let current = true;
    let frame = 0;
    // The frame that answers the key comes first, and while a key is held no diff is begun that nobody would see.
    const frames = new Promise<void>((resolve) => {
      frame = requestAnimationFrame(() => {
        frame = requestAnimationFrame(() => resolve());
      });
    });
    Promise.all([made, frames])
      .then(([v]) => v.show(pair))
      .then((shown) => {
        // Before the next paint: the names over the text change in the same frame as the text.
        if (shown && current) flushSync(() => calls.current.onShown(pair.key));
      })
      .catch((error: unknown) => {
        // When the editor is closed nobody is left to tell.
        if (current && view.current === made) calls.current.onError(error);
      });
    return () => {
      current = false;
      cancelAnimationFrame(frame);
    };
  }, [pair]);

  return <div ref={box} className={styles['box']} />;
}
