// How the built-in search does on a task, seed by seed:
//   node --stack-size=3900 tests/soak/report-search.ts resources/tasks/repair-csv 1,2,3,4,5
// (the stack is for QuickJS). It follows the round rule with four slots and the task's budget, and prints one line a commit. With `--zero`
// it exits with 1 unless every seed came to zero rank.
import { parseArgs } from 'node:util';
import { loadTask } from '#electron/core/tasks/load-task.ts';
import { commandVerifier } from '../unit/tasks/command-task.ts';
import { pureJsVerifier } from '../unit/tasks/pure-js.ts';
import { pythonVerifier } from '../unit/tasks/python-task.ts';
import { searchOnTask } from '../unit/tasks/search-on-task.ts';

const { values, positionals } = parseArgs({ options: { zero: { type: 'boolean', default: false } }, allowPositionals: true });
const [folder = '', seeds = '1'] = positionals;
const loaded = await loadTask(folder);
if (!loaded.ok) throw new Error(loaded.error.message);
const task = loaded.value;
const isPackage = task.verifierFiles.some(({ path }) => path === 'verifier/candidate.py');
const python = isPackage ? pythonVerifier(task, folder) : null;
const verifier = python ?? (task.contract.verifier.kind === 'pure-js' ? await pureJsVerifier(task) : commandVerifier(task, folder));
for (const seed of seeds.split(',').map(Number)) {
  const start = performance.now();
  const { attempts, commits, potential, counts, path } = await searchOnTask(task, verifier.rankOf, { seed });
  const outcome = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(
    `${[
      `${task.info.id} seed ${seed}: potential ${potential} after ${attempts} attempts, ${commits} commits, ${Math.round(performance.now() - start)} ms`,
      outcome.join(', '),
      ...path,
    ].join('\n    ')}\n`,
  );
  if (values.zero && potential > 0) process.exitCode = 1;
}
python?.close();
