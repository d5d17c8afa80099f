// The procedures `task.*` of the contract, and the one way in which an unusable task folder is refused.
import { isAbsolute, join } from 'node:path';
import { RpcError } from '#shared/contract/errors.ts';
import type { taskContract } from '#shared/contract/task.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import { type LoadedTask, loadTask } from './tasks/load-task.ts';

/** Loads a task folder whole; throws bad_input naming file and field of the first problem, with all of them in the message. */
export async function loadOrRefuse(folder: string): Promise<LoadedTask> {
  if (!isAbsolute(folder))
    throw new RpcError('bad_input', `the task folder ${JSON.stringify(folder)} is not an absolute path`, { field: 'task' });
  const loaded = await loadTask(folder);
  if (loaded.ok) return loaded.value;
  const { file, field, message } = loaded.error;
  throw new RpcError('bad_input', message, { file: join(folder, file), ...(field === null ? {} : { field }) });
}

export function createTaskHandlers(): Handlers<typeof taskContract> {
  return { 'task.inspect': async ({ path }) => (await loadOrRefuse(path)).info };
}
