// The vectors that the package verifier repeats, read once and checked.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Manifest } from '#shared/domain/tree.ts';

// `value` stays as it was parsed: z.json() would drop a key called __proto__.
const Vectors = z.strictObject({
  about: z.string(),
  values: z.array(z.strictObject({ name: z.string(), value: z.unknown(), canonical: z.string(), sha: z.string() })),
  numbers: z.array(z.strictObject({ bits: z.string().length(16), canonical: z.string().nullable() })),
  refused: z.array(z.strictObject({ name: z.string(), json: z.string(), path: z.string() })),
  trees: z.array(z.strictObject({ name: z.string(), manifest: Manifest, order: z.array(z.string()), sha: z.string() })),
  commitments: z.array(z.strictObject({ salt: z.string(), text: z.string(), sha: z.string() })),
  lines: z.array(z.strictObject({ line: z.string(), sha: z.string() })),
});

export const vectors = Vectors.parse(
  JSON.parse(readFileSync(new URL('../../fixtures/vectors/canonical-json.json', import.meta.url), 'utf8')),
);
