// What `pawl run --json` and `pawl show --json` print.
import { z } from 'zod';

const Amounts = z.record(z.string(), z.int());
/** Every field, and none beside them. */
const RunDocument = z.strictObject({
  id: z.string(),
  task: z.strictObject({ id: z.string(), title: z.string() }),
  contract: z.string(),
  header: z.looseObject({ format: z.literal('pawl.header/1') }),
  headerSha: z.string(),
  status: z.string(),
  stop: z.string().nullable(),
  note: z.string().nullable(),
  startedAt: z.string(),
  updatedAt: z.string(),
  head: z.strictObject({ id: z.string(), seq: z.int(), era: z.int(), rank: z.array(z.int()), potential: z.int() }).nullable(),
  genesis: z.strictObject({ id: z.string(), rank: z.array(z.int()), potential: z.int() }).nullable(),
  counts: Amounts,
  budget: z.record(z.string(), z.strictObject({ max: z.int().nullable(), used: z.int() })),
  overshoot: Amounts,
  memoryEntries: z.int(),
  selections: z.array(z.looseObject({ format: z.literal('pawl.selection/1') })),
  obligations: z.array(z.strictObject({ key: z.string(), title: z.string() })),
  tamperEvidentOnly: z.boolean(),
  bundles: z.array(
    z.strictObject({ seq: z.int(), id: z.string(), transition: z.int().nullable(), rank: z.array(z.int()), potential: z.int() }),
  ),
  transitions: z.array(
    z.looseObject({
      n: z.int(),
      round: z.int(),
      slot: z.int(),
      outcome: z.string(),
      base: z.string(),
      tree: z.string().nullable(),
      rank: z.array(z.int()).nullable(),
      verdictSource: z.string(),
      bundle: z.string().nullable(),
      cost: z.strictObject({ charged: Amounts, overshoot: Amounts }),
    }),
  ),
});

/** Reads the document; throws when a field is missing, wrong or unknown. */
export const parseRun = (text: string) => RunDocument.parse(JSON.parse(text));
