// The audit of a run: each published rule decided from what a decision replay made again and what it found to be different. Pure. What each
// rule asks of a governed run is said in README.md beside this file. A rule is held only when it was recomputed from records of this run;
// where nothing recorded says, or there was no occasion, it is not checkable.
import { ensure } from '../../lib/assert.ts';
import { type BudgetDimension, budgetDimensions } from '../budget.ts';
import { headerSha } from '../bundle-id.ts';
import type { Contract } from '../contract.ts';
import type { RunHeader } from '../header.ts';
import { reviseContract } from '../revise.ts';
import type { Rank } from '../verdict.ts';
import type { AuditAttempt, AuditFacts } from './facts.ts';
import {
  type AuditReason,
  type AuditRecord,
  type AuditRule,
  type AuditStatus,
  maxAuditRecords,
  type RecordKind,
  type RuleId,
  ruleIds,
  ruleTitles,
} from './report.ts';
import { reasonText } from './words.ts';

type Decision = { readonly status: AuditStatus; readonly because: AuditReason; readonly records: readonly AuditRecord[] };
type Declared = { readonly header: RunHeader; readonly contract: Contract };
type Rule = (facts: AuditFacts, declared: Declared) => Decision;

const held = (because: AuditReason, records: readonly AuditRecord[]): Decision => ({ status: 'held', because, records });
const violated = (because: AuditReason, records: readonly AuditRecord[]): Decision => ({ status: 'violated', because, records });
const open = (because: AuditReason, records: readonly AuditRecord[] = []): Decision => ({ status: 'not_checkable', because, records });

const named = (kind: RecordKind, id: string | null = null, note: string | null = null): AuditRecord => ({
  kind,
  from: null,
  to: null,
  id,
  note,
});
const numbered = (kind: RecordKind, number: number, note: string | null = null): AuditRecord => ({
  kind,
  from: number,
  to: number,
  id: null,
  note,
});

/** The span of the numbers; nothing without any. */
function span(kind: RecordKind, numbers: readonly number[]): AuditRecord[] {
  const [from] = numbers;
  const to = numbers.at(-1);
  return from === undefined || to === undefined ? [] : [{ kind, from, to, id: null, note: null }];
}
const upTo = (kind: RecordKind, count: number): AuditRecord[] => span(kind, count > 0 ? [0, count - 1] : []);

const numbersOf = (attempts: readonly AuditAttempt[]): number[] => attempts.map(({ n }) => n);
const total = (attempts: readonly AuditAttempt[], of: (attempt: AuditAttempt) => number): number =>
  attempts.reduce((sum, attempt) => sum + of(attempt), 0);
const commitsOf = (attempts: readonly AuditAttempt[]): AuditAttempt[] => attempts.filter(({ outcome }) => outcome === 'commit');
const executionsIn = ({ attempts, seed }: AuditFacts): number => total(attempts, ({ executions }) => executions) + (seed?.executions ?? 0);
const measured = ({ attempts }: AuditFacts): number[] => numbersOf(attempts.filter(({ executions }) => executions > 0));
const seedRecord = ({ seed }: AuditFacts): AuditRecord[] => (seed === null ? [] : [named('seed')]);

const requestPinned: Rule = ({ attempts }, { header, contract }) => {
  const requests = attempts.flatMap(({ n, request }) => (request === null ? [] : [{ n, request }]));
  if (requests.length === 0) return open({ code: 'no_attempts' });
  const others = requests.flatMap(({ n, request }) =>
    request.kind === 'other' ? [numbered('request', n, `${request.field}: it names ${request.named}, pinned is ${request.pinned}`)] : [],
  );
  if (others.length > 0) return violated({ code: 'request_other', requests: others.length }, others);
  const unnamed = requests.flatMap(({ n, request }) => (request.kind === 'unnamed' ? [numbered('request', n)] : []));
  if (unnamed.length > 0) return open({ code: 'request_unnamed', requests: unnamed.length }, unnamed);
  const withMemory = attempts.filter(({ request, retrieved }) => request !== null && retrieved > 0).length;
  return held({ code: 'request_pinned', requests: requests.length, withMemory }, [
    named('header', headerSha(header)),
    named('contract', contract.sha),
    named('instruction', contract.instruction),
    ...span(
      'request',
      requests.map(({ n }) => n),
    ),
  ]);
};

const evidenceFirst: Rule = (facts, { contract: { measurement } }) => {
  const { attempts, seed } = facts;
  // Repetitions after faults are shared by all measurements of an attempt.
  const beyond = attempts.filter(({ afterFault }) => afterFault > measurement.infraRetries);
  const freely = attempts.filter(({ resentFreely }) => resentFreely > 0);
  if (beyond.length + freely.length > 0) {
    return violated(
      {
        code: 'untriggered',
        executions: total(beyond, ({ afterFault }) => afterFault - measurement.infraRetries),
        requests: total(freely, ({ resentFreely }) => resentFreely),
      },
      [
        ...beyond.map(({ n, afterFault }) =>
          numbered('verifier_run', n, `${afterFault} repeated after a fault, the contract allows ${measurement.infraRetries}`),
        ),
        ...freely.map(({ n, resentFreely }) => numbered('request', n, `sent again although the server had answered: ${resentFreely}`)),
      ],
    );
  }
  const repeated = attempts.filter(({ afterFault, confirming, ofBase }) => afterFault + confirming + ofBase > 0);
  const resent = attempts.filter((attempt) => attempt.resent > 0);
  const executions = executionsIn(facts);
  if (repeated.length + resent.length === 0 && (seed?.afterFault ?? 0) === 0) return open({ code: 'nothing_repeated', executions });
  return held(
    {
      code: 'repeats_triggered',
      executions,
      afterFault: total(attempts, ({ afterFault }) => afterFault) + (seed?.afterFault ?? 0),
      confirming: total(attempts, ({ confirming }) => confirming),
      ofBase: total(attempts, ({ ofBase }) => ofBase),
      resent: total(attempts, (attempt) => attempt.resent),
    },
    [
      ...((seed?.afterFault ?? 0) > 0 ? [named('seed')] : []),
      ...numbersOf(repeated).map((n) => numbered('verifier_run', n)),
      ...numbersOf(resent).map((n) => numbered('response', n)),
    ],
  );
};

const readFirst: Rule = ({ attempts }, { header }) => {
  const answered = attempts.filter(({ answer }) => answer.kind !== 'none');
  if (answered.length === 0) return open({ code: 'no_edits' });
  if (header.proposer.kind === 'recorded')
    return open({ code: 'reads_elsewhere', responses: answered.length }, span('response', numbersOf(answered)));
  const unread = answered.flatMap(({ n, answer }) => (answer.kind === 'unread' ? [numbered('response', n, answer.message)] : []));
  if (unread.length > 0) return violated({ code: 'edits_unread', responses: unread.length }, unread);
  const whole = answered.filter(({ answer }) => answer.kind === 'whole');
  if (whole.length > 0)
    return open(
      { code: 'reads_not_recorded', whole: whole.length, others: answered.length - whole.length },
      numbersOf(whole).map((n) => numbered('response', n)),
    );
  const quoting = answered.filter(({ answer }) => answer.kind === 'quoting').length;
  return held({ code: 'edits_read', quoting, shown: answered.length - quoting }, span('response', numbersOf(answered)));
};

const sameRank = (a: Rank | null, b: Rank | null): boolean =>
  a !== null && b !== null && a.length === b.length && a.every((r, i) => r === b[i]);

const smallest: Rule = ({ attempts }) => {
  const commits = commitsOf(attempts);
  if (commits.length === 0) return open({ code: 'no_commits' });
  const rejected = Map.groupBy(
    attempts.filter(({ outcome }) => outcome === 'not_selected'),
    ({ round }) => round,
  );
  const larger: AuditRecord[] = [];
  const compared: AuditRecord[] = [];
  for (const commit of commits) {
    const { lines } = commit;
    const rivals = (rejected.get(commit.round) ?? []).flatMap((rival) =>
      lines !== null && rival.lines !== null && sameRank(rival.rank, commit.rank) ? [{ n: rival.n, lines: rival.lines }] : [],
    );
    const [first] = rivals.sort((a, b) => a.lines - b.lines);
    if (lines === null || first === undefined) continue;
    const pair = [
      numbered('transition', commit.n, `committed, ${lines} lines`),
      numbered('transition', first.n, `the same rank with ${first.lines} lines, not selected`),
    ];
    (first.lines < lines ? larger : compared).push(...pair);
  }
  if (larger.length > 0) return violated({ code: 'larger_kept', commits: larger.length / 2 }, larger);
  if (compared.length === 0)
    return open(
      { code: 'no_rivals', commits: commits.length },
      numbersOf(commits).map((n) => numbered('transition', n)),
    );
  return held({ code: 'smallest_kept', rounds: compared.length / 2, commits: commits.length }, compared);
};

const surgical: Rule = ({ attempts }) => {
  const commits = commitsOf(attempts);
  if (commits.length === 0) return open({ code: 'no_commits' });
  const whole = commits.flatMap(({ n, rewritten }) => rewritten.map((path) => numbered('transition', n, `nothing is left of ${path}`)));
  if (whole.length > 0) return violated({ code: 'rewritten_whole', files: whole.length }, whole);
  return held(
    { code: 'repairs_local', commits: commits.length },
    numbersOf(commits).map((n) => numbered('transition', n)),
  );
};

const intentFirst: Rule = ({ attempts }, { contract }) => {
  const { advisory, obligations } = contract;
  const protectedKeys = new Set(obligations.map(({ key }) => key));
  const both = advisory.flatMap(({ key }) => (protectedKeys.has(key) ? [key] : []));
  if (both.length > 0) return violated({ code: 'advisory_protected', keys: both }, [named('contract', contract.sha, both.join(', '))]);
  if (advisory.length === 0) return open({ code: 'no_advisory', obligations: obligations.length }, [named('contract', contract.sha)]);
  const carrying = attempts.filter((attempt) => attempt.advisory.length > 0);
  if (carrying.length === 0) return open({ code: 'advisory_unmeasured', keys: advisory.length }, [named('contract', contract.sha)]);
  return held({ code: 'advisory_apart', keys: advisory.length, verdicts: carrying.length }, [
    named('contract', contract.sha),
    ...span('verdict', numbersOf(carrying)),
  ]);
};

const failLoud: Rule = (facts) => {
  const { attempts, seed, host, ancestors } = facts;
  if (attempts.length === 0 && (seed?.executions ?? 0) === 0) return open({ code: 'nothing_verified' });
  const ranked = attempts.filter(({ rank }) => rank !== null).length;
  const seedRanked = seed?.ranked === true ? 1 : 0;
  const without = attempts.length - ranked + (seed === null ? 0 : 1 - seedRanked);
  return held({ code: 'verdicts_from_reports', ranked: ranked + seedRanked, without, host, ancestors }, [
    ...seedRecord(facts),
    ...span('verdict', numbersOf(attempts)),
  ]);
};

const decidedByCode: Rule = ({ attempts, findings, rounds }) => {
  const decided = attempts.filter(({ outcome }) => outcome !== 'aborted');
  if (decided.length === 0)
    return attempts.length === 0 ? open({ code: 'no_attempts' }) : open({ code: 'nothing_decided', aborted: attempts.length });
  // Where a source was not there, something else stood in for it.
  const { count, records } = findings.missing();
  if (count > 0) return open({ code: 'missing', records: count }, records);
  return held({ code: 'decisions_recomputed', attempts: decided.length, rounds }, span('transition', numbersOf(decided)));
};

const withinBudget: Rule = ({ attempts, used, overshoot }, { header }) => {
  const { budget, proposer } = header;
  const dimensions = (of: (dimension: BudgetDimension) => boolean): BudgetDimension[] => budgetDimensions.filter(of);
  const exceeded = dimensions((d) => used[d] > (budget[d] ?? Number.POSITIVE_INFINITY));
  if (exceeded.length > 0) {
    const records = exceeded.map((d) => named('run', null, `${d}: used ${used[d]}, limit ${budget[d] ?? 'none'}`));
    return violated({ code: 'budget_exceeded', dimensions: exceeded }, records);
  }
  const records = [named('header', headerSha(header)), named('run'), ...span('transition', numbersOf(attempts))];
  const metered = proposer.options['tokens'] !== 'not metered';
  if (!metered && (budget.promptTokens !== null || budget.completionTokens !== null)) return open({ code: 'tokens_not_metered' }, records);
  return held(
    { code: 'budget_kept', limited: dimensions((d) => budget[d] !== null), overshoot: dimensions((d) => overshoot[d] > 0) },
    records,
  );
};

const accountable: Rule = (facts, { header }) => {
  const executions = executionsIn(facts);
  const records = [...seedRecord(facts), ...span('verifier_run', measured(facts))];
  switch (header.proposer.kind) {
    case 'command':
      return open({ code: 'tools_not_recorded', executions }, records);
    case 'search':
    case 'openai':
    case 'recorded':
    case 'human':
      return executions === 0 ? open({ code: 'no_executions' }) : held({ code: 'executions_accounted', executions }, records);
    default:
      return header.proposer.kind satisfies never;
  }
};

const checkpointed: Rule = ({ events, bundles, resumes }) =>
  held({ code: 'chain_whole', events, bundles, resumes }, [...upTo('event', events), ...upTo('bundle', bundles)]);

const nativeKept: Rule = (facts) => {
  if (facts.natives === 0) return open({ code: 'no_natives' });
  const answered = facts.attempts.filter(({ request }) => request !== null);
  return held({ code: 'natives_whole', objects: facts.natives }, [
    ...seedRecord(facts),
    ...span('request', numbersOf(answered)),
    ...span('response', numbersOf(answered)),
    ...span('verifier_run', measured(facts)),
  ]);
};

const wholeEvidence: Rule = ({ attempts, bundles, findings }) => {
  const { count, records } = findings.missing();
  if (count > 0) return violated({ code: 'missing', records: count }, records);
  if (bundles === 0) return open({ code: 'nothing_certified' });
  const rejected = attempts.filter(({ outcome }) => outcome !== 'commit');
  return held({ code: 'evidence_whole', bundles, rejected: rejected.length }, [
    ...upTo('bundle', bundles),
    ...span('memory', numbersOf(rejected)),
  ]);
};

const coreAndOverlay: Rule = ({ previous }, { contract }) => {
  const { sha, obligations, advisory } = contract;
  if (contract.previous === null)
    return held({ code: 'core_only', obligations: obligations.length, advisory: advisory.length }, [named('contract', sha)]);
  if (previous === null)
    return open({ code: 'previous_not_stored', version: contract.version }, [named('contract', sha), named('contract', contract.previous)]);
  // The only overlays there are: obligations that became advisory, and obligations that are taken by their median.
  const now = new Map(obligations.map((obligation) => [obligation.key, obligation]));
  const quarantine = previous.obligations.flatMap(({ key }) => (now.has(key) ? [] : [key]));
  const median = previous.obligations.flatMap(({ key, aggregate }) =>
    aggregate !== 'median' && now.get(key)?.aggregate === 'median' ? [key] : [],
  );
  const revised = reviseContract(previous, { quarantine, median });
  const records = [named('contract', sha, [...quarantine, ...median].join(', ')), named('contract', previous.sha)];
  if (!revised.ok || revised.value.sha !== sha) return violated({ code: 'overlay_unnamed' }, records);
  return held({ code: 'overlay_named', quarantined: quarantine.length, median: median.length }, records);
};

const rules: Readonly<Record<RuleId, Rule>> = {
  1: requestPinned,
  2: evidenceFirst,
  3: readFirst,
  4: smallest,
  5: surgical,
  6: intentFirst,
  7: failLoud,
  8: decidedByCode,
  9: withinBudget,
  10: accountable,
  11: checkpointed,
  12: nativeKept,
  13: wholeEvidence,
  14: coreAndOverlay,
};

// What the replay found comes first: a record that is not what its sources give violates its rule whatever the rest of the run says.
function decide(rule: RuleId, facts: AuditFacts): Decision & { readonly count: number } {
  const found = facts.findings.of(rule);
  const own = facts.declared === null ? open({ code: 'not_recomputed' }) : ensure(rules[rule], `rule ${rule}`)(facts, facts.declared);
  if (found.differs > 0) {
    const conduct = own.status === 'violated' ? own : null;
    return {
      status: 'violated',
      because: conduct?.because ?? { code: 'differs', fields: found.differs },
      records: [...found.records, ...(conduct?.records ?? [])],
      count: found.differs + (conduct?.records.length ?? 0),
    };
  }
  if (own.status !== 'violated' && found.missing > 0)
    return { ...open({ code: 'missing', records: found.missing }, found.missingRecords), count: found.missing };
  return { ...own, count: own.because.code === 'missing' ? own.because.records : own.records.length };
}

/** All 14 rules in order. */
export function auditRun(facts: AuditFacts): AuditRule[] {
  return ruleIds.map((rule) => {
    const { status, because, records, count } = decide(rule, facts);
    return {
      rule,
      title: ruleTitles[rule],
      status,
      reason: reasonText(because),
      because,
      records: records.slice(0, maxAuditRecords),
      recordCount: count,
    };
  });
}
