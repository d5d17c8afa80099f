// A command verifier of a task, started as a person starts it (PAWL_RUN unset), on a candidate in a folder of its own.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensure } from '#shared/lib/assert.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { LoadedTask } from '#electron/core/tasks/load-task.ts';
import { TaskReport } from './task-report.ts';

/** Of the report's echo. */
const echo = { PAWL_NONCE: 'n1', PAWL_TREE: 't1', PAWL_CONTRACT: 'c1' };

/** `folder` is the task's. The verifier is the task's own code; candidate code runs without a sandbox, so give it none that is hostile. */
export function commandVerifier(task: LoadedTask, folder: string) {
  const reportOf = async (files: readonly TreeFile[]): Promise<TaskReport> => {
    const scratch = await mkdtemp(path.join(tmpdir(), 'pawl-task-'));
    try {
      for (const file of files) {
        const target = path.join(scratch, 'artifact', file.path);
        await mkdir(path.dirname(target), { recursive: true });
        await writeFile(target, file.bytes, { mode: file.mode === 'exec' ? 0o755 : 0o644 });
      }
      const report = path.join(scratch, 'report.json');
      const [program = '', ...args] = task.contract.verifier.command;
      const child = spawn(program, args, {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { PATH: process.env['PATH'], ...echo, PAWL_REPORT: report, PAWL_CANDIDATE: path.join(scratch, 'artifact') },
      });
      const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
      if (code !== 0) throw new Error(`the verifier ended with ${String(code)}`);
      return TaskReport.parse(JSON.parse(await readFile(report, 'utf8')));
    } finally {
      await rm(scratch, { recursive: true });
    }
  };
  return {
    reportOf,
    rankOf: async (files: readonly TreeFile[]): Promise<number[]> => {
      const { values } = await reportOf(files);
      return task.contract.obligations.map(({ key }) => ensure(values[key], `a value for ${key}`));
    },
  };
}
