// What a candidate must be before a verifier sees it (semantics.md, sections 3 and 11). Pure apart from the cache of compiled schemas.
import { hash } from 'node:crypto';
import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Contract } from '#shared/domain/contract.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { checkManifest, sortManifest, treeId } from '#shared/domain/tree-id.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import type { InvalidCode } from '#shared/domain/verdict.ts';
import { writableMatcher } from '#shared/domain/writable.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { compareUtf8 } from '#shared/lib/text.ts';
import { linearPattern } from './linear-pattern.ts';
import { parseStrictJson } from './strict-json.ts';
import { messageOf } from '#shared/lib/message-of.ts';

/** The entries of `files`, sorted as a tree is. Throws where a path occurs twice; does not judge paths (`checkManifest` does). */
export function manifestOf(files: readonly TreeFile[]): Manifest {
  return sortManifest(entriesOf(files));
}

const entriesOf = (files: readonly TreeFile[]): Manifest =>
  files.map(({ path, mode, bytes }) => ({ mode, path, sha: hash('sha256', bytes, 'hex'), size: bytes.length }));

/** Says what is wrong with a document, or null where it fits its schema. */
export type SchemaCheck = (document: unknown) => string | null;

const ajvOptions: Options = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allErrors: false,
  logger: false,
  code: { regExp: Object.assign((source: string) => linearPattern(source), { code: 'linearPattern' }) },
};

const isSchemaObject = (value: unknown): value is AnySchemaObject => typeof value === 'object' && value !== null && !Array.isArray(value);

const compile = (schema: AnySchemaObject, options: Options = ajvOptions): ValidateFunction => {
  const dialect: unknown = schema['$schema'];
  if (typeof dialect !== 'string' || dialect.includes('draft-07')) return new Ajv(options).compile(schema);
  if (dialect.includes('2020-12')) return new Ajv2020(options).compile(schema);
  if (dialect.includes('2019-09')) return new Ajv2019(options).compile(schema);
  throw new Error(`its $schema is ${JSON.stringify(dialect)}; draft-07, 2019-09 and 2020-12 are understood`);
};

/**
 * Compiles a JSON Schema: draft-07 unless `$schema` names 2019-09 or 2020-12. The error says why it is no valid schema; unknown keywords
 * and formats are errors, because a check that is silently skipped is no check. So are patterns that cannot be matched in linear time.
 */
export function compileSchema(bytes: Uint8Array): Result<SchemaCheck, string> {
  const compiled = compileValidator(bytes, ajvOptions);
  if (!compiled.ok) return compiled;
  const validate = compiled.value;
  return ok((value) => (validate(value) ? null : sayError(validate.errors?.[0])));
}

/** As `compileSchema`; the check gives everything that does not fit, in the order in which it is found. */
export function compileSchemaCounting(bytes: Uint8Array): Result<(document: unknown) => readonly string[], string> {
  const compiled = compileValidator(bytes, { ...ajvOptions, allErrors: true });
  if (!compiled.ok) return compiled;
  const validate = compiled.value;
  return ok((value) => (validate(value) ? [] : (validate.errors ?? [undefined]).map(sayError)));
}

const sayError = (error: ErrorObject | undefined): string => {
  const where = error?.instancePath === undefined || error.instancePath === '' ? 'the document' : cut(error.instancePath);
  return `${where} ${error?.message ?? 'does not fit the schema'}`;
};

function compileValidator(bytes: Uint8Array, options: Options): Result<ValidateFunction, string> {
  const document = parseStrictJson(bytes);
  if (!document.ok) return err(document.error);
  if (!isSchemaObject(document.value)) return err('its top level is no JSON object');
  try {
    return ok(compile(document.value, options));
  } catch (error) {
    return err(messageOf(error));
  }
}

const cut = (text: string): string => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

// A run has one schema; a few runs may be alive at once.
const compiled = new Map<Sha, SchemaCheck>();
const compiledKept = 16;

const schemaCheck = (sha: Sha, bytes: Uint8Array): SchemaCheck => {
  const known = compiled.get(sha);
  if (known !== undefined) return known;
  if (hash('sha256', bytes, 'hex') !== sha)
    throw new Error('checkCandidate: the bytes of the schema are not those that the contract names');
  const check = compileSchema(bytes);
  if (!check.ok) throw new Error(`checkCandidate: the contract's schema does not compile: ${check.error}`);
  const oldest = compiled.keys().next();
  if (compiled.size >= compiledKept && oldest.done !== true) compiled.delete(oldest.value);
  compiled.set(sha, check.value);
  return check.value;
};

export type CandidateInput = {
  readonly contract: Contract;
  /** The whole tree that the candidate was made from. Its protected files are the canonical ones: every certified tree holds them unchanged. */
  readonly base: readonly TreeFile[];
  /** The whole candidate tree. Hostile. */
  readonly candidate: readonly TreeFile[];
  /** Bytes of the file that `contract.artifact.schema` names; ignored where the contract has none. */
  readonly schema: Uint8Array | null;
};

/** A candidate that may be verified: its files in tree order, protected ones taken from the base. */
export type CheckedCandidate = { readonly files: readonly TreeFile[]; readonly manifest: Manifest; readonly tree: Sha };

export type InvalidCandidate = { readonly code: InvalidCode; readonly message: string };

const list = (paths: readonly string[]): string =>
  `${paths
    .slice(0, 5)
    .map((path) => JSON.stringify(cut(path)))
    .join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}`;

/**
 * Checks a candidate against the rules of its contract, cheapest first: paths and sizes (`bad_path`, `too_large`), files that it may not
 * touch (`protected_path`), nothing left to write (`empty`), the JSON Schema (`schema`). Executes nothing. Throws only when the schema's
 * bytes are not the contract's, which is the caller's mistake.
 */
export function checkCandidate({ contract, base, candidate, schema }: CandidateInput): Result<CheckedCandidate, InvalidCandidate> {
  const rules = contract.artifact;
  const entries = entriesOf(candidate);
  const paths = checkManifest(entries, { maxFiles: rules.maxFiles, maxBytes: rules.maxBytes });
  if (!paths.ok) return err({ code: paths.error.code, message: paths.error.message });

  const isWritable = writableMatcher(rules);
  const canonical = base.filter((file) => !isWritable(file.path));
  const shas = new Map(entries.map((entry) => [entry.path, entry]));
  const touched: string[] = [];
  for (const entry of entriesOf(canonical)) {
    const own = shas.get(entry.path);
    if (own?.sha !== entry.sha || own.mode !== entry.mode) touched.push(entry.path);
  }
  const known = new Set(canonical.map((file) => file.path));
  for (const file of candidate) if (!isWritable(file.path) && !known.has(file.path)) touched.push(file.path);
  if (touched.length > 0) {
    return err({
      code: 'protected_path',
      message: `the candidate changes what it may not write: ${list(touched.sort(compareUtf8))}; writable is ${list(rules.writable)}`,
    });
  }

  const written = candidate.filter((file) => isWritable(file.path));
  if (written.length === 0 && !rules.allowEmpty) {
    return err({ code: 'empty', message: `the candidate has no file that matches ${list(rules.writable)}` });
  }

  if (rules.schema !== null) {
    if (schema === null) throw new Error(`checkCandidate: the contract names the schema ${rules.schema.path}, its bytes are missing`);
    const check = schemaCheck(rules.schema.sha, schema);
    const { target } = rules.schema;
    const file = candidate.find(({ path }) => path === target);
    if (file === undefined) return err({ code: 'schema', message: `${target} is missing; ${rules.schema.path} describes it` });
    const document = parseStrictJson(file.bytes);
    if (!document.ok) return err({ code: 'schema', message: `${target} cannot be read: ${document.error}` });
    const problem = check(document.value);
    if (problem !== null) return err({ code: 'schema', message: `${target} does not fit ${rules.schema.path}: ${problem}` });
  }

  const manifest = sortManifest(entries);
  const files = [...written, ...canonical].sort((a, b) => compareUtf8(a.path, b.path));
  return ok({ files, manifest, tree: treeId(manifest) });
}
