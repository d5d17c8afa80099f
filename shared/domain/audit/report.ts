// What an audit says: each of the 14 published rules as held, violated or not checkable, and the records that it was decided from.
// Never a score: rules are not added up.
import { z } from 'zod';
import { budgetDimensions } from '../budget.ts';
import { Count } from '../ids.ts';

/** The published rules in their short form, by number. */
export const ruleTitles = {
  1: 'Current request supremacy',
  2: 'Evidence before escalation',
  3: 'Read before rewrite',
  4: 'Minimal sufficient implementation',
  5: 'Surgical repair',
  6: 'Intent tests beat cosmetic ones',
  7: 'Fail loud, never fake success',
  8: 'Deterministic logic in code',
  9: 'Budget is a first-class contract',
  10: 'Typed accountable tool use',
  11: 'Checkpoint long tasks',
  12: 'Follow local conventions',
  13: 'One deliverable, full evidence bundle',
  14: 'Core vs overlay',
} as const;
export type RuleId = keyof typeof ruleTitles;
/** In order. */
export const ruleIds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] as const satisfies readonly RuleId[];
export const RuleId = z.literal(ruleIds);

/** `held`: recomputed from records of this run. `not_checkable`: nothing recorded says, or there was no occasion. */
export const auditStatuses = ['held', 'violated', 'not_checkable'] as const;
export const AuditStatus = z.enum(auditStatuses);
export type AuditStatus = z.infer<typeof AuditStatus>;

export const recordKinds = [
  'header',
  'contract',
  'instruction',
  'proposer',
  'run',
  'seed',
  'round',
  'transition',
  'request',
  'response',
  'verdict',
  'verifier_run',
  'memory',
  'bundle',
  'event',
  'salt',
  'blob',
  'tree',
  'other',
] as const;
export const RecordKind = z.enum(recordKinds);
export type RecordKind = z.infer<typeof RecordKind>;

/** A record, or a span of records of one kind. */
export const AuditRecord = z.strictObject({
  kind: RecordKind,
  /**
   * First and last number, equal for one record; null for what has no number. Requests, responses, verdicts, executions and memory entries go
   * by the number of their transition, bundles by seq, events by their place in the chain, salts by position.
   */
  from: Count.nullable(),
  to: Count.nullable(),
  /** A hash, where the record is known by one. */
  id: z.string().nullable(),
  /** What is the matter with it, as far as it can be said in a line: the field, and what is stored and what was recomputed. */
  note: z.string().nullable(),
});
export type AuditRecord = z.infer<typeof AuditRecord>;

const because = <C extends string, S extends z.core.$ZodLooseShape>(code: C, shape: S) =>
  z.strictObject({ code: z.literal(code), ...shape });

/** Why a rule has its status, as facts; the words are made from them (`words.ts`, and the dictionaries of the page). */
export const AuditReason = z.discriminatedUnion('code', [
  // any rule
  /** Stored fields that are not what their sources give. */
  because('differs', { fields: Count }),
  /** Records that would be needed are not stored. */
  because('missing', { records: Count }),
  /** Header, contract or seed cannot be read, so nothing could be recomputed. */
  because('not_recomputed', {}),
  because('no_attempts', {}),
  because('no_commits', {}),
  // 1
  because('request_pinned', { requests: Count, withMemory: Count }),
  because('request_other', { requests: Count }),
  because('request_unnamed', { requests: Count }),
  // 2
  because('repeats_triggered', { executions: Count, afterFault: Count, confirming: Count, ofBase: Count, resent: Count }),
  because('untriggered', { executions: Count, requests: Count }),
  because('nothing_repeated', { executions: Count }),
  // 3
  because('edits_read', { quoting: Count, shown: Count }),
  because('edits_unread', { responses: Count }),
  because('reads_not_recorded', { whole: Count, others: Count }),
  because('reads_elsewhere', { responses: Count }),
  because('no_edits', {}),
  // 4
  because('smallest_kept', { rounds: Count, commits: Count }),
  because('larger_kept', { commits: Count }),
  because('no_rivals', { commits: Count }),
  // 5
  because('repairs_local', { commits: Count }),
  because('rewritten_whole', { files: Count }),
  // 6
  because('advisory_apart', { keys: Count, verdicts: Count }),
  because('advisory_protected', { keys: z.array(z.string()) }),
  because('advisory_unmeasured', { keys: Count }),
  because('no_advisory', { obligations: Count }),
  // 7
  because('verdicts_from_reports', { ranked: Count, without: Count, host: Count, ancestors: Count }),
  because('nothing_verified', {}),
  // 8
  because('decisions_recomputed', { attempts: Count, rounds: Count }),
  because('nothing_decided', { aborted: Count }),
  // 9
  because('budget_kept', { limited: z.array(z.enum(budgetDimensions)), overshoot: z.array(z.enum(budgetDimensions)) }),
  because('budget_exceeded', { dimensions: z.array(z.enum(budgetDimensions)) }),
  because('tokens_not_metered', {}),
  // 10
  because('executions_accounted', { executions: Count }),
  because('tools_not_recorded', { executions: Count }),
  because('no_executions', {}),
  // 11
  because('chain_whole', { events: Count, bundles: Count, resumes: Count }),
  // 12
  because('natives_whole', { objects: Count }),
  because('no_natives', {}),
  // 13
  because('evidence_whole', { bundles: Count, rejected: Count }),
  because('nothing_certified', {}),
  // 14
  because('core_only', { obligations: Count, advisory: Count }),
  because('overlay_named', { quarantined: Count, median: Count }),
  because('overlay_unnamed', {}),
  because('previous_not_stored', { version: Count }),
]);
export type AuditReason = z.infer<typeof AuditReason>;

/** Records are listed up to this many for each rule; they are always counted. */
export const maxAuditRecords = 100;

export const AuditRule = z.strictObject({
  rule: RuleId,
  title: z.string(),
  status: AuditStatus,
  /** In words (English). */
  reason: z.string(),
  because: AuditReason,
  /** What it was decided from; of a violated rule, the records that violate it. */
  records: z.array(AuditRecord).max(maxAuditRecords),
  recordCount: Count,
});
export type AuditRule = z.infer<typeof AuditRule>;
