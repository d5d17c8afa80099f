// The whole application without a window: what every host serves. Pure Node, no import of electron.
import type { Handlers } from '#shared/rpc/types.ts';
import type { Port } from '#shared/rpc/port.ts';
import type { Contract } from '#shared/contract/contract.ts';

export type CoreOptions = {
  /** Absolute path of the data folder; it exists, is writable and locked by the caller (see host/engine.ts). */
  readonly dataDir: string;
  /** Port to the runner process (electron/verifiers/runner.ts). The engine itself never spawns. */
  readonly runner: Port;
  /** File of the store's worker thread, as source or built. */
  readonly storeWorker: URL;
  /** Folder of the sample tasks that ship with the app. */
  readonly samplesDir: string;
  readonly appVersion: string;
};

export type Core = {
  readonly handlers: Handlers<Contract>;
  /** Plain bytes of a stored object. */
  blob(sha: string): Promise<Uint8Array | null>;
  journal(): Promise<number>;
  /** Runs whose loops are alive now. */
  liveRuns(): number;
  /** Resolves when a part without which nothing can be stored has died. Only another engine on the folder helps; it finds all that was committed. */
  readonly lost: Promise<void>;
  /** Aborts live rounds without deciding them (the runs become `interrupted`), closes the store. */
  close(): Promise<void>;
};
