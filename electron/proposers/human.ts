// A candidate that a person wrote. It is stored, read back, checked and verified like every other.
import { z } from 'zod';
import type { TreeFile } from '#shared/domain/tree.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { err, type Result } from '#shared/lib/result.ts';
import type { MaterialiseError, Proposer } from './proposer.ts';
import { applyChanges, encodeChanges, readStored, TreeChanges } from './tree-changes.ts';

const format = 'pawl.human/1';
const HumanResponse = TreeChanges.extend({ format: z.literal(format) });

/** One file as it was submitted: its whole text, or null to remove it. */
export type HumanFile = { readonly path: string; readonly text: string | null };

/** Raised when equal submissions could be stored differently, or a stored one give another tree. */
export const humanVersion = 1;

const encoder = new TextEncoder();

/** The bytes that are stored for what a person submitted over `base`. A file keeps its mode; a new one is a plain file. */
export function humanResponse(base: readonly TreeFile[], files: readonly HumanFile[]): Uint8Array {
  const modes = new Map(base.map(({ path, mode }) => [path, mode]));
  const changed = files.flatMap(({ path, text }): TreeFile[] =>
    text === null ? [] : [{ path, mode: modes.get(path) ?? 'file', bytes: encoder.encode(text) }],
  );
  const removed = files.flatMap(({ path, text }) => (text === null ? [path] : []));
  return encoder.encode(canonicalJson({ format, ...encodeChanges(changed, removed) }));
}

/** Pure; the candidate's whole tree. */
export function materialiseHuman(response: Uint8Array, base: readonly TreeFile[]): Result<readonly TreeFile[], MaterialiseError> {
  const parsed = readStored(HumanResponse, response);
  return parsed === null
    ? err({ code: 'no_candidate', message: `the stored response is not a ${format} document` })
    : applyChanges(base, parsed);
}

/** Whether a response is one of a person, whoever proposes in its run. */
export function isHumanResponse(response: Uint8Array): boolean {
  return readStored(HumanResponse, response) !== null;
}

/** Proposes what was submitted. One attempt counts as one request, whoever was asked. */
export function createHumanProposer(files: readonly HumanFile[]): Proposer {
  return {
    kind: 'human',
    version: humanVersion,
    options: {},
    propose: async ({ base, baseTree }, signal) => {
      signal.throwIfAborted();
      return {
        request: encoder.encode(canonicalJson({ format: 'pawl.human.request/1', base: baseTree })),
        response: humanResponse(base, files),
        usage: { requests: 1, promptTokens: 0, completionTokens: 0 },
      };
    },
    materialise: materialiseHuman,
  };
}
