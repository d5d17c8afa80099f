// What moves the selection without a key: following a live run, and playing.
import { useEffect } from 'react';
import type { RunData, RunStore } from '#renderer/state/run-data.ts';
import { end, step } from '#renderer/state/steps.ts';
import { useUi } from '#renderer/state/store.ts';

const playMs = 120;

/** Keeps the newest transition selected while `follow` is on; selects the first one there is when nothing is. */
export function useFollow(data: RunData): void {
  const follow = useUi((s) => s.follow);
  useEffect(() => {
    const ui = useUi.getState();
    if (data.count === 0) return;
    if (ui.n === 0 || ui.n > data.count || follow) ui.select(end(data, 1, ui.hidden) ?? data.count, 'follow');
  }, [data, follow]);
}

/** Steps forward by itself while `playing` is on; stops at the end. Takes the store itself, so that a live run does not start its clock anew. */
export function usePlay(data: RunStore): void {
  const playing = useUi((s) => s.playing);
  useEffect(() => {
    if (!playing) return undefined;
    const timer = setInterval(() => {
      const ui = useUi.getState();
      const to = step(data, ui.n, 1, ui.hidden);
      if (to === null) ui.setPlaying(false);
      else ui.select(to, 'step');
    }, playMs);
    return () => clearInterval(timer);
  }, [data, playing]);
}
