import { visibleText } from '#renderer/i18n/foreign.ts';

/** Text from outside, set apart: its direction does not reach what stands beside it, and its control characters are seen. */
export function Foreign({ text }: { text: string }) {
  return <bdi>{visibleText(text)}</bdi>;
}
