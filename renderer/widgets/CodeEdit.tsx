import { useEffect, useEffectEvent, useImperativeHandle, useRef, type Ref } from 'react';
import { useText } from '#renderer/i18n/use-text.ts';
import type { EditedFile, EditView, OnEdit } from './code-edit-monaco.ts';
import { speak, type MonacoWords } from './code-diff-words.ts';
import styles from './CodeDiff.module.css';

export type { EditedFile } from './code-edit-monaco.ts';
export type CodeEditHandle = { focus(): void };

type Props = {
  /** The file to write; null keeps what is shown. */
  readonly file: EditedFile | null;
  readonly labels: { readonly before: string; readonly after: string };
  readonly onChange: OnEdit;
  /** The file with this key is on the screen. */
  readonly onShown: (key: string) => void;
  readonly onError: (error: unknown) => void;
  readonly ref?: Ref<CodeEditHandle>;
};

async function loadEditor(words: MonacoWords) {
  await speak(words);
  return import('./code-edit-monaco.ts');
}

/** A text beside what it is compared with, which can be written. Key the component by the language: Monaco reads its words once. */
export function CodeEdit({ file, labels, onChange, onShown, onError, ref }: Props) {
  const { language, t } = useText();
  const words = useRef({ language, hiddenLines: t.diffHiddenLines });
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<Promise<EditView> | null>(null);
  const first = useRef({ labels });
  const changed = useEffectEvent(onChange);
  const shown = useEffectEvent(onShown);
  const failed = useEffectEvent(onError);
  useImperativeHandle(ref, () => ({
    focus: () => {
      view.current?.then((v) => v.focus()).catch(() => {});
    },
  }));

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let ended = false;
    const made = loadEditor(words.current).then(({ EditView }) => {
      if (ended) throw new DOMException('the editor was closed while it loaded', 'AbortError');
      return new EditView(element, first.current.labels, (path, text, same) => changed(path, text, same));
    });
    view.current = made;
    made.catch((error: unknown) => {
      if (!ended) failed(error);
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
    if (!made || !file) return undefined;
    let current = true;
    made
      .then((v) => {
        if (!current) return;
        v.show(file);
        shown(file.key);
      })
      .catch((error: unknown) => {
        if (current && view.current === made) failed(error);
      });
    return () => {
      current = false;
    };
  }, [file]);

  return <div ref={box} className={styles['box']} />;
}
