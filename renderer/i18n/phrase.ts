// Sentences with emphasis: dictionaries return parts, never markup, so that text from outside can not become markup.

export type Tone = 'plain' | 'strong' | 'code' | 'better' | 'worse';
export type Part = { readonly text: string; readonly tone: Tone };
export type Phrase = readonly Part[];

/** One obligation that changed between two ranks. */
export type Change = { readonly name: string; readonly before: number; readonly after: number };

export const plain = (text: string): Part => ({ text, tone: 'plain' });
/** A name from outside that is code: a file, a command. */
export const code = (text: string): Part => ({ text, tone: 'code' });
export const strong = (text: string): Part => ({ text, tone: 'strong' });
