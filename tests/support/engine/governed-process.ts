// A process that governs one run over the real store, to be failed and killed from outside: whatever it finds in its data folder it goes on
// with, as an engine does. Says every journal item once the store has acknowledged it, and each failure that it was told of.
// Arguments: data folder. Exit 0 once the run has stopped for good.
import { mkdirSync, writeSync } from 'node:fs';
import type { CommitRound } from '#electron/store/api.ts';
import { StoreError } from '#electron/store/errors.ts';
import { ensure } from '#shared/lib/assert.ts';
import { openDirectStore } from './direct-store.ts';
import { disturbedRun } from './disturbed-run.ts';

const dataDir = ensure(process.argv[2], 'data folder');
/** More than the test injects: one that is told of failures without end must not go on forever. */
const maxFailures = 50;

// Straight to the pipe: what the parent has read was said after the write had returned.
const say = (what: string, about: string | number) => writeSync(1, `${what} ${about}\n`);

let failures = 0;
/** As a user does who tries again. */
const insisting = async <T>(what: string, act: () => Promise<T> | T): Promise<T> => {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      say('failed', `${what}: ${error.kind}: ${error.message}`);
      if (++failures > maxFailures) throw error;
    }
  }
};

mkdirSync(dataDir, { recursive: true });
const store = await insisting('open', () => openDirectStore(dataDir));
store.onJournal((items) => {
  for (const { journal } of items) say('stored', journal);
});
const at = () => new Date().toISOString();
await insisting('recover', () => store.recover(at()));
const run = disturbedRun(`p${process.pid}`);
const known = await store.getSummary(run.run);
if (known === null) await insisting('create', () => run.create(store));

let abandoned: CommitRound | null = null;
for (let first = known === null; ; first = false) {
  const open: CommitRound | null = abandoned;
  if (open !== null) {
    await insisting('abandoned', async () => {
      try {
        await store.commitRound(open);
      } catch (error) {
        // As the engine does: it may have been stored and only its answer lost.
        const state = await store.getResumeState(run.run);
        if (state === null || state.nextRound <= open.round) throw error;
      }
    });
  }
  if (!first) {
    const state = ensure(await store.getResumeState(run.run), 'state of the run');
    if (state.stop !== null) break;
    const event = { type: 'resume' as const, body: { from: state.head.id, nextN: state.nextN } };
    await insisting('resume', () => store.resumeRun({ run: run.run, at: at(), event }));
  }
  const end = await run.go(store);
  if (end.kind !== 'failed') {
    say('ended', end.kind === 'stopped' ? end.reason : end.kind);
    break;
  }
  if (!(end.error instanceof StoreError)) throw end.error;
  say('failed', `${end.error.kind}: ${end.error.message}`);
  if (++failures > maxFailures) throw end.error;
  ({ abandoned } = end);
}
await store.close();
