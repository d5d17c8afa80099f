// Where a model's reasoning ends and its answer begins. Servers with a reasoning parser send it apart (`reasoning`, once
// `reasoning_content`); without one it stands in the content, up to `</think>`, often without the opening tag, which the template wrote.

export type Split = {
  readonly reasoning: string;
  readonly answer: string;
  /** `field`: sent apart. `tag`: split at `</think>`. `open`: reasoning began and never ended, so there is no answer. `none`: no reasoning. */
  readonly from: 'field' | 'tag' | 'open' | 'none';
};

const closing = '</think>';
const opening = '<think>';

/**
 * `field` is what came as reasoning, null where nothing did. `startsInside`: the template opened `<think>` in the prompt, so content without
 * `</think>` is all reasoning.
 */
export function splitReasoning(content: string, field: string | null, startsInside: boolean): Split {
  if (field !== null && field !== '') return { reasoning: field, answer: content, from: 'field' };
  const end = content.indexOf(closing);
  const opened = content.trimStart().startsWith(opening);
  if (end >= 0) {
    const start = opened ? content.indexOf(opening) + opening.length : 0;
    return { reasoning: content.slice(start, end).trim(), answer: content.slice(end + closing.length).replace(/^\s+/, ''), from: 'tag' };
  }
  if (opened) return { reasoning: content.slice(content.indexOf(opening) + opening.length).trim(), answer: '', from: 'open' };
  if (startsInside && content !== '') return { reasoning: content.trim(), answer: '', from: 'open' };
  return { reasoning: '', answer: content, from: 'none' };
}
