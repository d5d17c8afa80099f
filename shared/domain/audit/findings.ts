// The findings of a decision replay, sorted by the rule that they count against. Counted always, listed up to a limit.
import { type AuditFinding, type ObjectRole, recordOf, rulesOf } from './places.ts';
import { type AuditRecord, maxAuditRecords, type RuleId } from './report.ts';

export type RuleFindings = {
  /** Stored fields that are not what their sources give. */
  readonly differs: number;
  readonly missing: number;
  readonly records: readonly AuditRecord[];
  /** Records that are not there. */
  readonly missingRecords: readonly AuditRecord[];
};

export type FindingBook = {
  add(finding: AuditFinding, role?: ObjectRole): void;
  of(rule: RuleId): RuleFindings;
  /** All records that are not there, whatever rule they belong to. */
  missing(): { readonly count: number; readonly records: readonly AuditRecord[] };
};

export function createFindingBook(): FindingBook {
  const rules = new Map<RuleId, { differs: number; missing: number; records: AuditRecord[]; missingRecords: AuditRecord[] }>();
  const gone: AuditRecord[] = [];
  let goneCount = 0;
  const entry = (rule: RuleId) => {
    const known = rules.get(rule);
    if (known !== undefined) return known;
    const made = { differs: 0, missing: 0, records: [], missingRecords: [] };
    rules.set(rule, made);
    return made;
  };
  const list = (records: AuditRecord[], record: AuditRecord): void => {
    if (records.length < maxAuditRecords) records.push(record);
  };
  return {
    add: (finding, role) => {
      const record = recordOf(finding);
      if (finding.kind === 'missing') {
        goneCount++;
        list(gone, record);
      }
      for (const rule of rulesOf(finding, role)) {
        const own = entry(rule);
        own[finding.kind]++;
        list(finding.kind === 'missing' ? own.missingRecords : own.records, record);
      }
    },
    of: (rule) => rules.get(rule) ?? { differs: 0, missing: 0, records: [], missingRecords: [] },
    missing: () => ({ count: goneCount, records: gone }),
  };
}
