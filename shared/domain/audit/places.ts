// Which record a decision replay speaks of, and which of the published rules that record and field belong to. Total: whatever a replay names
// belongs to some rule, so that nothing which it finds can be missing from an audit.
import type { AuditRecord, RecordKind, RuleId } from './report.ts';

/** Something that a decision replay found: a stored field that is not what its sources give, or a record that is not there. */
export type AuditFinding =
  | {
      readonly kind: 'differs';
      /** As the replay names it: `transition 17`, `verifier run 1 of the seed`, `blob <sha>`. */
      readonly where: string;
      readonly field: string;
      readonly stored: string | null;
      readonly recomputed: string | null;
    }
  | { readonly kind: 'missing'; readonly where: string; readonly what: string };

/** What a stored object is to the run: `native` are bytes from outside (requests, responses, reports, outputs). */
export type ObjectRole = 'instruction' | 'tree' | 'native';

type Place = {
  readonly kind: RecordKind;
  readonly number: number | null;
  readonly id: string | null;
  /** Which of several records of this kind and number. */
  readonly which: string | null;
};

const place = (kind: RecordKind, number: number | null = null, id: string | null = null, which: string | null = null): Place => ({
  kind,
  number,
  id,
  which,
});

const patterns: readonly (readonly [RegExp, (groups: readonly (string | undefined)[]) => Place])[] = [
  [/^(header|contract|proposer)$/, ([kind]) => place(kind === 'header' || kind === 'contract' ? kind : 'proposer')],
  [/^run$/, () => place('run')],
  [/^rows of the run$/, () => place('run', null, null, 'number of rows')],
  [/^the seed$/, () => place('seed')],
  [/^verdict of the seed$/, () => place('seed', null, null, 'verdict')],
  [/^verifier run (\d+) of the seed$/, ([i]) => place('seed', null, null, `verifier run ${i}`)],
  [/^transition (\d+)$/, ([n]) => place('transition', Number(n))],
  [/^the base beside transition (\d+)$/, ([n]) => place('verdict', Number(n), null, 'of the base beside it')],
  [/^verdict of transition (\d+)$/, ([n]) => place('verdict', Number(n))],
  [/^verdict of the base beside transition (\d+)$/, ([n]) => place('verdict', Number(n), null, 'of the base beside it')],
  [/^verifier run (\d+) of transition (\d+)$/, ([i, n]) => place('verifier_run', Number(n), null, `run ${i}`)],
  [
    /^verifier run (\d+) of the base beside transition (\d+)$/,
    ([i, n]) => place('verifier_run', Number(n), null, `run ${i} of the base beside it`),
  ],
  [/^automatic commands of transition (\d+)$/, ([n]) => place('transition', Number(n), null, 'automatic commands')],
  [/^memory of transition (\d+)$/, ([n]) => place('memory', Number(n))],
  [/^bundle (\d+)$/, ([seq]) => place('bundle', Number(seq))],
  [/^event (\d+)$/, ([seq]) => place('event', Number(seq))],
  [/^salt (\d+)$/, ([position]) => place('salt', Number(position))],
  [/^blob (\S+)$/, ([sha]) => place('blob', null, sha ?? '')],
  [/^tree (\S+)$/, ([sha]) => place('tree', null, sha ?? '')],
  [/^verdict (\S+) of an ancestor$/, ([sha]) => place('verdict', null, sha ?? '', 'of an ancestor')],
];

function placeOf(where: string): Place {
  for (const [pattern, make] of patterns) {
    const match = pattern.exec(where);
    if (match !== null) return make(match.slice(1));
  }
  return place('other', null, where);
}

/** The hash in the name of a stored object; null where something else is named. */
export function objectIn({ where }: AuditFinding): string | null {
  const { kind, id } = placeOf(where);
  return kind === 'blob' ? id : null;
}

/** The record that a finding speaks of, with what is the matter. */
export function recordOf(finding: AuditFinding): AuditRecord {
  const { kind, number, id, which } = placeOf(finding.where);
  const said =
    finding.kind === 'missing'
      ? finding.what
      : `${finding.field}: stored ${finding.stored ?? 'nothing'}, recomputed ${finding.recomputed ?? 'nothing'}`;
  return { kind, from: number, to: number, id, note: which === null ? said : `${which}: ${said}` };
}

const fieldRules: Readonly<Record<'run' | 'transition' | 'memory', Readonly<Record<string, RuleId>>>> = {
  run: {
    header_sha: 1,
    parent: 1,
    proposer: 1,
    slots: 1,
    seed: 1,
    contract: 14,
    stop: 7,
    memories: 13,
    // Numbers of rows.
    transitions: 13,
    bundles: 13,
    head: 13,
  },
  transition: {
    request: 1,
    retrieved: 1,
    features_shown: 1,
    'measurements of the candidate': 2,
    'measurements of the base': 2,
    source: 7,
    kind: 7,
    code: 7,
    potential: 7,
    rank: 7,
    verdict: 7,
    outcome: 8,
    round: 8,
    slot: 8,
    base: 8,
    bundle: 8,
    duplicate_of: 8,
    cost: 9,
    event_from: 11,
    event_to: 11,
    response: 12,
    outputs: 10,
    registrations: 10,
  },
  memory: { changes: 4, hunks: 5, features: 8, signs: 8 },
};

const executionFields = new Set(['tree', 'id', 'duration_ms', 'output']);

/** The rules that a finding counts against. `role`: of the object that it speaks of, where it speaks of one. */
export function rulesOf(finding: AuditFinding, role: ObjectRole = 'native'): readonly RuleId[] {
  const { kind, which } = placeOf(finding.where);
  if (finding.kind === 'missing') return missingRules(kind, finding.what, role);
  const [field = ''] = finding.field.split('.', 1);
  switch (kind) {
    case 'header':
      return [1, 9];
    case 'contract':
      return [14];
    case 'run':
      if (/^(max|used|over)_/.test(field)) return [9];
      if (field.startsWith('n_')) return [13];
      return [fieldRules.run[field] ?? 11];
    case 'transition':
      if (field === 'executions') return executionCount(finding);
      return [fieldRules.transition[field] ?? 13];
    case 'seed':
    case 'verdict':
    case 'verifier_run':
      if (field === 'executions') return executionCount(finding);
      if (field.startsWith('measurements of')) return [2];
      if (kind === 'verifier_run' || which?.startsWith('verifier run') === true) return [executionFields.has(field) ? 10 : 7];
      return [field === 'advisory' ? 6 : 7];
    case 'memory':
      return [fieldRules.memory[field] ?? 13];
    case 'event':
      return [field === 'reason' ? 7 : 11];
    case 'salt':
      return [12];
    case 'blob':
      return [role === 'instruction' ? 1 : role === 'tree' ? 13 : 12];
    case 'bundle':
    case 'tree':
    case 'instruction':
    case 'proposer':
    case 'round':
    case 'request':
    case 'response':
    case 'other':
      return [13];
    default:
      return kind satisfies never;
  }
}

// `stored` counts what the verdict names, `recomputed` the rows: one too many was asked for by nothing, one too few is not accounted for.
function executionCount({ stored, recomputed }: Extract<AuditFinding, { kind: 'differs' }>): readonly RuleId[] {
  return [Number(recomputed) > Number(stored) ? 2 : 10];
}

// What is not there leaves a rule undecided, and the evidence is not whole.
function missingRules(kind: RecordKind, what: string, role: ObjectRole): readonly RuleId[] {
  switch (kind) {
    case 'blob':
      return [role === 'instruction' ? 1 : role === 'tree' ? 13 : 12];
    case 'transition':
      if (what.includes('automatic command')) return [10];
      return [/request|response/.test(what) ? 12 : 7];
    case 'seed':
    case 'verdict':
    case 'verifier_run':
      return [7];
    case 'proposer':
      return [8];
    case 'header':
    case 'contract':
    case 'instruction':
    case 'run':
    case 'round':
    case 'request':
    case 'response':
    case 'memory':
    case 'bundle':
    case 'event':
    case 'salt':
    case 'tree':
    case 'other':
      return [13];
    default:
      return kind satisfies never;
  }
}
