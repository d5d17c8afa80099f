// Particles that depend on how the word before them ends. Only for words whose sound is known: Hangul and numbers.

/** Final consonant of the last digit group as it is read aloud: 'none', 'l' (ㄹ) or 'other'. Non-negative integers only. */
function ending(value: number): 'none' | 'l' | 'other' {
  const digits = String(value);
  const zeros = digits.length - digits.replace(/0+$/, '').length;
  if (value !== 0 && zeros > 0) return zeros >= 12 && zeros < 16 ? 'none' : 'other';
  const last = digits.at(-1) ?? '0';
  return '2459'.includes(last) ? 'none' : '178'.includes(last) ? 'l' : 'other';
}

/** 로 or 으로 after a number: 1로, 3으로, 10으로. */
export const toward = (value: number): string => (ending(value) === 'other' ? '으로' : '로');
