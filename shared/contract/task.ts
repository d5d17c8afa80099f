// Reading a task folder without running anything.
import { z } from 'zod';
import { Budget } from '#shared/domain/budget.ts';
import { ContractBody } from '#shared/domain/contract.ts';
import { Count, Sha } from '#shared/domain/ids.ts';
import { query } from './procedure.ts';

export const TaskInfo = z.strictObject({
  /** Absolute path of the folder. */
  path: z.string(),
  id: z.string(),
  title: z.string(),
  contractSha: Sha,
  contract: ContractBody,
  seedTree: Sha,
  seedFiles: Count,
  seedBytes: Count,
  budget: Budget,
  operators: z.array(z.string()),
});
export type TaskInfo = z.infer<typeof TaskInfo>;

export const taskContract = {
  /** Validates the folder whole. Fails with bad_input naming file and field. */
  'task.inspect': query(z.strictObject({ path: z.string() }), TaskInfo),
} as const;
