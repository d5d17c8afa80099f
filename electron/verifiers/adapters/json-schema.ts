// How much of one file of the candidate does not fit a JSON Schema of the task. Nothing is started.
import { checkPath } from '#shared/domain/tree-id.ts';
import { compileSchemaCounting } from '../candidate.ts';
import { parseStrictJson } from '../strict-json.ts';
import { type Adapter, type AdapterFile, clamp, cutText, problem } from './adapter.ts';

const maxShown = 20;

/** `artifact/FILE against verifier/SCHEMA`. */
const parseFrom = (from: string): { readonly file: string; readonly schema: string } | null => {
  const found = /^(artifact\/.+) against (verifier\/.+)$/.exec(from);
  const [, file = '', schema = ''] = found ?? [];
  return found === null || !checkPath(file).ok || !checkPath(schema).ok ? null : { file, schema };
};

const find = (files: readonly AdapterFile[], path: string): AdapterFile | undefined => files.find((file) => file.path === path);

export const jsonSchema: Adapter = {
  name: 'json-schema',
  tool: 'never',
  checkFrom: (from, { kind, verifierFiles }) => {
    const parsed = parseFrom(from);
    if (parsed === null) return 'could never match; write it as "artifact/FILE against verifier/SCHEMA"';
    const schema = find(verifierFiles, parsed.schema);
    if (schema === undefined) return `names ${JSON.stringify(parsed.schema)}, which is not a file below verifier/`;
    const compiled = compileSchemaCounting(schema.bytes);
    if (!compiled.ok) return `names ${JSON.stringify(parsed.schema)}, which is not a valid JSON Schema: ${compiled.error}`;
    return kind === 'ordinal' ? 'belongs to an ordinal obligation, and errors are counted; write kind = "binary" or "count"' : null;
  },
  run: ({ obligations, files }) => {
    const checks = new Map<string, (document: unknown) => readonly string[]>();
    const values: Record<string, number> = {};
    const details: Record<string, string> = {};
    for (const { key, cap, kind, from } of obligations) {
      const parsed = parseFrom(from);
      const schema = parsed === null ? undefined : find(files, parsed.schema);
      if (parsed === null || schema === undefined) return problem('infra', `the contract's from of ${key} names no schema that is there`);
      let check = checks.get(parsed.schema);
      if (check === undefined) {
        const compiled = compileSchemaCounting(schema.bytes);
        if (!compiled.ok) return problem('infra', `${parsed.schema} is not a valid JSON Schema: ${compiled.error}`);
        check = compiled.value;
        checks.set(parsed.schema, check);
      }
      const file = find(files, parsed.file);
      const document = file === undefined ? null : parseStrictJson(file.bytes);
      // A document that cannot be read fits nothing; errors that cannot be counted are as many as there can be.
      if (document?.ok !== true) {
        values[key] = cap;
        details[key] = `${cutText(parsed.file, 200)} ${document === null ? 'is missing' : `cannot be read: ${document.error}`}`;
        continue;
      }
      const errors = check(document.value);
      values[key] = clamp(kind === 'binary' ? Math.min(errors.length, 1) : errors.length, cap);
      if (errors.length > 0) details[key] = errors.slice(0, maxShown).join('\n');
    }
    return { values, details, advisory: {} };
  },
};
