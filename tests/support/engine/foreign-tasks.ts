// Tasks of other people's formats, laid out as their owners have them.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const fixtures = path.resolve(import.meta.dirname, '../../fixtures');

/** The commit that the instances of the fixture are about. */
export const baseCommit = '5d0f6c3b1a9e4f7788c2b6d1e0a4c3f2b1d09e87';

/** Ids of the two instances: the same tests, as unittest names them and as pytest does. */
export const sweBenchIds = { unittest: 'fixtures__temperature-1', pytest: 'fixtures__temperature-2' } as const;

/** One instance as it is published. */
export async function sweBenchInstance(kind: keyof typeof sweBenchIds): Promise<Record<string, unknown>> {
  const lines = (await readFile(path.join(fixtures, 'swe-bench/instances.jsonl'), 'utf8')).trimEnd().split('\n');
  const found = lines.map((line): Record<string, unknown> => JSON.parse(line)).find((one) => one['instance_id'] === sweBenchIds[kind]);
  if (found === undefined) throw new Error(`the fixture has no instance ${sweBenchIds[kind]}`);
  return found;
}

/** A checkout at `dir`: the files of the fixture, and a history that is nothing but its head. */
export async function sweBenchCheckout(dir: string): Promise<void> {
  await cp(path.join(fixtures, 'swe-bench/checkout'), dir, { recursive: true });
  await mkdir(path.join(dir, '.git/refs/heads'), { recursive: true });
  await writeFile(path.join(dir, '.git/HEAD'), 'ref: refs/heads/main\n');
  await writeFile(path.join(dir, '.git/refs/heads/main'), `${baseCommit}\n`);
  await writeFile(path.join(dir, '.git/config'), '[core]\n\tbare = false\n');
}

/** A folder with `instance.json`, changed as asked, and its checkout. Gives the file and the checkout. */
export async function sweBenchTask(
  folder: string,
  changes: Readonly<Record<string, unknown>> = {},
  kind: keyof typeof sweBenchIds = 'unittest',
): Promise<{ readonly file: string; readonly checkout: string; readonly id: string }> {
  const id = sweBenchIds[kind];
  const file = path.join(folder, 'instance.json');
  const checkout = path.join(folder, id);
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify({ ...(await sweBenchInstance(kind)), ...changes }));
  await sweBenchCheckout(checkout);
  return { file, checkout, id };
}

/** A copy of Harbor's task at `folder`, which is absolute and not there yet. Gives the folder. */
export async function harborTask(folder: string): Promise<string> {
  await cp(path.join(fixtures, 'harbor/count-words'), folder, { recursive: true });
  return folder;
}
