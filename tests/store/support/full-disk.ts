// What the store does on a disk that is full, as facts to be checked by disk-full.test.ts, which gives a small disk of its own as the data folder.
import { existsSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWritable } from '#electron/store/db.ts';
import { StoreError } from '#electron/store/errors.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import { recover } from '#electron/store/write/recover.ts';
import { largeText } from '../../support/engine/builders.ts';
import { brokenInvariants } from '../../support/invariants.ts';
import { databaseFile } from './files.ts';
import { createScenario } from './scenario.ts';
import { stateOf } from './state.ts';

const dir = process.argv[2] ?? '';
const ballast = join(dir, 'ballast');
const room = (): number => {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
};
/** Leaves so many bytes. */
const fill = (leave: number): void => {
  rmSync(ballast, { force: true });
  writeFileSync(ballast, new Uint8Array(Math.max(0, room() - leave)));
};
const makeRoom = (): void => rmSync(ballast, { force: true });

const facts: Record<string, unknown> = {};
/** What came of it, and whether a failure changed anything that is stored. */
const attempt = (name: string, act: () => unknown): boolean => {
  const before = db.isOpen ? stateOf(db) : {};
  try {
    act();
    facts[name] = 'done';
    return true;
  } catch (error) {
    const kept = !db.isOpen || JSON.stringify(stateOf(db)) === JSON.stringify(before);
    facts[name] = error instanceof StoreError ? { kind: error.kind, message: error.message, kept } : String(error);
    return false;
  }
};
const open = () => {
  const opened = openWritable(databaseFile(dir), join(dir, 'blobs'));
  migrate(opened);
  return opened;
};

fill(0);
try {
  open();
} catch (error) {
  facts['created'] = error instanceof StoreError ? { kind: error.kind, message: error.message, kept: true } : String(error);
}
makeRoom();
let db = open();

const s = createScenario({ caps: [9_999], genesis: [9_999], header: { budget: { attempts: 1_000 } } });
createRun(db, s.create());
// The log grows until a write has no room left: some round is committed only when there is room again.
fill(200_000);
const inRoom = (name: string, act: () => unknown): void => {
  if (attempt(name, act)) return;
  facts['full'] = facts[name];
  facts['full again'] = attempt(name, act) ? 'done' : facts[name];
  makeRoom();
  if (!attempt(name, act)) throw new Error(`${name} fails with room`);
};
for (let i = 1; facts['full'] === undefined; i++) {
  inRoom('openRound', () => openRound(db, s.open(1)));
  inRoom('storeProposals', () => storeProposals(db, s.proposals(1)));
  const input = s.commit([{ kind: 'ranked', text: `${i} ${'x'.repeat(20_000)}`, rank: [9_999 - i] }]);
  inRoom('commitRound', () => commitRound(db, input));
  s.apply(input);
}

openRound(db, s.open(1));
storeProposals(db, s.proposals(1));
const large = s.commit([{ kind: 'ranked', text: largeText('candidate'), rank: [1] }]);
const files = (): string[] =>
  existsSync(db.blobsDir) ? readdirSync(db.blobsDir).flatMap((folder) => readdirSync(join(db.blobsDir, folder))) : [];
fill(100_000);
attempt('large', () => commitRound(db, large));
facts['files'] = files();
makeRoom();
attempt('large with room', () => commitRound(db, large));
s.apply(large);
facts['files with room'] = files().length;

openRound(db, s.open(1));
fill(0);
const before = JSON.stringify(stateOf(db));
attempt('close', () => db.close());
db = open();
facts['reopened'] = JSON.stringify(stateOf(db)) === before;
makeRoom();
facts['recovered'] = recover(db, '2026-05-01T00:00:00.000Z').length;
facts['broken'] = brokenInvariants(db);
db.close();
process.stdout.write(JSON.stringify(facts));
