import { visibleText } from '#renderer/i18n/foreign.ts';
import styles from './MiddleEllipsis.module.css';

const tailLength = 10;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The text in two, `tail` characters as they are read from its end; what is read as one character stays whole. */
export function cutTail(text: string, tail: number): readonly [head: string, tail: string] {
  const starts = Array.from(graphemes.segment(text), ({ index }) => index);
  const at = starts[starts.length - tail] ?? 0;
  return [text.slice(0, at), text.slice(at)];
}

/**
 * A long name that loses its middle, not its end. The whole name is in the document once, so that a copy and a screen reader get all of it; the two
 * visible parts are drawn from attributes. `hint` puts it into a tooltip too.
 */
export function MiddleEllipsis({ text, tail = tailLength, hint = true }: { text: string; tail?: number; hint?: boolean }) {
  const shown = visibleText(text);
  const [head, end] = cutTail(shown, tail);
  return (
    <span className={styles['whole']} title={hint ? shown : undefined} data-head={head} data-tail={end}>
      {/* Alone: with a second box inside, a copy would hold a line break. */}
      <span className={styles['text']}>{shown}</span>
    </span>
  );
}
