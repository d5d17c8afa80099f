// What Electron's main process and the engine's utility process say to each other. Ports travel beside the message.
import { z } from 'zod';

export const ToEngine = z.discriminatedUnion('t', [
  /** With the port of a page, or of main itself. */
  z.strictObject({ t: z.literal('client') }),
  /** With a port to the runner that was asked for. */
  z.strictObject({ t: z.literal('runner') }),
  z.strictObject({ t: z.literal('runner-exited') }),
  /** Leave the engine in order, then end. */
  z.strictObject({ t: z.literal('close') }),
]);
export type ToEngine = z.infer<typeof ToEngine>;

export const FromEngine = z.discriminatedUnion('t', [
  /** Only main may start processes: with the RunAsNode fuse off, `fork` does not work in the packed app. */
  z.strictObject({ t: z.literal('need-runner') }),
  /** The engine cannot be had; the process ends after it. */
  z.strictObject({ t: z.literal('failed'), message: z.string() }),
]);
export type FromEngine = z.infer<typeof FromEngine>;
