// Why a transition became what it became, as a sentence in the reader's language.
import type { Outcome } from '#shared/domain/transition.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import { assertNever } from '#shared/lib/assert.ts';
import type { Dictionary } from '#renderer/i18n/dictionary.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import type { Change, Phrase } from '#renderer/i18n/phrase.ts';
import type { ObligationRow, Reason } from '#renderer/state/reason.ts';

/** The reason as a sentence. `verdict` is null until the details are there; only the code of an invalid or missing verdict needs it. */
export function explain(reason: Reason, verdict: Verdict | null, t: Dictionary): Phrase {
  const changes = (rows: readonly ObligationRow[]): Change[] =>
    rows.map(({ name, before, after }) => ({ name: visibleText(name), before, after }));
  const code = verdict && verdict.kind !== 'ranked' ? t.verdictCode[verdict.code] : null;
  switch (reason.outcome) {
    case 'commit':
      return t.whyCommit(changes(reason.better));
    case 'tie':
      return t.whyTie();
    case 'regression':
      return t.whyRegression(changes(reason.worse));
    case 'incomparable':
      return t.whyIncomparable(changes(reason.better), changes(reason.worse));
    case 'not_selected':
      return t.whyNotSelected(changes(reason.better), reason.winner);
    case 'duplicate':
      return t.whyDuplicate(Math.max(0, reason.duplicateOf));
    case 'unstable':
      return t.whyUnstable();
    case 'invalid':
      return t.whyInvalid(code);
    case 'no_verdict':
      return t.whyNoVerdict(code);
    case 'aborted':
      return t.whyAborted();
    default:
      return assertNever(reason.outcome, 'outcome');
  }
}

/** Heading over the sentence. */
export function whyHeading(outcome: Outcome, t: Dictionary): string {
  return outcome === 'commit' ? t.whyCommitted : outcome === 'aborted' || outcome === 'no_verdict' ? t.whyUndecided : t.whyRejected;
}
