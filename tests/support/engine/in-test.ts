// What a test opens and vitest closes when the test has finished, last opened first.
import { onTestFinished } from 'vitest';
import { RpcError } from '#shared/contract/errors.ts';
import { type Engine, startEngine, temporaryFolder } from './engine-fixture.ts';
import { type SmallTaskOptions, writeSmallTask } from './small-task.ts';
import { type StoredStore, temporaryStore } from './stored-run.ts';

/** A fresh folder. */
export async function folderHere(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}

/** An engine on `dataDir`, or on a fresh folder. The test may close it itself before. */
export async function engineHere(dataDir?: string, storeWorker?: URL): Promise<Engine> {
  const engine = await startEngine(dataDir ?? (await folderHere()), storeWorker);
  onTestFinished(() => engine.close());
  return engine;
}

/** The folder of a small task. */
export async function smallTaskHere(options?: SmallTaskOptions): Promise<string> {
  const task = await writeSmallTask(options);
  onTestFinished(() => task.remove());
  return task.path;
}

/** A store in a fresh folder. */
export async function storeHere(): Promise<StoredStore> {
  const opened = await temporaryStore();
  onTestFinished(() => opened.close());
  return opened;
}

/** The error with which the engine refuses a call; throws when it does not. */
export async function refusal(call: Promise<unknown>): Promise<{ code: string; message: string; where: object }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof RpcError) return { code: error.code, message: error.message, where: error.where };
    throw error;
  }
  throw new Error('was not refused');
}
