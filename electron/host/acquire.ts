// The engine for hosts that are plain Node: the real core, the runner forked by this process.
import { createCore } from '#electron/core/create-core.ts';
import { openLog } from '#electron/core/log.ts';
import { forkRunner } from '#electron/verifiers/fork-runner.ts';
import { appVersion } from './app-version.ts';
import { dataDirPath, openDataDir } from './data-dir.ts';
import { acquireEngine, type EngineHandle } from './engine.ts';
import { entries, samplesDir } from './entries.ts';

/** Reaches or starts the engine of a data folder: `data` as given on the command line, or the default. */
export function acquireHere(data: string | undefined): Promise<EngineHandle> {
  const dataDir = openDataDir(dataDirPath({ option: data }));
  let log: ReturnType<typeof openLog> | undefined;
  return acquireEngine({
    dataDir,
    appVersion,
    createCore,
    startRunner: () => Promise.resolve(forkRunner(entries.runner)),
    storeWorker: entries.storeWorker,
    samplesDir,
    // The engine writes its own log; this is for what fails between it and its clients, which is rare.
    logInternal: (error, name) => (log ??= openLog(dataDir)).internal(error, name),
  });
}
