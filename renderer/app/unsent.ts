// Leaving the page while a candidate is written: the browser asks by itself, the shell asks in these words.
import { useEffect } from 'react';
import type { DesktopApi } from '#shared/contract/desktop.ts';
import type { Dictionary } from '#renderer/i18n/dictionary.ts';
import { useDrafts } from '#renderer/state/drafts.ts';

const ask = (event: BeforeUnloadEvent) => event.preventDefault();

/** Warns before the page goes while something written was not proposed; says nothing otherwise. */
export function useUnsentWarning(desktop: DesktopApi, t: Dictionary): void {
  const unsent = useDrafts((s) => s.drafts.size);
  useEffect(() => {
    if (unsent === 0) return undefined;
    window.addEventListener('beforeunload', ask);
    desktop.warnBeforeClose({ message: t.unsentMessage(unsent), stay: t.unsentStay, leave: t.unsentLeave });
    return () => {
      window.removeEventListener('beforeunload', ask);
      desktop.warnBeforeClose(null);
    };
  }, [unsent, desktop, t]);
}
