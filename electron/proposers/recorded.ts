// The stored responses of an earlier run, in the order of its draws: the same proposals once more, under a header of their own.
import { z } from 'zod';
import { RunHeader } from '#shared/domain/header.ts';
import { Count, Sha } from '#shared/domain/ids.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import type { Proposer, ResponseReader } from './proposer.ts';
import { readStored } from './tree-changes.ts';

/** What stands in the header: whose responses they are, and the hash of the list of them. No run id: equal records are equal headers. */
export const RecordedOptions = z.strictObject({ of: RunHeader.shape.proposer, record: Sha, attempts: Count });
export type RecordedOptions = z.infer<typeof RecordedOptions>;

/** The list as it is stored: response i belongs to draw i + 1; null where none had come. */
const Recording = z.strictObject({ format: z.literal('pawl.record/1'), responses: z.array(Sha.nullable()) });

const encoder = new TextEncoder();

/** Raised when the same record could be proposed differently. */
export const recordedVersion = 1;

/** The bytes whose hash is `RecordedOptions.record`. */
export function recordBytes(responses: readonly (Sha | null)[]): Uint8Array {
  return encoder.encode(canonicalJson({ format: 'pawl.record/1', responses }));
}

/** The list again; null when the bytes are none. */
export function readRecord(bytes: Uint8Array): readonly (Sha | null)[] | null {
  return readStored(Recording, bytes)?.responses ?? null;
}

export type RecordedInput = {
  readonly options: RecordedOptions;
  readonly responses: readonly (Sha | null)[];
  /** The bytes of one response. Rejects when they are gone, which ends the run's loop: a hole is not an answer. */
  readonly load: (sha: Sha) => Promise<Uint8Array>;
  /** That of the proposer whose responses they are. */
  readonly reader: ResponseReader;
};

/** Draw n gives response n. Past the end no answer comes, so that the attempt is `invalid/no_candidate`. One attempt costs no tokens. */
export function createRecordedProposer({ options, responses, load, reader }: RecordedInput): Proposer {
  return {
    kind: 'recorded',
    version: recordedVersion,
    options,
    propose: async ({ draw, baseTree }, signal) => {
      signal.throwIfAborted();
      const sha = responses[draw - 1];
      const beyond = sha === undefined;
      const message = beyond ? `the record ends after ${responses.length} attempts` : 'no answer had come when it was recorded';
      return {
        request: encoder.encode(
          canonicalJson({ format: 'pawl.recorded.request/1', record: options.record, draw, base: baseTree, response: sha ?? null }),
        ),
        response: sha === undefined || sha === null ? null : await load(sha),
        usage: { requests: 1, promptTokens: 0, completionTokens: 0 },
        ...(sha === undefined || sha === null ? { error: { code: beyond ? 'end_of_record' : 'no_answer', message } } : {}),
      };
    },
    ...reader,
  };
}
