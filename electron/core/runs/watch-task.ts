// Whether a task folder is still what a run was started on. Asked at the start of each round. Semantics, section 11.
import type { ResumeState } from '#electron/store/api.ts';
import type { LoadedTask } from '../tasks/load-task.ts';
import { loadTask, verifyTaskUnchanged } from '../tasks/load-task.ts';

type Expected = Pick<ResumeState, 'contract' | 'header'>;

/**
 * Gives null while contract and seed in `folder` are those of the run, else what changed. `loaded` is the folder as it was read for the
 * start; a resumed run has none and reads the folder whole the first time it asks.
 */
export function watchTask(folder: string, expected: Expected, loaded: LoadedTask | null): () => Promise<string | null> {
  let baseline = loaded;
  return async () => {
    if (baseline !== null) {
      const same = await verifyTaskUnchanged(baseline, folder);
      return same.ok ? null : same.error;
    }
    const now = await loadTask(folder);
    if (!now.ok) return `the task folder cannot be read as it was: ${now.error.message}`;
    const changed = difference(expected, now.value);
    if (changed === null) baseline = now.value;
    return changed;
  };
}

function difference({ contract, header }: Expected, now: LoadedTask): string | null {
  // A run under a contract that was revised at its start (quarantine, median) holds the folder to the version before it.
  if (now.contract.sha !== (contract.previous ?? contract.sha)) {
    const before = new Map(contract.verifier.files.map(({ path, mode, sha }) => [path, `${mode} ${sha}`]));
    const after = new Map(now.contract.verifier.files.map(({ path, mode, sha }) => [path, `${mode} ${sha}`]));
    const files = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
    const instruction = now.contract.instruction === contract.instruction ? [] : ['instruction.md'];
    const what = [...files, ...instruction];
    return `the contract has changed since the run was started: ${what.length === 0 ? 'task.toml' : what.join(', ')}`;
  }
  return now.seedTree === header.seedTree ? null : 'the seed in artifact/ has changed since the run was started';
}
