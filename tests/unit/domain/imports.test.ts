// I13: nothing that a model wrote or reads can reach the decision, because the decision does not import it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const shared = fileURLToPath(new URL('../../../shared', import.meta.url));

const specifiers = (source: string): string[] =>
  [...source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*(['"`])([^'"`]+)\1/g)].map((m) => m[2] ?? '');

/** Files of ours that `start` reaches, type imports included, as paths from the shared folder; and npm packages by name. */
const reach = (start: string): { files: Set<string>; packages: Set<string> } => {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open = [path.join(shared, start)];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const name = path.relative(shared, file).replaceAll(path.sep, '/');
    if (files.has(name)) continue;
    files.add(name);
    for (const specifier of specifiers(readFileSync(file, 'utf8'))) {
      if (specifier.startsWith('.')) open.push(path.resolve(path.dirname(file), specifier));
      else if (specifier.startsWith('#shared/')) open.push(path.join(shared, specifier.slice('#shared/'.length)));
      else packages.add(specifier);
    }
  }
  return { files, packages };
};

test('the walk sees relative, aliased, type-only, side-effect and dynamic imports', () => {
  const source =
    "import { a } from './a.ts';\nimport type { B } from '#shared/b.ts';\nexport * from \"./c.ts\";\nimport './d.ts';\nawait import('./e.ts');";
  expect(specifiers(source)).toEqual(['./a.ts', '#shared/b.ts', './c.ts', './d.ts', './e.ts']);
  expect([...reach('domain/memory-entry.ts').files]).toEqual(
    expect.arrayContaining(['domain/features.ts', 'domain/memory.ts', 'lib/hash.ts']),
  );
});

test.each(['domain/decide.ts', 'domain/select.ts', 'domain/rank.ts', 'domain/confirm.ts', 'domain/aggregate.ts'])(
  '%s reaches no memory, features or prompts',
  (start) => {
    const { files, packages } = reach(start);
    expect(files.size).toBeGreaterThan(1);
    expect([...files].filter((f) => /memory|feature|prompt|propos|retriev|excerpt|evidence/.test(f))).toEqual([]);
    expect([...packages].filter((p) => p !== 'zod')).toEqual([]);
  },
);
