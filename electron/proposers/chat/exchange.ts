// One HTTP request and what came back, byte for byte. It is recorded before anything reads it, and everything that is said about an answer
// is made from it again: live, in the candidate's tree and in every replay.
import { z } from 'zod';

/** How the body of the response ended. `complete`: the server closed it as HTTP says. */
export const BodyEnd = z.enum(['complete', 'cut', 'stalled', 'aborted', 'too_long']);
export type BodyEnd = z.infer<typeof BodyEnd>;

export type Exchange = {
  /** Path below the base URL, such as `chat/completions`. */
  readonly path: string;
  /** Body as sent. Headers are not kept: one of them is a secret, the others say nothing. */
  readonly request: Uint8Array;
  /** Null: no response came (`failure` says why). */
  readonly response: {
    readonly status: number;
    readonly contentType: string;
    readonly body: Uint8Array;
    readonly end: BodyEnd;
  } | null;
  /** Why there is no response, or why its body ended as it did; null for `complete`. */
  readonly failure: {
    readonly code: 'refused' | 'unreachable' | 'timeout' | 'reset' | 'aborted' | 'stalled' | 'too_long';
    readonly message: string;
  } | null;
};

const Bytes = z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })]);

/** The form in which exchanges are stored, with the bytes as text where they are UTF-8. */
export const StoredExchange = z.strictObject({
  path: z.string(),
  status: z.int().nullable(),
  contentType: z.string().nullable(),
  body: Bytes.nullable(),
  end: BodyEnd.nullable(),
  failure: z
    .strictObject({ code: z.enum(['refused', 'unreachable', 'timeout', 'reset', 'aborted', 'stalled', 'too_long']), message: z.string() })
    .nullable(),
});
export type StoredExchange = z.infer<typeof StoredExchange>;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

const encodeBytes = (bytes: Uint8Array): z.infer<typeof Bytes> => {
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
};

/** For storage: the response only; the request is stored beside it. */
export function encodeResponse({ path, response, failure }: Exchange): StoredExchange {
  return {
    path,
    status: response?.status ?? null,
    contentType: response?.contentType.toWellFormed() ?? null,
    body: response === null ? null : encodeBytes(response.body),
    end: response?.end ?? null,
    failure: failure === null ? null : { code: failure.code, message: failure.message.toWellFormed() },
  };
}

/** What an answer is read from; `request` matters to no reader and is empty. */
export function decodeResponse({ path, status, contentType, body, end, failure }: StoredExchange): Exchange {
  const bytes =
    body === null ? new Uint8Array() : 'text' in body ? encoder.encode(body.text) : new Uint8Array(Buffer.from(body.base64, 'base64'));
  return {
    path,
    request: new Uint8Array(),
    response: status === null ? null : { status, contentType: contentType ?? '', body: bytes, end: end ?? 'complete' },
    failure,
  };
}
