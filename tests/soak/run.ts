// `npm run soak [--kills N] [--rounds N]`: what takes longer than a test may. Kills engines at random points, and repeats the property
// tests with fresh seeds. Exit 1 when anything failed.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '#electron/build.ts';
import { createRandom } from '#shared/lib/random.ts';
import { killCampaign } from '../support/kill-campaign.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '200' }, rounds: { type: 'string', default: '20' } } });
const say = (text: string) => process.stdout.write(`${text}\n`);

await ensureBuilt();

const seed = Date.now();
say(`kill campaign: ${values.kills} kills, random seed ${seed}`);
const random = createRandom(['soak', seed]);
const report = await killCampaign(Number(values.kills), 1, () => random.next(), say);
say(`${report.kills} kills over ${report.runs} runs, ${report.aborted} attempts aborted, ${report.faults.length} faults`);
for (const fault of report.faults) say(`FAULT ${fault}`);
if (report.faults.length > 0) process.exitCode = 1;

for (let round = 1; round <= Number(values.rounds); round++) {
  say(`property tests, round ${round} of ${values.rounds}`);
  const result = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'property'], { stdio: 'inherit' });
  if (result.status !== 0) process.exitCode = 1;
}
