// The same history hashed by another process, without the test runner's transforms: ids must not depend on who computes them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { treeId } from '#shared/domain/tree-id.ts';
import { canonicalJson, type Json } from '#shared/lib/canonical-json.ts';
import { hashJson } from '#shared/lib/hash.ts';
import { createRandom } from '#shared/lib/random.ts';
import { vectors } from './lib/vectors.ts';
import { smallRun, world } from './support/small-run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// Reads worlds and values from its standard input; TypeScript is run by Node's own type stripping.
const program = `
  import { treeId } from '#shared/domain/tree-id.ts';
  import { canonicalJson } from '#shared/lib/canonical-json.ts';
  import { hashJson } from '#shared/lib/hash.ts';
  import { createRandom } from '#shared/lib/random.ts';
  import { smallRun } from './tests/property/support/small-run.ts';
  import { readFileSync } from 'node:fs';
  const { worlds, values, manifests, seeds } = JSON.parse(readFileSync(0, 'utf8'));
  process.stdout.write(JSON.stringify({
    chains: worlds.map((w) => smallRun(w).chain.map((b) => b.id)),
    lines: worlds.map((w) => hashJson([...smallRun(w).lines])),
    memory: worlds.map((w) => smallRun(w).memory.map((m) => m.id)),
    texts: values.map(canonicalJson),
    trees: manifests.map(treeId),
    draws: seeds.map((s) => { const r = createRandom([s]); return [r.next(), r.int(1000)]; }),
  }));
`;

const Answer = z.strictObject({
  chains: z.array(z.array(z.string())),
  lines: z.array(z.string()),
  memory: z.array(z.array(z.string())),
  texts: z.array(z.string()),
  trees: z.array(z.string()),
  draws: z.array(z.array(z.number())),
});

test('another process computes the same texts, hashes, draws and chains', () => {
  const worlds = fc.sample(world(fc.nat({ max: 9 })), { numRuns: 30, seed: 7 });
  const values: Json[] = fc
    .sample(
      fc.jsonValue().filter((v) => JSON.stringify(v).isWellFormed()),
      { numRuns: 100, seed: 7 },
    )
    .map((v) =>
      z
        .json()
        .parse(
          JSON.parse(
            JSON.stringify(v, (_, x: unknown) => (typeof x === 'number' && !Number.isSafeInteger(x) && Number.isInteger(x) ? 0 : x)),
          ),
        ),
    );
  const manifests = vectors.trees.map((t) => t.manifest);
  const seeds = fc.sample(fc.oneof(fc.nat(), fc.string()), { numRuns: 20, seed: 7 });
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: root,
    input: JSON.stringify({ worlds, values, manifests, seeds }),
    encoding: 'utf8',
    // Another language and time zone than this process has.
    env: { PATH: process.env['PATH'], LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', TZ: 'Asia/Seoul' },
  });
  expect(child.stderr).toBe('');
  const runs = worlds.map((w) => smallRun(w));
  expect(Answer.parse(JSON.parse(child.stdout))).toEqual({
    chains: runs.map((r) => r.chain.map((b) => b.id)),
    lines: runs.map((r) => hashJson([...r.lines])),
    memory: runs.map((r) => r.memory.map((m) => m.id)),
    texts: values.map((v) => canonicalJson(v)),
    trees: manifests.map((m) => treeId(m)),
    draws: seeds.map((s) => {
      const r = createRandom([s]);
      return [r.next(), r.int(1_000)];
    }),
  });
});
