// The selection in the address bar, and the address bar in the selection.
import { useEffect, useEffectEvent, useLayoutEffect } from 'react';
import type { RunDetail } from '#shared/contract/run.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { notePlace, type RunPlace } from '#renderer/app/navigation.ts';
import { useUi } from '#renderer/state/store.ts';

// Chromium refuses more than 200 replaced entries in 30 s.
const noteEveryMs = 200;

/** Takes the selection from a link once it is followed, and keeps the address in step with the selection afterwards. */
export function useRunPlace(detail: RunDetail, place: RunPlace): void {
  const { id, contractBody } = detail;
  const take = useEffectEvent((place: RunPlace) => {
    const ui = useUi.getState();
    const named = contractBody.obligations.findIndex((o) => o.key === place.obligation);
    const live = detail.status === 'running';
    if (ui.run !== id) {
      const head = detail.transitions;
      ui.openRun(id, {
        n: place.n ?? head,
        obligation: Math.max(0, named),
        tab: place.tab ?? 'diff',
        follow: live && place.n === null,
        // Where it is a person's turn, that is what there is to do; a link to a transition is about the transition.
        panel: detail.status === 'waiting' && place.n === null && place.tab === null ? { kind: 'propose' } : null,
      });
      ui.setHidden(place.hide.map((name) => outcomes.indexOf(name)));
      return;
    }
    if (place.n !== null) ui.select(place.n, 'jump');
    if (named >= 0) ui.focusObligation(named);
    if (place.tab !== null) ui.setTab(place.tab);
    if (place.n !== null || place.hide.length > 0) ui.setHidden(place.hide.map((name) => outcomes.indexOf(name)));
  });
  // Only a place that was navigated to moves the selection, not a run that goes on.
  useLayoutEffect(() => take(place), [place]);

  const note = useEffectEvent(() => {
    const s = useUi.getState();
    if (s.run !== id) return;
    notePlace({
      screen: 'run',
      run: id,
      n: s.n === 0 || s.follow ? null : s.n,
      tab: s.tab === 'diff' ? null : s.tab,
      obligation: s.obligation === 0 ? null : (contractBody.obligations[s.obligation]?.key ?? null),
      hide: [...s.hidden].toSorted((a, b) => a - b).flatMap((code) => outcomes[code] ?? []),
    });
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = useUi.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        note();
      }, noteEveryMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
}
