// The store as the rest of the engine holds it: one writer thread, some readers, and the journal.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { JournalItem } from '#shared/contract/app.ts';
import { EventBody } from '#shared/domain/event-chain.ts';
import type { BlobInput, Store } from './api.ts';
import { compact } from './bytes.ts';
import { StoreError, toStoreError } from './errors.ts';
import type { Journaled, Reads } from './operations.ts';
import { startThread, type Thread } from './pool.ts';

export type StoreOptions = {
  /** Exists and is locked by the caller: exactly one engine owns a data folder. */
  readonly dataDir: string;
  /** The file worker.ts, as source or built. */
  readonly worker: URL;
  readonly readers?: number;
};

export type OpenStore = Store & {
  /** The version of SQLite that it runs on. */
  readonly sqliteVersion: string;
  /** Resolves when a thread has ended by itself: every call that needs it is refused from then on. What is committed is on the disk. */
  readonly lost: Promise<void>;
};

const Events = z.array(EventBody);

const compactBlobs = (blobs: readonly BlobInput[]): BlobInput[] => blobs.map(({ sha, bytes }) => ({ sha, bytes: compact(bytes) }));
const compactSalts = <T extends { readonly salt: Uint8Array }>(salts: readonly T[]): T[] =>
  salts.map((salt) => ({ ...salt, salt: compact(salt.salt) }));

// A line of the chain is never changed again, so what would make a malformed one is refused before it leaves for the writer.
const checkEvents = (events: readonly EventBody[]): void => {
  const checked = Events.safeParse(events);
  if (!checked.success) throw new StoreError('constraint', `not an event of the chain: ${z.prettifyError(checked.error)}`);
};

// `null` for the ones that take no input.
type Input<F> = F extends (db: never, input: infer I) => unknown ? (unknown extends I ? null : I) : never;
type Ops = { [K in keyof Reads]: { input: Input<Reads[K]>; result: ReturnType<Reads[K]> } };

/**
 * Opens `pawl.db` and `blobs/` in the data folder, creating or migrating them. Rejects with a StoreError that names the file: of kind
 * `incompatible` (newer schema, another program's database), `corrupt`, `readonly` or `full`.
 */
export async function openStore({ dataDir, worker, readers = 2 }: StoreOptions): Promise<OpenStore> {
  const file = join(dataDir, 'pawl.db');
  const blobsDir = join(dataDir, 'blobs');
  try {
    mkdirSync(blobsDir, { recursive: true });
  } catch (error) {
    throw toStoreError(error, blobsDir);
  }
  // The writer first: it creates and migrates what the readers open.
  const writer = await startThread(worker, { role: 'writer', file, blobsDir });
  const started = await Promise.allSettled(Array.from({ length: readers }, () => startThread(worker, { role: 'reader', file, blobsDir })));
  const pool = started.flatMap((s) => (s.status === 'fulfilled' ? [s.value] : []));
  const failed = started.find((s) => s.status === 'rejected');
  if (failed !== undefined) {
    await Promise.all([...pool, writer].map((thread) => thread.close()));
    throw failed.reason;
  }
  return storeOver(writer, pool);
}

/** The store over threads that are there. `close` ends them. */
export function storeOver(writer: Thread, readers: readonly Thread[]): OpenStore {
  const listeners = new Set<(items: readonly JournalItem[]) => void>();
  let closing: Promise<void> | null = null;

  const announce = (items: readonly JournalItem[]) => {
    if (items.length === 0) return;
    for (const listener of listeners) {
      try {
        listener(items);
      } catch (error) {
        // The write is durable whatever a listener does with the news.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };

  const open = () => {
    if (closing !== null) throw new StoreError('closed', 'the store is closed');
  };

  const write = async <K extends keyof Journaled>(op: K, input: Parameters<Journaled[K]>[1]): Promise<JournalItem[]> => {
    open();
    const items = await writer.call<JournalItem[]>(op, input);
    announce(items);
    return items;
  };

  const read = async <K extends keyof Ops>(op: K, input: Ops[K]['input']): Promise<Ops[K]['result']> => {
    open();
    const [first, ...others] = readers;
    const idlest = others.reduce((best, thread) => (best !== undefined && best.pending() <= thread.pending() ? best : thread), first);
    if (idlest === undefined) throw new StoreError('other', 'the store was opened without readers');
    return idlest.call<Ops[K]['result']>(op, input);
  };

  return {
    sqliteVersion: writer.sqliteVersion,
    lost: Promise.race([writer, ...readers].map(({ lost }) => lost)),
    createRun: async (input) => {
      checkEvents(input.events);
      await write('createRun', { ...input, blobs: compactBlobs(input.blobs), salts: compactSalts(input.salts) });
    },
    openRound: async (input) => {
      checkEvents([input.event]);
      await write('openRound', input);
    },
    storeProposals: async (input) => {
      checkEvents(input.events);
      const items = input.items.map(({ n, request, response }) => ({
        n,
        request: { ...request, bytes: compact(request.bytes) },
        response: response === null ? null : { ...response, bytes: compact(response.bytes) },
      }));
      await write('storeProposals', { ...input, items, salts: compactSalts(input.salts) });
    },
    commitRound: async (input) => {
      checkEvents(input.events);
      await write('commitRound', { ...input, blobs: compactBlobs(input.blobs), salts: compactSalts(input.salts) });
    },
    stopRun: async (input) => {
      checkEvents([input.event]);
      await write('stopRun', input);
    },
    resumeRun: async (input) => {
      checkEvents([input.event]);
      await write('resumeRun', input);
    },
    recover: async (at) => (await write('recover', at)).map(({ run }) => run),

    listRuns: (input) => read('listRuns', input),
    getRun: (run) => read('getRun', run),
    getSummary: (run) => read('getSummary', run),
    resolveRun: (prefix) => read('resolveRun', prefix),
    pageTransitions: (input) => read('pageTransitions', input),
    getTransition: (input) => read('getTransition', input),
    getColumns: (input) => read('getColumns', input),
    getChain: (run) => read('getChain', run),
    getBundle: (input) => read('getBundle', input),
    getManifest: (tree) => read('getManifest', tree),
    getBlob: (sha) => read('getBlob', sha),
    getResumeState: (run) => read('getResumeState', run),
    getRelatives: (run) => read('getRelatives', run),
    resolveBundle: (prefix) => read('resolveBundle', prefix),
    getReplayHead: (run) => read('getReplayHead', run),
    pageReplayEvents: (input) => read('pageReplayEvents', input),
    pageReplaySalts: (input) => read('pageReplaySalts', input),
    pageReplayTransitions: (input) => read('pageReplayTransitions', input),
    getStoredVerdict: (sha) => read('getStoredVerdict', sha),
    getContractBody: (sha) => read('getContractBody', sha),
    getAncestorVerdicts: (run) => read('getAncestorVerdicts', run),
    getDecisionReplay: (run) => read('getDecisionReplay', run),
    setDecisionReplay: async (input) => {
      await write('setDecisionReplay', input);
    },
    addReverification: async (input) => {
      await write('addReverification', { ...input, blobs: compactBlobs(input.blobs) });
    },
    getReverifications: (input) => read('getReverifications', input),
    addSelection: async (input) => {
      await write('addSelection', { ...input, blobs: compactBlobs(input.blobs) });
    },
    getSelections: (run) => read('getSelections', run),
    getResponses: (run) => read('getResponses', run),
    retrieveMemory: (input) => read('retrieveMemory', input),
    getRunServer: (run) => read('getRunServer', run),
    setRunServer: async (input) => {
      open();
      await writer.call('setRunServer', input);
    },
    getJournal: (input) => read('getJournal', input),
    lastJournal: () => read('lastJournal', null),
    getSettings: () => read('getSettings', null),
    setSettings: async (settings) => {
      open();
      return await writer.call('setSettings', settings);
    },

    onJournal: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      // Readers first: the last connection to close is the writer's, which then empties the log.
      closing ??= (async () => {
        await Promise.all(readers.map((thread) => thread.close()));
        await writer.close();
      })();
      return closing;
    },
  };
}
