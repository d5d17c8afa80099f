// What travels over a Port. Requests go one way, answers the other; `id` is chosen by the client.
import { z } from 'zod';
import { ErrorCode, ErrorWhere } from '#shared/contract/errors.ts';

const Id = z.int().min(1);

// `undefined` has no place in JSON: over a socket a missing input or value is how it arrives.
export const ClientFrame = z.discriminatedUnion('t', [
  /** A call; with `credit`, a stream that may send so many items before it is given more. */
  z.object({ t: z.literal('call'), id: Id, name: z.string(), input: z.unknown().optional(), credit: z.int().min(0).optional() }),
  z.object({ t: z.literal('credit'), id: Id, n: z.int().min(1) }),
  z.object({ t: z.literal('cancel'), id: Id }),
  /** Bytes of a stored object, for hosts that answer `/blob/<sha>`. Never sent by a page. */
  z.object({ t: z.literal('blob'), id: Id, sha: z.string() }),
  /** Answers the server's: no call follows. */
  z.object({ t: z.literal('bye') }),
  /** Asks whether the server is still there: it has been silent. */
  z.object({ t: z.literal('ping') }),
]);
export type ClientFrame = z.infer<typeof ClientFrame>;

export const ServerFrame = z.discriminatedUnion('t', [
  /** First frame of every connection. */
  z.object({ t: z.literal('hello'), contract: z.string(), version: z.string(), journal: z.int() }),
  z.object({ t: z.literal('ok'), id: Id, value: z.unknown().optional() }),
  z.object({ t: z.literal('items'), id: Id, values: z.array(z.unknown()) }),
  z.object({ t: z.literal('end'), id: Id }),
  z.object({ t: z.literal('err'), id: Id, code: ErrorCode, message: z.string(), where: ErrorWhere }),
  /** The server is about to close. It waits for the client's `bye`, so that no call is left unread and nobody has to guess whether one began. */
  z.object({ t: z.literal('bye') }),
  z.object({ t: z.literal('pong') }),
]);
export type ServerFrame = z.infer<typeof ServerFrame>;

/** Most items in one `items` frame, and the longest that a first item waits for company. */
export const maxBatch = 256;
export const batchDelayMs = 4;
