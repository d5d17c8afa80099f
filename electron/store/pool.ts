// One thread of the store as seen by its client: numbered requests, errors with their kind, and an end that nobody waits past.
import { Worker } from 'node:worker_threads';
import { StoreError } from './errors.ts';
import type { Answer, Request, WireError, WorkerOptions } from './messages.ts';
import { messageOf } from '#shared/lib/message-of.ts';

const fromWire = ({ kind, message, stack }: WireError): StoreError => {
  const error = new StoreError(kind, message);
  // Where it happened is more use than where its message arrived.
  if (stack !== undefined) error.stack = stack;
  return error;
};

type Pending = { readonly resolve: (value: never) => void; readonly reject: (error: StoreError) => void };

export type Thread = {
  readonly sqliteVersion: string;
  /** Resolves when the thread has ended without being told to. */
  readonly lost: Promise<void>;
  /** Requests without an answer. */
  pending(): number;
  /** Resolves with what the operation returned. Rejects with a StoreError. */
  call<R>(op: string, input: unknown): Promise<R>;
  /** Waits for the answers under way, then ends the thread. */
  close(): Promise<void>;
};

/** Starts a thread and waits until its database is open. Rejects with a StoreError; then no thread is left. */
export async function startThread(worker: URL, options: WorkerOptions): Promise<Thread> {
  const thread = new Worker(worker, { workerData: options, name: `store ${options.role}` });
  const waiting = new Map<number, Pending>();
  let seq = 0;
  let ended: StoreError | null = null;
  let closing = false;
  let markLost = () => {};
  const lost = new Promise<void>((resolve) => {
    markLost = resolve;
  });
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', () => resolve());
  });

  const end = (error: StoreError) => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };

  const sqliteVersion = await new Promise<string>((resolve, reject) => {
    thread.on('message', (message: Answer) => {
      switch (message.type) {
        case 'ready':
          return resolve(message.sqliteVersion);
        case 'failed':
          return reject(fromWire(message.error));
        case 'value':
        case 'error': {
          const request = waiting.get(message.seq);
          waiting.delete(message.seq);
          if (message.type === 'error') request?.reject(fromWire(message.error));
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker answers what the operation of this number returns
          else request?.resolve(message.value as never);
        }
      }
    });
    const fail = (why: string, cause?: unknown) => {
      const failure = closing
        ? new StoreError('closed', `the store's ${options.role} thread has ended (${why})`)
        : new StoreError(
            'lost',
            `the store's ${options.role} thread has ended by itself (${why}); the engine has to be started again, which finds everything that was committed`,
            { cause },
          );
      end(failure);
      reject(failure);
      if (!closing) markLost();
    };
    thread.on('error', (error: unknown) => fail(messageOf(error), error));
    thread.once('exit', (code) => fail(`code ${code}`));
  });

  const call = <R>(op: string, input: unknown): Promise<R> =>
    new Promise<R>((resolve, reject) => {
      if (ended !== null) return reject(ended);
      const request: Request = { seq: ++seq, op, input };
      waiting.set(request.seq, { resolve, reject });
      try {
        thread.postMessage(request);
      } catch (error) {
        // Something in the input cannot be cloned: a mistake of the caller.
        waiting.delete(request.seq);
        reject(new StoreError('constraint', `the input of ${op} cannot cross to the store: ${String(error)}`, { cause: error }));
      }
    });

  return {
    sqliteVersion,
    lost,
    pending: () => waiting.size,
    call,
    close: async () => {
      closing = true;
      // The thread answers in order, so this comes after everything asked before it. One that has ended has nothing left to close.
      await call('close', null).catch((error: unknown) => {
        if (!(error instanceof StoreError) || (error.kind !== 'closed' && error.kind !== 'lost')) throw error;
      });
      await exited;
    },
  };
}
