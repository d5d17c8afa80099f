import type { TransitionDetail } from '#shared/contract/run.ts';
import { TransitionDiff } from '#renderer/features/diff/index.ts';
import { useText } from '#renderer/i18n/use-text.ts';

/** The files that differ from the certified base, base against candidate. */
export function DiffPane({ detail }: { detail: TransitionDetail }) {
  const { t } = useText();
  const { changes, transition, baseSeq } = detail;
  return (
    <TransitionDiff
      changes={changes}
      labels={{ base: t.baseLabel(baseSeq), candidate: t.candidateLabel(transition.n, t.outcome[transition.outcome]) }}
    />
  );
}
