// What a task is, by what is there: a folder of Pawl's own, one of Harbor, or an instance of SWE-bench. Nothing is executed.
import { realpath } from 'node:fs/promises';
import { err, type Result } from '#shared/lib/result.ts';
import { readOwnFolder, readTomlDocument } from './own-folder.ts';
import type { TaskProblem, TaskSource } from './task-source.ts';

/** Reads the task that `ref` (absolute) names. The error lists what kept it from being read. */
export async function readSource(ref: string): Promise<Result<TaskSource, readonly TaskProblem[]>> {
  let folder: string;
  try {
    folder = await realpath(ref);
  } catch {
    return err([{ file: ref, field: null, code: 'missing_file', message: 'is not there; name a folder with task.toml in it' }]);
  }
  const toml = await readTomlDocument(folder);
  if (!toml.ok) return err([toml.error]);
  return readOwnFolder(folder, toml.value);
}
