// Text from outside (titles, keys, paths, what a verifier wrote) as it may be shown: nothing in it changes how the text around it reads.

// Bidirectional controls reorder what follows them (exe.png for gnp.exe), zero-width characters hide, the other controls have no look. Joiners
// (U+200C, U+200D) stay: scripts and emoji need them.
const hiddenCharacters = /(?![\n\r\t])[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060\u206a-\u206f\ufeff]/gu;

/** The text with every control character that is not seen written out, as `[U+202E]`. Line breaks and tabs stay. */
export const visibleText = (text: string): string =>
  text.replace(hiddenCharacters, (c) => `[U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`);
