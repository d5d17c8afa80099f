// The built-in proposer: blind mutation of the artifact's JSON files. It needs no model, so the app is useful without a GPU, and it is
// the baseline that a model has to beat. Attempt n is drawn from hash(seed, n) over the base tree and nothing else (product.md,
// Proposers), so resume, timing and the number of cores cannot change a proposal.
import picomatch from 'picomatch';
import { z } from 'zod';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { createRandom, type Random } from '#shared/lib/random.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { Count, type Sha } from '#shared/domain/ids.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { enclosing, jsonOperators, readDocument, type JsonDocument } from './json-operators.ts';
import { applySplices } from './json-text.ts';
import type { MaterialiseError, Proposer } from './proposer.ts';

export const searchVersion = 1;

/** What `[search] operators` may name. Mutations of text lines and code tokens do not exist yet: the task loader refuses their names. */
export const searchOperators = [
  {
    name: 'json-swap',
    description: 'Swaps two values of a JSON file, mostly of the same kind: same member name, same shape or corresponding place.',
  },
  { name: 'json-move', description: 'Moves an element of a JSON array to another position, or to another array that may hold it.' },
  {
    name: 'json-replace',
    description: 'Replaces a scalar of a JSON file by another one found in the file, mostly under the same member name.',
  },
] as const;

export const SearchOperator = z.enum(['json-swap', 'json-move', 'json-replace']);
export type SearchOperator = z.infer<typeof SearchOperator>;

const Edit = z.strictObject({
  op: SearchOperator,
  path: z.string().min(1),
  /** JSON Pointers of the values concerned, in the document before this edit. */
  at: z.array(z.string()),
  /** Byte ranges of the file before this edit. */
  splices: z.array(z.strictObject({ start: Count, end: Count, old: z.string(), new: z.string() })),
});
export type SearchEdit = z.infer<typeof Edit>;

/** The stored answer: edits in the order in which they are applied, or the reason why there are none. */
const SearchResponse = z.discriminatedUnion('kind', [
  z.strictObject({ format: z.literal('pawl.search/1'), kind: z.literal('edits'), edits: z.array(Edit).min(1) }),
  z.strictObject({ format: z.literal('pawl.search/1'), kind: z.literal('none'), reason: z.string() }),
]);

export type SearchProposal =
  /** `files`: the changed files only, whole. */
  | { readonly kind: 'edits'; readonly edits: readonly SearchEdit[]; readonly files: readonly TreeFile[] }
  | { readonly kind: 'none'; readonly reason: string };

export type SearchInput = {
  readonly seed: number;
  readonly draw: number;
  readonly baseTree: Sha;
  readonly files: readonly TreeFile[];
  readonly writable: readonly string[];
  readonly operators: readonly SearchOperator[];
};

/** Edits in one attempt: one in six draws of nine, two in two, three in the rest. */
const maxEdits = 3;
/** An attempt whose edits undo each other is drawn again, so often at most. */
const maxRedraws = 8;
/** Larger files are left alone: every attempt reads the whole file. */
const maxFileBytes = 4 * 1024 * 1024;

const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => b[i] === byte);

// A later edit falls in half of the draws on or beside the value that the one before it touched: two changes that only make sense
// together (a thing moved, and then adapted to its new place) would otherwise hardly ever meet.
const drawEdits = (
  path: string,
  start: JsonDocument,
  operators: readonly SearchOperator[],
  random: Random,
): { edits: SearchEdit[]; bytes: Uint8Array } => {
  const edits: SearchEdit[] = [];
  let document = start;
  let focus: { start: number; end: number } | null = null;
  do {
    const within: { start: number; end: number } | null = focus !== null && random.int(2) === 0 ? enclosing(document, focus) : null;
    const untried = [...operators];
    let drawn = null;
    while (drawn === null && untried.length > 0) {
      const [op] = untried.splice(random.int(untried.length), 1);
      if (op === undefined) break;
      const edit = jsonOperators[op](document, random, within);
      if (edit !== null) drawn = { op, edit };
    }
    if (drawn === null) break;
    const { op, edit } = drawn;
    const bytes = applySplices(document.bytes, edit.splices);
    const next = bytes === null ? null : readDocument(bytes);
    if (next === null) throw new Error(`search: ${op} left ${path} without JSON; this is a defect of the operator`);
    edits.push({ op, path, at: [...edit.at], splices: [...edit.splices] });
    document = next;
    focus = edit.focus;
  } while (edits.length < maxEdits && random.int(3) === 0);
  return { edits, bytes: document.bytes };
};

/**
 * Draws attempt `draw` over the base `files`. Pure: equal inputs give equal proposals on every machine. A proposal always differs from
 * the base; `none` says why there is none.
 */
export function proposeBySearch(input: SearchInput): SearchProposal {
  const random = createRandom(['search', searchVersion, input.seed, input.draw]);
  const isWritable = picomatch([...input.writable], { dot: true });
  const documents = input.files.flatMap((file) => {
    if (!file.path.toLowerCase().endsWith('.json') || file.bytes.length > maxFileBytes || !isWritable(file.path)) return [];
    const document = readDocument(file.bytes);
    return document === null ? [] : [{ file, document }];
  });
  if (documents.length === 0) return { kind: 'none', reason: 'no writable file is a JSON document that search can edit' };
  for (let i = 0; i < maxRedraws; i++) {
    const { file, document } = random.pick(documents);
    const { edits, bytes } = drawEdits(file.path, document, input.operators, random);
    if (edits.length > 0 && !equalBytes(bytes, file.bytes)) return { kind: 'edits', edits, files: [{ ...file, bytes }] };
  }
  return { kind: 'none', reason: `none of ${input.operators.join(', ')} found anything to change` };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** The bytes that are stored as the request: all that determines the proposal (`baseTree` stands for the files). */
export function searchRequest({ seed, draw, baseTree, writable, operators }: Omit<SearchInput, 'files'>): Uint8Array {
  return encoder.encode(
    canonicalJson({ format: 'pawl.search.request/1', version: searchVersion, seed, draw, base: baseTree, writable, operators }),
  );
}

/** The bytes that are stored as the response; `materialiseSearch` reads them. */
export function searchResponse(proposal: SearchProposal): Uint8Array {
  return encoder.encode(
    canonicalJson(
      proposal.kind === 'none'
        ? { format: 'pawl.search/1', kind: 'none', reason: proposal.reason }
        : { format: 'pawl.search/1', kind: 'edits', edits: proposal.edits },
    ),
  );
}

const readResponse = (bytes: Uint8Array): z.infer<typeof SearchResponse> | null => {
  try {
    return SearchResponse.safeParse(JSON.parse(decoder.decode(bytes))).data ?? null;
  } catch {
    return null;
  }
};

/**
 * The whole candidate tree that a stored response makes of its base. Pure; a replay rebuilds the tree from the stored bytes alone.
 * `no_candidate`: not a response of this format, or one without edits; `apply_failed`: made for another base.
 */
export function materialiseSearch(response: Uint8Array, base: readonly TreeFile[]): Result<readonly TreeFile[], MaterialiseError> {
  const parsed = readResponse(response);
  if (parsed === null) return err({ code: 'no_candidate', message: 'the stored response is not a pawl.search/1 document' });
  if (parsed.kind === 'none') return err({ code: 'no_candidate', message: parsed.reason });
  const files = [...base];
  for (const [i, edit] of parsed.edits.entries()) {
    const index = files.findIndex(({ path }) => path === edit.path);
    const file = files[index];
    const bytes = file === undefined ? null : applySplices(file.bytes, edit.splices);
    if (file === undefined || bytes === null) {
      const why = file === undefined ? 'the base has no such file' : 'the base has other bytes there';
      return err({ code: 'apply_failed', message: `edit ${i + 1} (${edit.op} in ${edit.path}) does not apply: ${why}` });
    }
    files[index] = { ...file, bytes };
  }
  return ok(files);
}

/** The built-in search with these operators, as a proposer. One attempt is one request that costs no tokens. */
export function createSearchProposer({ operators }: { readonly operators: readonly SearchOperator[] }): Proposer {
  return {
    kind: 'search',
    version: searchVersion,
    options: { operators },
    propose: async (context, signal) => {
      signal.throwIfAborted();
      const { seed, draw, baseTree, base, writable } = context;
      const proposal = proposeBySearch({ seed, draw, baseTree, files: base, writable, operators });
      return {
        request: searchRequest({ seed, draw, baseTree, writable, operators }),
        response: searchResponse(proposal),
        usage: { promptTokens: 0, completionTokens: 0, requests: 1 },
      };
    },
    materialise: materialiseSearch,
  };
}
