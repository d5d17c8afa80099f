// The name of a contract: both ends of a connection must have been built from the same one.
import { z } from 'zod';
import { sha256Text } from '#shared/lib/hash.ts';
import type { ProcedureTable } from './procedure.ts';

/**
 * SHA-256 over the JSON Schemas of every input and output, in the order of the table. Typed arrays have no JSON Schema and count as
 * "anything", so a change from one kind of array to another is not seen here; the server's parser refuses it.
 */
export function contractHash(table: ProcedureTable): string {
  const known = computed.get(table);
  if (known !== undefined) return known;
  const schema = (type: z.ZodType, io: 'input' | 'output') => z.toJSONSchema(type, { unrepresentable: 'any', io });
  const described = Object.entries(table).map(([name, procedure]) => [
    name,
    procedure.kind,
    schema(procedure.input, 'input'),
    schema(procedure.kind === 'stream' ? procedure.item : procedure.output, 'output'),
  ]);
  const hash = sha256Text(JSON.stringify(described));
  computed.set(table, hash);
  return hash;
}

// Some 30 ms for the whole table, and every connection asks for it.
const computed = new WeakMap<ProcedureTable, string>();
