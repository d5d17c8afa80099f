// A JSON object, for servers that constrain their output: whole files, edits, values by JSON pointer (RFC 6901) and deletions, applied in
// that order. The schema is sent with the request; whether the answer fits is checked here, because servers drop what they do not know.
import { z } from 'zod';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { Json } from '#shared/lib/canonical-json.ts';
import { applySplices, type JsonNode, scanJson, textOf } from '../json-text.ts';
import { replaceOnce } from './search-replace.ts';
import { ApplyFailed, named, type TreeEdit, withLineEnds } from './tree-edit.ts';

const EditAnswer = z.strictObject({
  files: z.array(z.strictObject({ path: z.string().min(1), content: z.string(), mode: z.enum(['file', 'exec']).optional() })).optional(),
  edits: z.array(z.strictObject({ path: z.string().min(1), search: z.string(), replace: z.string() })).optional(),
  values: z.array(z.strictObject({ path: z.string().min(1), pointer: z.string(), value: z.json() })).optional(),
  delete: z.array(z.string().min(1)).optional(),
});

/** JSON Schema of the answer, for `response_format` or `structured_outputs`. */
export const editAnswerSchema: Json = {
  type: 'object',
  additionalProperties: false,
  properties: {
    files: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['path', 'content'],
        properties: { path: { type: 'string' }, content: { type: 'string' }, mode: { enum: ['file', 'exec'] } },
      },
    },
    edits: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['path', 'search', 'replace'],
        properties: { path: { type: 'string' }, search: { type: 'string' }, replace: { type: 'string' } },
      },
    },
    values: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['path', 'pointer', 'value'],
        properties: { path: { type: 'string' }, pointer: { type: 'string' }, value: {} },
      },
    },
    delete: { type: 'array', items: { type: 'string' } },
  },
};

/** The node that a JSON pointer names, or null. Of members with the same name the last counts, as for every reader of JSON. */
export function nodeAt(root: JsonNode, pointer: string): JsonNode | null {
  if (pointer === '') return root;
  if (!pointer.startsWith('/')) return null;
  let node: JsonNode | undefined = root;
  for (const part of pointer.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (node.type === 'array') node = /^(?:0|[1-9]\d{0,8})$/.test(key) ? node.items[Number(key)] : undefined;
    else if (node.type === 'object') node = node.members.findLast((member) => member.key === key)?.value;
    else return null;
    if (node === undefined) return null;
  }
  return node;
}

const setValue = (tree: TreeEdit, path: string, pointer: string, value: Json): void => {
  const bytes = tree.bytes(path);
  const root = scanJson(bytes);
  if (root === null) throw new ApplyFailed(`${named(path)} is not JSON: no value in it can be set`);
  const node = nodeAt(root, pointer);
  if (node === null) throw new ApplyFailed(`${named(path)} has no value at ${named(pointer)}`);
  const after = applySplices(bytes, [{ start: node.start, end: node.end, old: textOf(bytes, node), new: JSON.stringify(value) }]);
  if (after === null) throw new ApplyFailed(`${named(path)}: the value at ${named(pointer)} cannot be replaced`);
  tree.put(path, after, null);
};

// An answer may stand in a fence although nothing was asked for but JSON.
const bare = (text: string): string => {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed;
  const first = trimmed.indexOf('\n');
  return first < 0 ? trimmed : trimmed.slice(first + 1, -3).trim();
};

/** Throws an ApplyFailed where the answer is no such object, names a file twice or names what is not there. */
export function applyStructured(text: string, tree: TreeEdit): void {
  const json = bare(text);
  if (json === '') return;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new ApplyFailed(`the answer is not JSON: ${error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read'}`);
  }
  const parsed = EditAnswer.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ApplyFailed(
      `the answer does not fit its schema: ${issue === undefined ? '' : `${issue.path.join('.') || 'it'}: ${issue.message}`}`,
    );
  }
  const { files = [], edits = [], values = [], delete: deleted = [] } = parsed.data;
  const written = new Set<string>();
  for (const { path, content, mode } of files) {
    if (written.size === written.add(path).size) throw new ApplyFailed(`${named(path)} is written twice`);
    tree.put(path, withLineEnds(content, tree.crlf(path)), (mode ?? null) satisfies TreeFile['mode'] | null);
  }
  for (const { path, search, replace } of edits) replaceOnce(tree, path, search, replace, { wholeLines: false });
  for (const { path, pointer, value: fresh } of values) setValue(tree, path, pointer, fresh);
  for (const path of deleted) tree.remove(path);
}
