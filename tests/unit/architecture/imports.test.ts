// Walks every import of the product and holds it against the allowlist.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { layers, packages } from './allowlist.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const importPattern = /(?:^|\n)\s*(?:import|export)\s(?:[^'"();]*?\sfrom\s*)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

type Import = { readonly file: string; readonly specifier: string };

function sources(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && /\.(ts|tsx)$/.test(e.name) && !e.name.endsWith('.d.ts'))
    .map((e) => path.relative(root, path.join(e.parentPath, e.name)).replaceAll(path.sep, '/'));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(path.join(root, file), 'utf8');
  return [...text.matchAll(importPattern)].map((m) => ({ file, specifier: m[1] ?? m[2] ?? '' }));
}

/** Path inside the repository, or null for a package or a Node module. */
function inside({ file, specifier }: Import): string | null {
  const bare = specifier.replace(/\?.*$/, '');
  if (bare.startsWith('#')) return bare.slice(1);
  if (bare.startsWith('.')) return path.posix.normalize(path.posix.join(path.posix.dirname(file), bare));
  return null;
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

function faults(imports: readonly Import[]): string[] {
  const found: string[] = [];
  for (const entry of imports) {
    const layer = layers.find((l) => entry.file.startsWith(l.source));
    if (!layer) {
      found.push(`${entry.file}: no layer of the allowlist covers it`);
      continue;
    }
    const target = inside(entry);
    if (target !== null) {
      if (!layer.may.some((m) => target.startsWith(m)))
        found.push(`${entry.file} -> ${target}: ${layer.source} may import ${layer.may.join(', ')} (${layer.why})`);
      const feature = /^renderer\/features\/([^/]+)\//.exec(target)?.[1];
      const own = /^renderer\/features\/([^/]+)\//.exec(entry.file)?.[1];
      if (feature !== undefined && feature !== own && !/^renderer\/features\/[^/]+\/index\.tsx?$/.test(target))
        found.push(`${entry.file} -> ${target}: a feature is imported through its index.ts`);
      continue;
    }
    if (entry.specifier.startsWith('node:')) {
      if (!entry.file.startsWith('electron/')) found.push(`${entry.file} -> ${entry.specifier}: Node modules belong to electron/`);
      continue;
    }
    const name = packageOf(entry.specifier);
    const place = packages[name];
    if (place === undefined) found.push(`${entry.file} -> ${name}: the package is not placed in the allowlist`);
    else if (!layer.packages.includes(place))
      found.push(`${entry.file} -> ${name}: a ${place} package; ${layer.source} takes ${layer.packages.join(', ')}`);
  }
  return found;
}

describe('imports', () => {
  const files = [...sources('shared'), ...sources('electron'), ...sources('renderer')];

  test('every import of the product is allowed by its layer', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(faults(files.flatMap(importsOf))).toEqual([]);
  });

  test('the walk sees what it must refuse', () => {
    const bad: Import[] = [
      { file: 'shared/domain/decide.ts', specifier: './memory.ts' },
      { file: 'shared/domain/decide.ts', specifier: './features.ts' },
      { file: 'shared/lib/hash.ts', specifier: 'node:crypto' },
      { file: 'renderer/app/main.tsx', specifier: '#electron/core/core.ts' },
      { file: 'renderer/features/run/x.tsx', specifier: '../timeline/draw.ts' },
      { file: 'electron/store/store.ts', specifier: 'electron' },
      { file: 'electron/governor/loop.ts', specifier: '../store/store.ts' },
      { file: 'electron/core/a.ts', specifier: 'left-pad' },
      { file: 'electron/unheard/of.ts', specifier: 'zod' },
    ];
    for (const entry of bad) expect(faults([entry]), `${entry.file} -> ${entry.specifier}`).toHaveLength(1);
  });

  test('every package of package.json is placed, and nothing else is', () => {
    const manifest = z
      .object({ dependencies: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')));
    expect(Object.keys(packages).sort()).toEqual(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).sort());
  });
});
