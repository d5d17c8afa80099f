// `window.waitForIdle()`: tests wait until the page has nothing left to do, and never for a number of milliseconds.
import { requestsUnderWay } from '#renderer/client/activity.ts';

declare global {
  interface Window {
    /** Resolves once there were no requests, no changes of the document and no finite animations for 100 ms. */
    waitForIdle?: () => Promise<void>;
  }
}

const quietMs = 100;
const isFinite = (animation: Animation): boolean => animation.effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY;

/** Puts `waitForIdle` on the window. */
export function installIdle(): void {
  let lastChange = performance.now();
  const observer = new MutationObserver(() => {
    lastChange = performance.now();
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  window.waitForIdle = () =>
    new Promise((resolve) => {
      const look = () => {
        const moving = document.getAnimations().some((animation) => animation.playState === 'running' && isFinite(animation));
        if (requestsUnderWay() > 0 || moving) lastChange = performance.now();
        if (performance.now() - lastChange >= quietMs) resolve();
        else requestAnimationFrame(look);
      };
      lastChange = performance.now();
      requestAnimationFrame(look);
    });
}
