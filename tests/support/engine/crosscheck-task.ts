// Runs of the fixture `crosscheck-js` that end where a test wants them to: a program writes, by its seed, the files of the first attempt.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const fixture = path.resolve(import.meta.dirname, '../../fixtures/tasks/crosscheck-js');

/** A copy of the fixture, with `change` applied to its task.toml and further files (paths in the task) written. */
export async function crosscheckTask(
  change: (toml: string) => string = (toml) => toml,
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pawl-crosscheck-'));
  await cp(fixture, folder, { recursive: true });
  const toml = path.join(folder, 'task.toml');
  await writeFile(toml, change(await readFile(toml, 'utf8')));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

const list = (largest: string): string =>
  `export const total = (list) => list.reduce((sum, x) => sum + x, 0);\nexport const largest = ${largest};\n`;

/** Two repairs that meet every obligation. The second is wrong for lists without a positive number. */
export const careful = list('(list) => list.reduce((a, b) => (a > b ? a : b))');
export const sloppy = list('(list) => list.reduce((a, b) => (a > b ? a : b), 0)');

/** A test, as the fixture wants one. */
export const negativeTest = `import { largest } from '../src/list.js';\nexport default () => largest([-3, -2]) === -2;\n`;
export const totalTest = `import { total } from '../src/list.js';\nexport default () => total([2, 3]) === 5;\n`;

/** Text for the proposer `command`: writes the files that stand under its seed. */
export function writerBySeed(bySeed: Readonly<Record<number, Readonly<Record<string, string>>>>): string {
  const source = `const fs = require('fs'); for (const [file, text] of Object.entries(${JSON.stringify(bySeed)}[process.env.PAWL_SEED])) fs.writeFileSync(file, text);`;
  return `${JSON.stringify(process.execPath)} -e '${source.replaceAll("'", `'"'"'`)}'`;
}
