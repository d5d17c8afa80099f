// Theme and language: stored by the engine, applied to the document.
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import type { Contract } from '#shared/contract/contract.ts';
import type { Input, Output } from '#shared/rpc/types.ts';
import { useConnection, useQuery } from '#renderer/client/use-query.ts';
import { resolveLanguage, textIn, type Text } from '#renderer/i18n/use-text.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type Settings = Output<Contract['settings.get']>;
const fallback: Settings = { theme: 'system', language: 'system' };
const none = {};

/** The stored settings, how to change them, and why the last change failed. Until they are there, the system's. */
export function useSettings(): {
  readonly settings: Settings;
  readonly set: (change: Input<Contract['settings.set']>) => void;
  readonly failed: string | null;
} {
  const { engine, cache } = useConnection();
  const { data } = useQuery('settings.get', none);
  const [failed, setFailed] = useState<string | null>(null);
  const set = useCallback(
    (change: Input<Contract['settings.set']>) => {
      engine.call('settings.set', change).then(
        (stored) => {
          setFailed(null);
          cache.put('settings.get', none, stored);
        },
        // The setting stays as it was, which is what the control shows; why is said beside it.
        (cause: unknown) => setFailed(messageOf(cause)),
      );
    },
    [engine, cache],
  );
  return { settings: data ?? fallback, set, failed };
}

const darkQuery = '(prefers-color-scheme: dark)';
const subscribeDark = (listener: () => void) => {
  const media = window.matchMedia(darkQuery);
  media.addEventListener('change', listener);
  return () => media.removeEventListener('change', listener);
};

/** The theme in force, put on the document as `data-theme`. */
export function useTheme(setting: Settings['theme']): 'light' | 'dark' {
  const systemDark = useSyncExternalStore(subscribeDark, () => window.matchMedia(darkQuery).matches);
  const theme = setting === 'system' ? (systemDark ? 'dark' : 'light') : setting;
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  return theme;
}

/** The texts in force; the document says which language it is in. */
export function useLanguage(setting: Settings['language']): Text {
  const text = textIn(resolveLanguage(setting, navigator.languages));
  useEffect(() => {
    document.documentElement.lang = text.language;
  }, [text.language]);
  return text;
}
