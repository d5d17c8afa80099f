import type { RunData } from '#renderer/state/run-data.ts';
import { reasonOf } from '#renderer/state/reason.ts';
import { variationPlace } from '#renderer/state/steps.ts';
import { useUi } from '#renderer/state/store.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { useText, type Text } from '#renderer/i18n/use-text.ts';

const most = 3;

/** "incomparable, clashes 12 to 13, variation 3 of 12": the selection for those who do not see it. */
function announcement(data: RunData, n: number, { t }: Text): string {
  const reason = n > 0 ? reasonOf(data, n) : null;
  if (!reason) return '';
  const changes = [...reason.worse, ...reason.better].slice(0, most).map((c) => t.announceChange(visibleText(c.name), c.before, c.after));
  const place = variationPlace(data, n);
  return t.announce(
    t.outcome[reason.outcome],
    changes.join(', '),
    place ? t.variation(place.index, place.total) : t.mainLine(data.bundleSeq(n)),
  );
}

/** Says the selected transition, and what a key did not find, politely. */
export function Announcer({ data, n }: { data: RunData; n: number }) {
  const text = useText();
  const notice = useUi((s) => s.notice);
  return (
    <output className="visually-hidden" aria-live="polite">
      {notice === '' ? announcement(data, n, text) : visibleText(notice)}
    </output>
  );
}
