// Files that are started as threads or processes of their own. They lie beside this module when it is built (out/node is flat), and in
// their own folders when it runs from source.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = import.meta.url;
const built = !here.endsWith('.ts');

const entry = (name: string, source: string): URL => new URL(built ? `./${name}.js` : source, here);

/** One URL per entry; `build.ts` builds exactly these under these names. */
export const entries = {
  storeWorker: entry('store-worker', '../store/worker.ts'),
  runner: entry('runner', '../verifiers/runner.ts'),
} as const;

/** The repository, or the folder of the packed app: what holds package.json, out/ and resources/. */
export const appRoot: string = findRoot(path.dirname(fileURLToPath(here)));

/** Sample tasks that ship with the app. A packed app keeps them beside its asar, where verifiers can read them as plain files. */
export const samplesDir: string = path.join(appRoot.endsWith('.asar') ? path.dirname(appRoot) : appRoot, 'resources/tasks');

/** The built page. */
export const rendererDir: string = path.join(appRoot, 'out/renderer');

/** URL of a file of the app root. */
export const rootUrl = (file: string): URL => pathToFileURL(path.join(appRoot, file));

function findRoot(from: string): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'package.json'))) return folder;
    if (folder === path.dirname(folder)) throw new Error(`no package.json above ${from}`);
  }
}
