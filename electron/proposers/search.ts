// The built-in proposer: blind mutation of the artifact's files, JSON by value and other text by line and token. It needs no model, so the app is useful without a GPU, and it is
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
import { applySplices, type Splice } from './json-text.ts';
import type { MaterialiseError, Proposer } from './proposer.ts';
import { linesAround, readText, textOperators, type TextDocument } from './text-operators.ts';

const searchVersion = 1;

/** What `[search] operators` may name. `json-` ones edit .json files, the others every other file that is UTF-8 text. */
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
  {
    name: 'line-move',
    description: 'Moves a line, mostly a few lines up or down, now and then with the indentation of its new neighbours.',
  },
  { name: 'line-copy', description: 'Copies a line to another place.' },
  { name: 'line-delete', description: 'Removes a line.' },
  { name: 'line-swap', description: 'Swaps two lines, mostly neighbours.' },
  {
    name: 'token-operator',
    description:
      'Replaces an operator by another of its class (comparison, arithmetic, logic, assignment), turns true into false, drops a negation.',
  },
  {
    name: 'token-number',
    description: 'Makes a number one greater or smaller, changes its sign, takes another number of the file, or adds or drops a "+ 1".',
  },
  { name: 'token-name', description: 'Replaces a name by another one of the file, mostly from nearby lines.' },
  { name: 'token-argument', description: 'Swaps two arguments of a call, or two elements of another bracketed list.' },
  { name: 'token-literal', description: 'Replaces a quoted text by another one of the file.' },
] as const;

const jsonNames = ['json-swap', 'json-move', 'json-replace'] as const;
const textNames = [
  ...(['line-move', 'line-copy', 'line-delete', 'line-swap'] as const),
  ...(['token-operator', 'token-number', 'token-name', 'token-argument', 'token-literal'] as const),
] as const;
const JsonOperatorName = z.enum(jsonNames);
const TextOperatorName = z.enum(textNames);

export const SearchOperator = z.enum([...jsonNames, ...textNames]);
export type SearchOperator = z.infer<typeof SearchOperator>;

const Edit = z.strictObject({
  op: SearchOperator,
  path: z.string().min(1),
  /** What is concerned, in the file before this edit: JSON Pointers, or `line 3`, or `3:14` (line and column, from 1). */
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
  /** Globs of files that are left alone although `writable` names them; none where it is absent. */
  readonly except?: readonly string[];
  readonly operators: readonly SearchOperator[];
};

/** Edits in one attempt: one in six draws of nine, two in two, three in the rest. */
const maxEdits = 3;
/** An attempt whose edits undo each other is drawn again, so often at most. */
const maxRedraws = 8;
/** Larger files are left alone: every attempt reads the whole file. */
const maxFileBytes = 4 * 1024 * 1024;
/** The same for text, of which more is read. */
const maxTextBytes = 1024 * 1024;

const equalBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => b[i] === byte);

type Drawn = {
  readonly at: readonly string[];
  readonly splices: readonly Splice[];
  readonly focus: { readonly start: number; readonly end: number };
};

/** A file as one family of operators sees it. */
type Editable<Op extends SearchOperator> = {
  readonly bytes: Uint8Array;
  readonly operators: readonly Op[];
  /** `near`: a byte range on or beside which the edit is to fall, or null. */
  draw(op: Op, random: Random, near: { readonly start: number; readonly end: number } | null): Drawn | null;
  /** The same file with other bytes; null where they cannot be read any more. */
  reopen(bytes: Uint8Array): Editable<Op> | null;
};

const asJson = (
  document: JsonDocument,
  operators: readonly z.infer<typeof JsonOperatorName>[],
): Editable<z.infer<typeof JsonOperatorName>> => ({
  bytes: document.bytes,
  operators,
  draw: (op, random, near) => jsonOperators[op](document, random, near === null ? null : enclosing(document, near)),
  reopen: (bytes) => {
    const next = readDocument(bytes);
    return next === null ? null : asJson(next, operators);
  },
});

const asText = (
  document: TextDocument,
  operators: readonly z.infer<typeof TextOperatorName>[],
): Editable<z.infer<typeof TextOperatorName>> => ({
  bytes: document.bytes,
  operators,
  draw: (op, random, near) => textOperators[op](document, random, near === null ? null : linesAround(document, near)),
  reopen: (bytes) => {
    const next = readText(document.path, bytes);
    return next === null ? null : asText(next, operators);
  },
});

// A later edit falls in half of the draws on or beside what the one before it touched: two changes that only make sense together (a
// thing moved, and then adapted to its new place) would otherwise hardly ever meet.
const drawEdits = <Op extends SearchOperator>(
  path: string,
  start: Editable<Op>,
  random: Random,
): { edits: SearchEdit[]; bytes: Uint8Array } => {
  const edits: SearchEdit[] = [];
  let file = start;
  let focus: { start: number; end: number } | null = null;
  do {
    const near: { start: number; end: number } | null = focus !== null && random.int(2) === 0 ? focus : null;
    const untried = [...file.operators];
    let drawn: { readonly op: Op; readonly edit: Drawn } | null = null;
    while (drawn === null && untried.length > 0) {
      const [op] = untried.splice(random.int(untried.length), 1);
      if (op === undefined) break;
      const edit = file.draw(op, random, near);
      if (edit !== null) drawn = { op, edit };
    }
    if (drawn === null) break;
    const { op, edit }: { readonly op: Op; readonly edit: Drawn } = drawn;
    const bytes = applySplices(file.bytes, edit.splices);
    const next = bytes === null ? null : file.reopen(bytes);
    if (next === null) throw new Error(`search: ${op} left ${path} in a form that cannot be read again; this is a defect of the operator`);
    edits.push({ op, path, at: [...edit.at], splices: [...edit.splices] });
    file = next;
    focus = edit.focus;
  } while (edits.length < maxEdits && random.int(3) === 0);
  return { edits, bytes: file.bytes };
};

type Candidate = { readonly file: TreeFile; edit(random: Random): { edits: SearchEdit[]; bytes: Uint8Array } };

/** A file that may be text, not yet read; `weight` is its share of the draws. */
type TextFile = { readonly file: TreeFile; readonly weight: number };

// Files are drawn in proportion to their bytes, so that every line has about the same chance, and only the drawn one is read: a
// repository may have thousands. One that is no text is not drawn again.
const pickText = (files: TextFile[], operators: readonly z.infer<typeof TextOperatorName>[], random: Random): Candidate | null => {
  while (files.length > 0) {
    let left = random.int(files.reduce((sum, { weight }) => sum + weight, 0));
    const index = files.findIndex(({ weight }) => (left -= weight) < 0);
    const file = files[index]?.file;
    const document = file === undefined ? null : readText(file.path, file.bytes);
    if (file === undefined || document === null) files.splice(index, 1);
    else return { file, edit: (random) => drawEdits(file.path, asText(document, operators), random) };
  }
  return null;
};

/**
 * Draws attempt `draw` over the base `files`. Pure: equal inputs give equal proposals on every machine. A proposal always differs from
 * the base; `none` says why there is none.
 */
export function proposeBySearch(input: SearchInput): SearchProposal {
  const random = createRandom(['search', searchVersion, input.seed, input.draw]);
  const { writable, except = [] } = input;
  const isWritable = picomatch([...writable], { dot: true, ...(except.length === 0 ? {} : { ignore: [...except] }) });
  const jsonOps = input.operators.flatMap((op) => JsonOperatorName.safeParse(op).data ?? []);
  const textOps = input.operators.flatMap((op) => TextOperatorName.safeParse(op).data ?? []);
  const documents: Candidate[] = [];
  const texts: TextFile[] = [];
  for (const file of input.files) {
    if (!isWritable(file.path)) continue;
    if (!file.path.toLowerCase().endsWith('.json')) {
      if (textOps.length > 0 && file.bytes.length > 0 && file.bytes.length <= maxTextBytes) texts.push({ file, weight: file.bytes.length });
      continue;
    }
    const document = jsonOps.length === 0 || file.bytes.length > maxFileBytes ? null : readDocument(file.bytes);
    if (document !== null) documents.push({ file, edit: (random) => drawEdits(file.path, asJson(document, jsonOps), random) });
  }
  const pick = (): Candidate | null => {
    // With both kinds of operators, each kind of file has a share of the draws like its share of the operators.
    const takeText = texts.length > 0 && (documents.length === 0 || random.int(jsonOps.length + textOps.length) >= jsonOps.length);
    return (takeText ? pickText(texts, textOps, random) : null) ?? (documents.length > 0 ? random.pick(documents) : null);
  };
  let found = false;
  for (let i = 0; i < maxRedraws; i++) {
    const candidate = pick();
    if (candidate === null) break;
    found = true;
    const { file } = candidate;
    const { edits, bytes } = candidate.edit(random);
    if (edits.length > 0 && !equalBytes(bytes, file.bytes)) return { kind: 'edits', edits, files: [{ ...file, bytes }] };
  }
  const kinds = [...(jsonOps.length > 0 ? ['a JSON document'] : []), ...(textOps.length > 0 ? ['a text file (other than .json)'] : [])];
  if (!found) return { kind: 'none', reason: `no writable file is ${kinds.join(' or ')} that search can edit` };
  return { kind: 'none', reason: `none of ${input.operators.join(', ')} found anything to change` };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** The bytes that are stored as the request: all that determines the proposal (`baseTree` stands for the files). */
function searchRequest({ seed, draw, baseTree, writable, except, operators }: Omit<SearchInput, 'files'>): Uint8Array {
  const left = except === undefined ? {} : { except };
  return encoder.encode(
    canonicalJson({ format: 'pawl.search.request/1', version: searchVersion, seed, draw, base: baseTree, writable, ...left, operators }),
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

/** Whether a stored response has edits of the search, each of which holds the bytes that it replaces. */
export function quotesBase(response: Uint8Array): boolean {
  return readResponse(response)?.kind === 'edits';
}

/** What determines a search beside the base: its operators, and what it leaves alone (the task's protected files, which it could only waste attempts on). */
export type SearchOptions = { readonly operators: readonly SearchOperator[]; readonly except?: readonly string[] };

/** The built-in search with these options, as a proposer. One attempt is one request that costs no tokens. */
export function createSearchProposer({ operators, except }: SearchOptions): Proposer {
  // Absent where there is nothing to leave alone, and in runs that began before there was such an option.
  const options = { operators, ...(except === undefined ? {} : { except }) };
  return {
    kind: 'search',
    version: searchVersion,
    options,
    propose: async (context, signal) => {
      signal.throwIfAborted();
      const { seed, draw, baseTree, base, writable } = context;
      const proposal = proposeBySearch({ seed, draw, baseTree, files: base, writable, ...options });
      return {
        request: searchRequest({ seed, draw, baseTree, writable, ...options }),
        response: searchResponse(proposal),
        usage: { promptTokens: 0, completionTokens: 0, requests: 1 },
      };
    },
    materialise: materialiseSearch,
  };
}
