// Text from outside (titles, keys, paths, what a verifier wrote) as it may be shown: nothing in it changes how the text around it reads.

// Bidirectional controls reorder what follows them (exe.png for gnp.exe), zero-width characters hide, the other controls have no look. Joiners
// (U+200C, U+200D) stay: scripts and emoji need them.
// oxlint-disable-next-line no-control-regex
const hiddenCharacters =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u206f\ufeff]/gu;

/** The text with every control character that is not seen written out, as `[U+202E]`. Line breaks and tabs stay. */
export const visibleText = (text: string): string =>
  text.replace(hiddenCharacters, (c) => `[U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`);
