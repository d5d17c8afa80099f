// The audit of a run: each of the 14 published rules, and the records that it was decided from.
import { z } from 'zod';
import { AuditRule, ruleIds } from '#shared/domain/audit/report.ts';
import { Count, RunId } from '#shared/domain/ids.ts';
import { stream } from './procedure.ts';

/** What `pawl audit --json` prints. There is no score: rules are not added up. */
export const AuditReport = z.strictObject({
  format: z.literal('pawl.audit/1'),
  run: RunId,
  /** What was recomputed. */
  transitions: Count,
  rounds: Count,
  bundles: Count,
  events: Count,
  /** A round is under way; it is not in the report. */
  open: z.boolean(),
  /** All of them, in order. */
  rules: z.array(AuditRule).length(ruleIds.length),
  ms: z.number().min(0),
});
export type AuditReport = z.infer<typeof AuditReport>;

export const AuditItem = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('progress'), transitions: Count, of: Count }),
  z.strictObject({ kind: z.literal('report'), report: AuditReport }),
]);
export type AuditItem = z.infer<typeof AuditItem>;

export const auditContract = {
  /** Makes the decisions of a run again and says of each published rule whether it is held. Progress, and a report at the end. Stores nothing. */
  'audit.run': stream(z.strictObject({ run: RunId }), AuditItem),
} as const;
