// Puts the engine together: store, verifiers, live runs, and the handlers of the contract. Every host calls this and nothing else.
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { openStore } from '#electron/store/store.ts';
import { createVerifierService } from '#electron/verifiers/service.ts';
import { createAppHandlers } from './app-handlers.ts';
import { createAuditHandlers } from './audit/audit-handlers.ts';
import { createChanges } from './changes.ts';
import type { Core, CoreOptions } from './core.ts';
import { guardHandlers, openingError } from './guard-handlers.ts';
import { openLog } from './log.ts';
import { createReplayHandlers } from './replay/replay-handlers.ts';
import { roomIn } from './room.ts';
import { createLiveRuns } from './runs/live-runs.ts';
import { createPreflightHandlers } from './runs/preflight-handlers.ts';
import { createRunHandlers, resolveRun } from './runs/run-handlers.ts';
import { createRunJobs } from './runs/run-jobs.ts';
import { createChatServers } from './servers/chat-servers.ts';
import { createServerHandlers } from './servers/server-handlers.ts';
import { createSelectionHandlers } from './selection/selection-handlers.ts';
import { createTaskHandlers } from './task-handlers.ts';

/** Verifications at once; more than the machine has cores only makes each of them slower. */
const maxVerifications = 8;

/**
 * Opens the data folder's store, aborts what an engine that died left open, and answers for the contract. Rejects when the store cannot be
 * opened; nothing is left running then.
 */
export async function createCore(options: CoreOptions): Promise<Core> {
  const { dataDir, runner, storeWorker, samplesDir, appVersion } = options;
  const log = openLog(dataDir);
  const changes = createChanges();
  const live = createLiveRuns((run) => changes.announce(run));
  const closing = new AbortController();
  const database = path.join(dataDir, 'pawl.db');
  const store = await openStore({ dataDir, worker: storeWorker }).catch((error: unknown) => {
    throw openingError(error, database);
  });
  const stopListening = store.onJournal((items) => {
    for (const run of new Set(items.map((item) => item.run))) changes.announce(run);
  });
  try {
    const recovered = await store.recover(new Date().toISOString());
    if (recovered.length > 0) log.warn('rounds that an engine left open were aborted', { runs: recovered });
  } catch (error) {
    await store.close();
    await log.close();
    throw openingError(error, database);
  }
  const verifiers = createVerifierService(runner, {
    tmpDir: path.join(dataDir, 'tmp', 'verify'),
    concurrency: Math.min(maxVerifications, availableParallelism()),
  });
  const servers = createChatServers(process.env);
  const jobs = createRunJobs({ store, verifiers, programs: verifiers, servers, live, log, room: roomIn(dataDir), closing: closing.signal });

  return {
    handlers: guardHandlers(
      {
        ...createAppHandlers({ store, verifiers, changes, version: appVersion, dataDir, samplesDir, sqlite: store.sqliteVersion }),
        ...createTaskHandlers(),
        ...createPreflightHandlers({ verifiers, closing: closing.signal }),
        ...createRunHandlers({ store, live, changes }, jobs),
        ...createSelectionHandlers({ store, verifiers, live, closing: closing.signal }),
        ...createReplayHandlers({ store, verifiers, resolveRun: (prefix) => resolveRun({ store }, prefix), closing: closing.signal }),
        ...createAuditHandlers({ store, closing: closing.signal }),
        ...createServerHandlers({ servers, closing: closing.signal }),
      },
      log,
    ),
    blob: (sha) => store.getBlob(sha),
    journal: () => store.lastJournal(),
    liveRuns: () => live.count(),
    lost: store.lost.then(() => log.warn('a thread of the store has ended by itself')),
    close: async () => {
      closing.abort();
      await live.close();
      await servers.close();
      changes.close();
      stopListening();
      await store.close();
      await log.close();
    },
  };
}
