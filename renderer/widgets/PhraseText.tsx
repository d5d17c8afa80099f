import type { Phrase } from '#renderer/i18n/phrase.ts';
import { Foreign } from './Foreign.tsx';
import styles from './PhraseText.module.css';

/** A sentence with its emphasis. */
export function PhraseText({ phrase }: { phrase: Phrase }) {
  // Parts never move within one sentence, so their place is their identity.
  return phrase.map((part, i) =>
    part.tone === 'plain' ? (
      part.text
    ) : (
      <span key={i} className={styles[part.tone]}>
        <Foreign text={part.text} />
      </span>
    ),
  );
}
