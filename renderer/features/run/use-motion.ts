// What moves the selection without a key: following a live run, and playing.
import { useEffect } from 'react';
import type { RunData } from '#renderer/state/run-data.ts';
import { end, step } from '#renderer/state/steps.ts';
import { useUi } from '#renderer/state/store.ts';

const playMs = 120;

/** Keeps the newest transition selected while `follow` is on; selects the first one there is when nothing is. */
export function useFollow(data: RunData, version: number): void {
  const follow = useUi((s) => s.follow);
  useEffect(() => {
    const ui = useUi.getState();
    if (version === 0 || data.count === 0) return;
    if (ui.n === 0 || ui.n > data.count || follow) ui.select(end(data, 1, ui.hidden) ?? data.count, 'follow');
  }, [data, version, follow]);
}

/** Steps forward by itself while `playing` is on; stops at the end. */
export function usePlay(data: RunData): void {
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
