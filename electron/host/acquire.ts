// The engine for hosts that are plain Node: the real core, the runner forked by this process.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { createCore } from '#electron/core/create-core.ts';
import { forkRunner } from '#electron/verifiers/fork-runner.ts';
import { dataDirPath, openDataDir } from './data-dir.ts';
import { acquireEngine, type EngineHandle } from './engine.ts';
import { appRoot, entries, samplesDir } from './entries.ts';
import { createErrorLog } from './log.ts';

/** Of package.json. */
export const appVersion: string = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(path.join(appRoot, 'package.json'), 'utf8'))).version;

/** Reaches or starts the engine of a data folder: `data` as given on the command line, or the default. */
export function acquireHere(data: string | undefined): Promise<EngineHandle> {
  const dataDir = openDataDir(dataDirPath({ option: data }));
  return acquireEngine({
    dataDir,
    appVersion,
    createCore,
    startRunner: () => Promise.resolve(forkRunner(entries.runner)),
    storeWorker: entries.storeWorker,
    samplesDir,
    logInternal: createErrorLog(dataDir),
  });
}
