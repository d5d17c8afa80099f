// What a stored request asked for, and whether that is what its run had pinned. Proposers write requests of their own forms; all of them name
// what they were made from by the same members, or carry it in the conversation that was sent to a model.
import { z } from 'zod';
import type { Sha } from '../ids.ts';

/** What the header, the contract and the round determine. */
export type PinnedRequest = {
  /** Tree of the head that the attempt starts from. */
  readonly base: Sha;
  readonly instruction: Sha;
  /** null where it is not stored, or no text. */
  readonly instructionText: string | null;
  readonly seed: number;
  readonly n: number;
  readonly draw: number;
  readonly slot: number;
};

type Named = Exclude<keyof PinnedRequest, 'instructionText'>;

export type RequestCheck =
  | { readonly kind: 'pinned' }
  /** It is no JSON object that names its base or carries a conversation. */
  | { readonly kind: 'unnamed' }
  | { readonly kind: 'other'; readonly field: Named; readonly named: string; readonly pinned: string };

const Request = z.looseObject({
  base: z.string().optional(),
  instruction: z.string().optional(),
  seed: z.number().optional(),
  n: z.number().optional(),
  draw: z.number().optional(),
  slot: z.number().optional(),
  /** What was sent to a model server, as it was sent; null where nothing was sent. */
  body: z.string().nullable().optional(),
});
const Conversation = z.looseObject({ messages: z.array(z.looseObject({ content: z.string() })) });

const decoder = new TextDecoder('utf-8', { fatal: true });

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

function readRequest(bytes: Uint8Array): z.infer<typeof Request> | null {
  try {
    return Request.safeParse(jsonIn(decoder.decode(bytes))).data ?? null;
  } catch {
    return null;
  }
}

const conversationIn = (body: string): string | null => {
  const read = Conversation.safeParse(jsonIn(body));
  return read.success ? read.data.messages.map(({ content }) => content).join('\n') : null;
};

/** Everything that a model was told with a request; null for one that went to no model. */
export function promptIn(bytes: Uint8Array): string | null {
  const body = readRequest(bytes)?.body;
  return typeof body === 'string' ? conversationIn(body) : null;
}

/**
 * Compares every member that a request has with what is pinned. A request has to name its base, or to carry a conversation in which the
 * instruction stands whole; one that was never sent asks for nothing.
 */
export function checkRequest(bytes: Uint8Array, pinned: PinnedRequest): RequestCheck {
  const request = readRequest(bytes);
  if (request === null) return { kind: 'unnamed' };
  for (const field of ['base', 'instruction', 'seed', 'n', 'draw', 'slot'] as const) {
    const named = request[field];
    if (named !== undefined && named !== pinned[field])
      return { kind: 'other', field, named: String(named), pinned: String(pinned[field]) };
  }
  const { base, body } = request;
  if (base !== undefined || body === null) return { kind: 'pinned' };
  const said = body === undefined ? null : conversationIn(body);
  if (said === null || pinned.instructionText === null) return { kind: 'unnamed' };
  return said.includes(pinned.instructionText)
    ? { kind: 'pinned' }
    : { kind: 'other', field: 'instruction', named: 'a conversation without it', pinned: pinned.instruction };
}
