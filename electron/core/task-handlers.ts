// The procedures `task.*` of the contract, and the one way in which an unusable task folder is refused.
import { isAbsolute, resolve } from 'node:path';
import { stringify } from 'smol-toml';
import { RpcError } from '#shared/contract/errors.ts';
import type { taskContract } from '#shared/contract/task.ts';
import { writableMatcher } from '#shared/domain/writable.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import { type LoadedTask, loadTask } from './tasks/load-task.ts';

/** Loads a task whole (`tasks/read-source.ts`: what may name one); throws bad_input naming file and field of the first problem, with all of them in the message. */
export async function loadOrRefuse(folder: string): Promise<LoadedTask> {
  if (!isAbsolute(folder)) throw new RpcError('bad_input', `the task ${JSON.stringify(folder)} is no absolute path`, { field: 'task' });
  const loaded = await loadTask(folder);
  if (loaded.ok) return loaded.value;
  const { file, field, message } = loaded.error;
  throw new RpcError('bad_input', message, { file: resolve(folder, file), ...(field === null ? {} : { field }) });
}

export function createTaskHandlers(): Handlers<typeof taskContract> {
  return {
    'task.inspect': async ({ path }) => (await loadOrRefuse(path)).info,
    'task.document': async ({ path }) => {
      const { info, document, instruction, seedManifest } = await loadOrRefuse(path);
      const isWritable = writableMatcher(info.contract.artifact);
      return {
        task: info,
        toml: stringify(document),
        instruction: new TextDecoder().decode(instruction),
        artifact: seedManifest.map((entry) => ({ ...entry, writable: isWritable(entry.path) })),
      };
    },
  };
}
