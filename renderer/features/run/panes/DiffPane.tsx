import type { TransitionDetail } from '#shared/contract/run.ts';
import { TransitionDiff } from '#renderer/features/diff/index.ts';
import { useText } from '#renderer/i18n/use-text.ts';

/** The files that differ from the certified base, base against candidate. `awaited`: the transition that is to take its place. */
export function DiffPane({ detail, awaited }: { detail: TransitionDetail; awaited: number | null }) {
  const { t } = useText();
  const { changes, transition, baseSeq } = detail;
  return (
    <TransitionDiff
      changes={changes}
      awaited={awaited === null ? undefined : t.transitionName(awaited)}
      labels={{ base: t.baseLabel(baseSeq), candidate: t.candidateLabel(transition.n, t.outcome[transition.outcome]) }}
    />
  );
}
