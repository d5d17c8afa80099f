// `npm run soak [--kills N] [--calls N] [--models N] [--seeds N] [--rounds N]`: what takes longer than a test may. Kills engines at random
// points, makes system calls fail and kill, holds the engine against the reference model, lets the built-in search repair the sample packages
// with several seeds, and repeats the property tests with fresh seeds. Exit 1 when anything failed.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '#electron/build.ts';
import { createRandom } from '#shared/lib/random.ts';
import { killCampaign } from '../support/kill-campaign.ts';
import { modelCampaign } from '../support/model-campaign.ts';
import { everyInjected, straceCampaign, straceMissing } from '../support/strace-campaign.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    calls: { type: 'string', default: '20' },
    models: { type: 'string', default: '400' },
    seeds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '20' },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);

await ensureBuilt();

const seed = Date.now();
const random = createRandom(['soak', seed]);
const next = () => random.next();
const tell = (faults: readonly string[]) => {
  for (const fault of faults) say(`FAULT ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
};

if (Number(values.kills) > 0) {
  say(`kill campaign: ${values.kills} kills, random seed ${seed}`);
  const report = await killCampaign(Number(values.kills), 1, next, say);
  say(`${report.kills} kills over ${report.runs} runs, ${report.aborted} attempts aborted, ${report.faults.length} faults`);
  tell(report.faults);
}

const missing = straceMissing();
if (missing !== null) say(`SKIPPED failures and deaths at system calls: ${missing}`);
else if (Number(values.calls) > 0) {
  say(`system calls: ${values.calls} of each kind, random seed ${seed}`);
  const report = await straceCampaign(Number(values.calls), everyInjected, next, say);
  say(`${report.cases} cases, ${report.killed} killed, ${report.told} failures told, ${report.faults.length} faults`);
  tell(report.faults);
}

if (Number(values.models) > 0) {
  say(`model: ${values.models} sequences of commands, seed ${seed % 2 ** 31}`);
  try {
    say(JSON.stringify(await modelCampaign(Number(values.models), seed % 2 ** 31)));
  } catch (error) {
    tell([error instanceof Error ? error.message : String(error)]);
  }
}

const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1).join(',');
for (const task of seeds === '' ? [] : ['repair-csv', 'repair-intervals']) {
  if (task === 'repair-intervals' && spawnSync('python3', ['--version']).status !== 0) {
    say(`SKIPPED the search on ${task}: python3 is not installed`);
    continue;
  }
  // Whether repair-intervals comes to zero rank within its budget depends on the seed: it is reported as it is.
  const must = task === 'repair-csv';
  say(`the built-in search alone on ${task}, seeds ${seeds}${must ? ', to zero rank' : ', reported as it is'}`);
  const report = ['--stack-size=3900', 'tests/soak/report-search.ts', `resources/tasks/${task}`, seeds, ...(must ? ['--zero'] : [])];
  if (spawnSync(process.execPath, report, { stdio: 'inherit' }).status !== 0)
    tell([must ? `the search did not repair ${task} with every seed` : `the search on ${task} could not be run`]);
}

for (let round = 1; round <= Number(values.rounds); round++) {
  say(`property tests, round ${round} of ${values.rounds}`);
  const result = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'property'], { stdio: 'inherit' });
  if (result.status !== 0) process.exitCode = 1;
}
