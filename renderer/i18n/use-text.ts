// The language of the interface as React sees it.
import { createContext, useContext } from 'react';
import type { Dictionary } from './dictionary.ts';
import { en } from './en.ts';
import { ko } from './ko.ts';
import { createFormat, type Format, type Language } from './format.ts';

export type Text = { readonly t: Dictionary; readonly f: Format; readonly language: Language };

const texts: Record<Language, Text> = {
  en: { t: en, f: createFormat('en'), language: 'en' },
  ko: { t: ko, f: createFormat('ko'), language: 'ko' },
};

/** Dictionary and formats of one language. */
export const textIn = (language: Language): Text => texts[language];

export const TextContext = createContext<Text>(texts.en);

/** Dictionary `t` and formats `f` of the current language. */
export const useText = (): Text => useContext(TextContext);

/** The language that a setting means on this machine. */
export const resolveLanguage = (setting: 'system' | Language, system: readonly string[]): Language =>
  setting === 'system' ? (system.some((tag) => tag.toLowerCase().startsWith('ko')) ? 'ko' : 'en') : setting;
