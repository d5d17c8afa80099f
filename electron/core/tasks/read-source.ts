// What a task is, by what is there: a folder of Pawl's own, one of Harbor, or an instance of SWE-bench. Nothing is executed.
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { err, type Result } from '#shared/lib/result.ts';
import { isHarborDocument } from './harbor/harbor-toml.ts';
import { readHarborFolder } from './harbor/read-harbor.ts';
import { readOwnFolder, readTomlDocument } from './own-folder.ts';
import { readSweBench } from './swe-bench/read-swe-bench.ts';
import type { TaskProblem, TaskSource } from './task-source.ts';

type Place = { readonly kind: 'folder' | 'file'; readonly path: string };

/** The folder or file at `name`, links followed; null where there is neither. */
async function placeAt(name: string): Promise<Place | null> {
  try {
    const real = await realpath(name);
    const found = await stat(real);
    return found.isDirectory() ? { kind: 'folder', path: real } : found.isFile() ? { kind: 'file', path: real } : null;
  } catch {
    return null;
  }
}

/** Reads the task that `ref` (absolute) names. The error lists what kept it from being read. */
export async function readSource(ref: string): Promise<Result<TaskSource, readonly TaskProblem[]>> {
  const place = await placeAt(ref);
  if (place?.kind === 'folder') {
    const toml = await readTomlDocument(place.path);
    if (!toml.ok) return err([toml.error]);
    const harbor = isHarborDocument(toml.value.document) ?? (await placeAt(path.join(place.path, 'tests')))?.kind === 'folder';
    return harbor ? readHarborFolder(place.path, toml.value) : readOwnFolder(place.path, toml.value);
  }
  if (place?.kind === 'file') return readSweBench(place.path, null);
  // A file may have a "#" in its name, so that it is asked for whole first.
  const at = ref.lastIndexOf('#');
  const file = at < 0 ? null : await placeAt(ref.slice(0, at));
  if (file?.kind === 'file') return readSweBench(file.path, ref.slice(at + 1));
  return err([
    {
      file: ref,
      field: null,
      code: 'missing_file',
      message: 'is not there; name a folder with task.toml in it, or FILE#ID with an instance of SWE-bench',
    },
  ]);
}
