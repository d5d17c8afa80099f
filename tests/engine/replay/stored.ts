// One stored run that is edited behind the store's back: closed, on disk, and replayed on a fresh connection each time.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll } from 'vitest';
import type Database from 'better-sqlite3';
import type { DecisionReplayReport } from '#shared/contract/replay.ts';
import { ensure } from '#shared/lib/assert.ts';
import { filesOf } from '../../support/engine/builders.ts';
import { createScriptedProposer } from '../../support/engine/scripted-proposer.ts';
import { createStoredRun, type StoredRun, type StoredRunOptions, temporaryStore } from '../../support/engine/stored-run.ts';
import { freshReads, openPast, replay } from './support.ts';

type Commanded = Pick<StoredRunOptions, 'contract' | 'script' | 'proposer' | 'autos'>;

/** The same run with automatic commands: some attempts look at an edit first, some ask for a command, not always for one they may have. */
export function withAutos({ contract, script }: Pick<StoredRunOptions, 'contract' | 'script'>): Commanded {
  const proposer = createScriptedProposer(
    (context) => {
      const answer = script(context);
      if (typeof answer === 'string' || 'files' in answer || context.draw % 4 > 1) return answer;
      return { ...answer, register: [{ name: 'lint', command: context.draw % 4 === 0 ? ['lint', 'all'] : ['rm', `${context.draw}`] }] };
    },
    {
      onPropose: async ({ autos, base, draw }) => {
        if (draw % 5 === 0) await autos.observe([...base, ...filesOf({ 'edit.txt': `${draw}` })], new AbortController().signal);
      },
    },
  );
  const auto = [{ name: 'size', command: ['wc'], timeoutMs: 1_000 }];
  return {
    contract: { ...contract, auto, autoAllow: [{ command: ['lint', '*'], timeoutMs: 1_000 }] },
    script,
    proposer,
    autos: { runAuto: ({ tree }, { name }) => Promise.resolve({ ending: 'exit 0', output: `${name} saw ${tree}` }) },
  };
}

/** For the tests of one file: `open` is a connection past every trigger, `replayed` what a decision replay finds now. */
export function storedForEdits(options: StoredRunOptions): {
  readonly open: () => Database.Database;
  readonly replayed: () => Promise<DecisionReplayReport>;
} {
  let made: { readonly dataDir: string; readonly stored: StoredRun } | null = null;
  const here = () => ensure(made, 'stored run, which is there inside tests only');
  beforeAll(async () => {
    const { store, dataDir } = await temporaryStore();
    made = { dataDir, stored: await createStoredRun(store, options) };
    await made.stored.go(store);
    await store.close();
  });
  afterAll(() => rm(here().dataDir, { recursive: true, force: true }));
  return {
    open: () => openPast(here().dataDir),
    replayed: async () => {
      const { dataDir, stored } = here();
      const reads = freshReads(dataDir);
      try {
        return await replay(reads.store, stored.run, stored.proposer);
      } finally {
        reads.close();
      }
    },
  };
}
