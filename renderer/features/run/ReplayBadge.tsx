import { Check, X } from 'lucide-react';
import { assertNever } from '#shared/lib/assert.ts';
import type { Dictionary } from '#renderer/i18n/dictionary.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import type { DecisionReplay } from './use-decision-replay.ts';
import styles from './ReplayBadge.module.css';

type Props = { readonly replay: DecisionReplay; readonly transitions: number; readonly onOpen: () => void };

/** Whether the decisions of this run, all that there are now, were recomputed on this machine. Green means that and nothing less. */
export function ReplayBadge({ replay, transitions, onOpen }: Props) {
  const { t } = useText();
  const { work } = replay;
  const standing = work.kind === 'running' ? 'running' : replay.standing;
  return (
    <button
      type="button"
      className={styles['badge']}
      data-standing={standing}
      data-testid="replay-badge"
      onClick={onOpen}
      title={standing === 'matches' ? t.replayMatchesTitle : t.replayNotCheckedTitle}
    >
      {standing === 'matches' ? <Check size={12} aria-hidden="true" /> : standing === 'differs' ? <X size={12} aria-hidden="true" /> : null}
      {words(replay, transitions, t)}
    </button>
  );
}

function words({ standing, status, work }: DecisionReplay, transitions: number, t: Dictionary): string {
  if (work.kind === 'running') return t.replayRunning(work.of === 0 ? 0 : Math.floor((work.transitions / work.of) * 100));
  switch (standing) {
    case 'unknown':
    case 'never':
      return t.replayNotChecked;
    case 'matches':
      return t.replayMatches;
    case 'grown':
      return t.replayGrown(status?.transitions ?? 0, transitions);
    case 'differs':
      return t.replayDiffers((status?.mismatches ?? 0) + (status?.missing ?? 0));
    default:
      return assertNever(standing, 'standing');
  }
}
