/** `word` as one word of a POSIX shell, whatever is in it. Throws a RangeError for NUL, which no word can hold. */
export function quote(word: string): string {
  if (word.includes('\0')) throw new RangeError('NUL in a word of a command');
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
