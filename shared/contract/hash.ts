// What two builds compare before they talk: a hash over the whole contract table.
import { z } from 'zod';
import { hashJson } from '#shared/lib/hash.ts';
import { contract } from './contract.ts';
import type { Procedure } from './procedure.ts';

// Typed arrays have no JSON Schema ('any'); their names still stand in the hash through the keys that hold them.
const schemaOf = (type: z.ZodType, io: 'input' | 'output') =>
  z.json().parse(JSON.parse(JSON.stringify(z.toJSONSchema(type, { unrepresentable: 'any', io }))));

const describe = (procedure: Procedure) => ({
  kind: procedure.kind,
  input: schemaOf(procedure.input, 'input'),
  output: schemaOf(procedure.kind === 'stream' ? procedure.item : procedure.output, 'output'),
});

let hash: string | undefined;

/** SHA-256 of the RFC 8785 text of the JSON Schemas of every procedure; equal exactly where two builds have the same contract. */
export function contractHash(): string {
  hash ??= hashJson(Object.fromEntries(Object.entries(contract).map(([name, procedure]) => [name, describe(procedure)])));
  return hash;
}
