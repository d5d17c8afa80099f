// Every source folder says what it is for.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

test('every source folder has a README.md', () => {
  const wanted = ['shared', 'electron', 'renderer'].flatMap((top) => [
    top,
    ...readdirSync(path.join(root, top), { withFileTypes: true })
      .filter((e) => e.isDirectory())
      .map((e) => `${top}/${e.name}`),
  ]);
  const features = readdirSync(path.join(root, 'renderer/features'), { withFileTypes: true })
    .filter((e) => e.isDirectory())
    .map((e) => `renderer/features/${e.name}`);
  const missing = [...wanted, ...features, 'tests', 'resources'].filter((folder) => !existsSync(path.join(root, folder, 'README.md')));
  expect(missing).toEqual([]);
});
