import { z } from 'zod';

/** The report of a task's verifier that was given n1, t1 and c1 to echo. */
export const TaskReport = z.strictObject({
  nonce: z.literal('n1'),
  tree: z.literal('t1'),
  contract: z.literal('c1'),
  values: z.record(z.string(), z.int().min(0)),
  advisory: z.strictObject({}),
  details: z.record(z.string(), z.string()),
});
export type TaskReport = z.infer<typeof TaskReport>;
