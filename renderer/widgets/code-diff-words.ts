// The words of Monaco itself (folded lines, find). It looks them up in a table on the global object, by number, whenever it shows them.
import type { Language } from '#renderer/i18n/format.ts';

/** `hiddenLines` names how many lines are folded away; `{0}` is the number. */
export type MonacoWords = { readonly language: Language; readonly hiddenLines: string };

declare global {
  var _VSCODE_NLS_MESSAGES: readonly string[] | undefined;
}

let korean: readonly string[] | null = null;
/** How Monaco's own Korean says it: with the word for a drawn line, not for a line of text. */
const monacoHiddenLines = '숨겨진 선 {0}개';

/** Gives Monaco its words, before it is loaded or for the editors that are made from now on. English is what it falls back to. */
export async function speak({ language, hiddenLines }: MonacoWords): Promise<void> {
  if (language === 'en') {
    globalThis._VSCODE_NLS_MESSAGES = undefined;
    return;
  }
  if (korean === null) {
    await import('monaco-editor/nls/lang/ko.js');
    korean = (globalThis._VSCODE_NLS_MESSAGES ?? []).map((text) => (text === monacoHiddenLines ? hiddenLines : text));
  }
  globalThis._VSCODE_NLS_MESSAGES = korean;
}
