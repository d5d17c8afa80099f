// A writer to be killed: commits round after round and says which is durable. Run by crash.test.ts as a process of its own.
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { openWritable } from '#electron/store/db.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import { createScenario } from './scenario.ts';

const dir = process.argv[2] ?? '';
const db = openWritable(join(dir, 'pawl.db'), join(dir, 'blobs'));
migrate(db);
const s = createScenario({ caps: [100_000], genesis: [100_000], header: { budget: { attempts: 1_000_000 } } });
createRun(db, s.create());
for (let i = 1; ; i++) {
  openRound(db, s.open(2));
  storeProposals(db, s.proposals(2));
  const input = s.commit([
    { kind: 'ranked', text: `round ${i} ${'x'.repeat(3_000)}`, rank: [100_000 - i] },
    { kind: 'ranked', text: `tied ${i}`, rank: [100_000 - i + 1] },
  ]);
  commitRound(db, input);
  s.apply(input);
  // Straight to the pipe: what the parent has read was said after the commit returned.
  writeSync(1, `${i}\n`);
  if (i % 8 === 0) db.checkpoint();
}
