// Whether a stored request asks for what its run had pinned. Proposers write requests of their own forms; all of them name what they were
// made from by the same members.
import { z } from 'zod';
import type { Sha } from '../ids.ts';

/** What the header, the contract and the round determine. */
export type PinnedRequest = {
  /** Tree of the head that the attempt starts from. */
  readonly base: Sha;
  readonly instruction: Sha;
  readonly seed: number;
  readonly n: number;
  readonly draw: number;
  readonly slot: number;
};

export type RequestCheck =
  | { readonly kind: 'pinned'; readonly memory: boolean }
  /** It is no JSON object that names its base. */
  | { readonly kind: 'unnamed' }
  | { readonly kind: 'other'; readonly field: keyof PinnedRequest; readonly named: string; readonly pinned: string };

const Request = z.looseObject({
  base: z.string(),
  instruction: z.string().optional(),
  seed: z.number().optional(),
  n: z.number().optional(),
  draw: z.number().optional(),
  slot: z.number().optional(),
  memory: z.array(z.unknown()).optional(),
});

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Compares every member that a request has with what is pinned; a request has to name its base. */
export function checkRequest(bytes: Uint8Array, pinned: PinnedRequest): RequestCheck {
  let json: unknown;
  try {
    json = JSON.parse(decoder.decode(bytes));
  } catch {
    return { kind: 'unnamed' };
  }
  const request = Request.safeParse(json);
  if (!request.success) return { kind: 'unnamed' };
  for (const field of ['base', 'instruction', 'seed', 'n', 'draw', 'slot'] as const) {
    const named = request.data[field];
    if (named !== undefined && named !== pinned[field])
      return { kind: 'other', field, named: String(named), pinned: String(pinned[field]) };
  }
  return { kind: 'pinned', memory: (request.data.memory ?? []).length > 0 };
}
