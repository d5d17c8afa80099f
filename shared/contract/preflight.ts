// Measuring a task's seed without starting a run.
import { z } from 'zod';
import { Forecast } from '#shared/domain/forecast.ts';
import { Count } from '#shared/domain/ids.ts';
import { ObligationKey } from '#shared/domain/obligation.ts';
import { Rank, Verdict } from '#shared/domain/verdict.ts';
import { command } from './procedure.ts';
import { TaskInfo } from './task.ts';

/** What is done about obligations that are not stable; each choice makes a new version of the contract. */
export const RevisionChoices = z.strictObject({
  /** Keys of obligations that become advisory. */
  quarantine: z.array(ObligationKey).max(100_000).optional(),
  /** Keys of obligations whose measurements are aggregated by their median. */
  median: z.array(ObligationKey).max(100_000).optional(),
});
export type RevisionChoices = z.infer<typeof RevisionChoices>;

export const TaskPreflightInput = RevisionChoices.extend({
  /** Absolute path of a task folder. */
  path: z.string(),
  /** How often the seed is measured; the contract's `preflightRuns` unless said. */
  runs: z.int().min(1).max(1_000).optional(),
  /** Attempts a round, for the forecast; 4 unless said. */
  slots: z.int().min(1).max(64).optional(),
  /** As in `run.start`. */
  unsandboxed: z.literal(true).optional(),
});
export type TaskPreflightInput = z.infer<typeof TaskPreflightInput>;

const Ms = z.number().min(0);

export const TaskPreflight = z.strictObject({
  /** The task with the contract that was measured: that of the folder, or its new version when there were choices. */
  task: TaskInfo,
  /** Measurements that were asked for. */
  runs: z.int().min(1),
  /** All of them gave a rank and no obligation that has to be stable changed. Else a run would not start. */
  stable: z.boolean(),
  /** All measurements as one. */
  verdict: Verdict,
  /** Rank that a run would begin with; null unless stable. */
  genesis: z.strictObject({ rank: Rank, potential: Count }).nullable(),
  /** In coordinate order; `values` of the measurements that gave a rank, in their order. */
  obligations: z.array(
    z.strictObject({
      key: ObligationKey,
      title: z.string(),
      aggregate: z.enum(['worst', 'median']),
      values: z.array(Count),
      stable: z.boolean(),
    }),
  ),
  /** Values that decide nothing; null where a measurement named none. */
  advisory: z.array(z.strictObject({ key: ObligationKey, values: z.array(z.number().nullable()) })),
  /** How long an execution of the verifier took; null when there was none. */
  verifier: z.strictObject({ executions: z.int().min(1), medianMs: Ms, p95Ms: Ms }).nullable(),
  forecast: Forecast,
});
export type TaskPreflight = z.infer<typeof TaskPreflight>;

export const preflightContract = {
  /**
   * Verifies the seed several times and says what a run would begin with. Stores nothing. Fails with bad_input for a task that cannot be
   * run or a choice that cannot be made; a seed that is unstable or has no verdict is an answer and not an error.
   */
  'task.preflight': command(TaskPreflightInput, TaskPreflight),
} as const;
