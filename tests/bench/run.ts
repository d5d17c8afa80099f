// `npm run bench [name...]`: every benchmark in turn; exit 1 when a goal is missed.
import { benchChat } from './chat.ts';
import { benchCommit } from './commit.ts';
import { benchReplay } from './replay.ts';
import { formatReport, type BenchReport } from './report.ts';
import { benchStep } from './step.ts';
import { benchVerify } from './verify.ts';

const benches: Readonly<Record<string, () => Promise<BenchReport>>> = {
  commit: benchCommit,
  step: benchStep,
  verify: benchVerify,
  replay: benchReplay,
  chat: benchChat,
};

const wanted = process.argv.slice(2).filter((a) => a !== '--');
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(`no such benchmark: ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}\n`);
  process.exitCode = 2;
} else {
  for (const [name, bench] of Object.entries(benches)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const report = await bench();
    process.stdout.write(`${formatReport(report)}\n`);
    if (report.rows.some((row) => !row.ok)) process.exitCode = 1;
  }
}
