// The browser's twin of the preload: the same DesktopApi where there is no shell.
import type { DesktopApi } from '#shared/contract/desktop.ts';

/** A browser names no paths and starts no engine; the connection is a WebSocket and opened by `open-port.ts`. */
export function createWebDesktop(): DesktopApi {
  return {
    kind: 'web',
    platform: navigator.userAgent.includes('Mac') ? 'darwin' : navigator.userAgent.includes('Windows') ? 'win32' : 'linux',
    connectEngine: () => {},
    // A browser asks in its own words.
    warnBeforeClose: () => {},
    pickFolder: () => Promise.resolve(null),
    onEngineStopped: () => () => {},
    restartEngine: () => Promise.resolve(),
  };
}
