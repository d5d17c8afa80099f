// Opens one connection to the engine: through the shell in Electron, through a WebSocket in a browser.
import type { DesktopApi } from '#shared/contract/desktop.ts';
import { RpcError } from '#shared/contract/errors.ts';
import type { Port } from '#shared/rpc/port.ts';
import { fromMessagePort, fromWebSocket } from './ports.ts';
import { takeToken } from './session.ts';

const handOverMs = 5_000;

/** Asks the shell for a port and waits until it arrives. Rejects with `unavailable` when none comes. */
function openDesktopPort(desktop: DesktopApi): Promise<Port> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      window.removeEventListener('message', onMessage);
    };
    const onMessage = (event: MessageEvent<unknown>) => {
      if (event.source !== window || event.data !== 'pawl:port') return;
      const port = event.ports[0];
      if (!port) return;
      stop();
      resolve(fromMessagePort(port));
    };
    const timer = setTimeout(() => {
      stop();
      reject(new RpcError('unavailable', 'the shell gave no connection to the engine'));
    }, handOverMs);
    window.addEventListener('message', onMessage);
    desktop.connectEngine();
  });
}

/** Trades the token of the URL for a cookie if there is one, then opens the socket. Rejects with `unavailable` where access is refused. */
async function openWebPort(): Promise<Port> {
  const token = takeToken(window.location, window.history);
  if (token !== null) {
    const answer = await fetch('/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      credentials: 'same-origin',
      body: JSON.stringify({ token }),
    });
    if (!answer.ok) throw new RpcError('unavailable', `the engine refused the token of this address (${answer.status})`);
  }
  const scheme = window.location.protocol === 'https:' ? 'wss' : 'ws';
  const socket = new WebSocket(`${scheme}://${window.location.host}/rpc`);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('close', () => reject(new RpcError('unavailable', 'the engine refused this page, or does not run any more')), {
      once: true,
    });
  });
  return fromWebSocket(socket);
}

/** How this page reaches its engine. */
export const portOpener =
  (desktop: DesktopApi): (() => Promise<Port>) =>
  () =>
    desktop.kind === 'electron' ? openDesktopPort(desktop) : openWebPort();
