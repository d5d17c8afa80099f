// What an attempt changed in its base, as JSON: the part that responses of programs and of people have in common. Pure.
import { z } from 'zod';
import type { TreeFile } from '#shared/domain/tree.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { compareUtf8 } from '#shared/lib/text.ts';
import type { MaterialiseError } from './proposer.ts';

const Mode = z.enum(['file', 'exec']);
const ChangedFile = z.union([
  z.strictObject({ path: z.string(), mode: Mode, text: z.string() }),
  z.strictObject({ path: z.string(), mode: Mode, base64: z.base64() }),
]);

/** Files that are new or differ, whole (`text` where the bytes are UTF-8), and paths of the base that are gone. */
export const TreeChanges = z.strictObject({ changed: z.array(ChangedFile), removed: z.array(z.string()) });
export type TreeChanges = z.infer<typeof TreeChanges>;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const encodeFile = ({ path, mode, bytes }: TreeFile): TreeChanges['changed'][number] => {
  try {
    return { path, mode, text: decoder.decode(bytes) };
  } catch {
    return { path, mode, base64: Buffer.from(bytes).toString('base64') };
  }
};

/** In tree order, so that equal changes are equal JSON. */
export function encodeChanges(changed: readonly TreeFile[], removed: readonly string[]): TreeChanges {
  return {
    changed: [...changed].sort((a, b) => compareUtf8(a.path, b.path)).map(encodeFile),
    removed: [...removed].sort(compareUtf8),
  };
}

/** The whole tree after the changes. `apply_failed`: they name a path twice, or remove what the base does not have. */
export function applyChanges(base: readonly TreeFile[], { changed, removed }: TreeChanges): Result<readonly TreeFile[], MaterialiseError> {
  const files = new Map(base.map((file) => [file.path, file]));
  const named = new Set<string>();
  const twice = (path: string): boolean => named.size === named.add(path).size;
  for (const path of removed) {
    if (twice(path) || !files.delete(path))
      return err({ code: 'apply_failed', message: `${JSON.stringify(path)} cannot be removed: the base has no such file` });
  }
  for (const file of changed) {
    const { path, mode } = file;
    if (twice(path)) return err({ code: 'apply_failed', message: `${JSON.stringify(path)} is named twice` });
    files.set(path, { path, mode, bytes: 'text' in file ? encoder.encode(file.text) : new Uint8Array(Buffer.from(file.base64, 'base64')) });
  }
  return ok([...files.values()]);
}

/** Reads a stored response against its schema; null when it is not one. */
export function readStored<T extends z.ZodType>(schema: T, response: Uint8Array): z.output<T> | null {
  try {
    return schema.safeParse(JSON.parse(decoder.decode(response))).data ?? null;
  } catch {
    return null;
  }
}
