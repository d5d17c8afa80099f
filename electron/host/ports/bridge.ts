// Two connections made one: what a host does for its pages when the engine runs in another process.
import type { Port } from '#shared/rpc/port.ts';

/** Hands every frame on, both ways; when either side closes, or cannot carry a frame, both do. */
export function bridge(a: Port, b: Port): void {
  const close = () => {
    a.close();
    b.close();
  };
  const passTo = (port: Port) => (frame: unknown) => {
    try {
      port.send(frame);
    } catch {
      close();
    }
  };
  a.listen(passTo(b), close);
  b.listen(passTo(a), close);
}
