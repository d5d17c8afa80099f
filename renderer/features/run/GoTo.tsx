import { useState } from 'react';
import type { RunStore } from '#renderer/state/run-data.ts';
import { useUi } from '#renderer/state/store.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Dialog } from '#renderer/widgets/Dialog.tsx';
import { visibleText } from '#renderer/i18n/foreign.ts';
import styles from './GoTo.module.css';

const shortestHash = 4;

/** `genesis`: the bundle itself is meant, which no transition made; it is the base of transition `n`. */
export type Target = { readonly n: number; readonly genesis: boolean };

/** What a number or the start of a bundle's hash names; null when nothing does, or the run has no transition to stand on. */
export function resolveTarget(data: RunStore, text: string): Target | null {
  const wanted = text.trim().toLowerCase();
  if (/^\d+$/.test(wanted) && Number(wanted) >= 1 && Number(wanted) <= data.count) return { n: Number(wanted), genesis: false };
  if (!/^[0-9a-f]+$/.test(wanted) || wanted.length < shortestHash) return null;
  for (let seq = 0; seq < data.chainLength; seq++) {
    if (!data.chainId(seq).startsWith(wanted)) continue;
    const made = data.chainTransition(seq);
    if (made >= 1) return { n: made, genesis: false };
    // A commit shows the bundle that it made, so the seed is seen from an attempt that was turned down.
    for (let n = 1; n <= data.count && data.baseSeq(n) === 0; n++) if (data.bundleSeq(n) < 0) return { n, genesis: true };
  }
  return null;
}

/** A line to type a number or hash into. */
export function GoTo({ data, onSelect }: { data: RunStore; onSelect: (n: number) => void }) {
  const { t } = useText();
  const [text, setText] = useState('');
  const [failed, setFailed] = useState('');
  const close = () => useUi.getState().setOverlay('none');
  return (
    <Dialog label={t.goTo} onClose={close}>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault();
          const target = resolveTarget(data, text);
          if (target === null) setFailed(text);
          else {
            onSelect(target.n);
            if (target.genesis) useUi.getState().setTab('bundle');
            close();
          }
        }}
      >
        <input
          className={styles['input']}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setFailed('');
          }}
          placeholder={t.goToPlaceholder}
          aria-label={t.goTo}
          aria-invalid={failed !== ''}
          aria-describedby="goto-failed"
          spellCheck={false}
        />
        <output id="goto-failed" className={styles['failed']}>
          {failed === '' ? '' : t.goToFail(visibleText(failed))}
        </output>
      </form>
    </Dialog>
  );
}
