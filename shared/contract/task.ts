// Reading a task folder without running anything.
import { z } from 'zod';
import { Budget } from '#shared/domain/budget.ts';
import { ContractBody } from '#shared/domain/contract.ts';
import { Count, Sha } from '#shared/domain/ids.ts';
import { ManifestEntry } from '#shared/domain/tree.ts';
import { query } from './procedure.ts';

/** What a task was written for: Pawl itself, or something else that it was adapted from. */
export const TaskFormat = z.enum(['pawl', 'harbor', 'swe-bench']);
export type TaskFormat = z.infer<typeof TaskFormat>;

/** Something that an adapted task says and that is different here, or not here at all. Text of strangers. */
export const TaskNote = z.strictObject({
  /** What kind of thing, such as `network` or `unknown-field`. */
  code: z.string(),
  /** Relative to the task folder, or absolute. */
  file: z.string(),
  field: z.string().nullable(),
  message: z.string(),
});
export type TaskNote = z.infer<typeof TaskNote>;

export const TaskInfo = z.strictObject({
  /** Absolute: a folder, or FILE#INSTANCE. Reading it again gives this task. */
  path: z.string(),
  format: TaskFormat,
  /** Empty for a task of Pawl's own. */
  notes: z.array(TaskNote),
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

/** A whole task as it was read, to be looked at. */
export const TaskDocument = z.strictObject({
  task: TaskInfo,
  /** What task.toml says without its comments, or what it would say. */
  toml: z.string(),
  instruction: z.string(),
  /** The seed, in tree order. The files of the verifier stand in the contract. */
  artifact: z.array(ManifestEntry.extend({ writable: z.boolean() })),
});
export type TaskDocument = z.infer<typeof TaskDocument>;

export const taskContract = {
  /** Validates the task whole. Fails with bad_input naming file and field. */
  'task.inspect': query(z.strictObject({ path: z.string() }), TaskInfo),
  /** The same, with what it was read as. Runs nothing. */
  'task.document': query(z.strictObject({ path: z.string() }), TaskDocument),
} as const;
