// The rules of an audit over facts that a test writes down: each status of each rule, and that nothing which a replay finds is lost.
import { describe, expect, test } from 'vitest';
import { auditRun } from '#shared/domain/audit/audit.ts';
import type { AuditAttempt, AuditFacts } from '#shared/domain/audit/facts.ts';
import { createFindingBook } from '#shared/domain/audit/findings.ts';
import { type AuditFinding, objectIn, recordOf, rulesOf } from '#shared/domain/audit/places.ts';
import { AuditRule, maxAuditRecords, type RuleId, ruleIds } from '#shared/domain/audit/report.ts';
import { checkRequest, promptIn } from '#shared/domain/audit/request.ts';
import { reasonText, recordsText } from '#shared/domain/audit/words.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import { contractSha } from '#shared/domain/bundle-id.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { reviseContract } from '#shared/domain/revise.ts';
import { ensure } from '#shared/lib/assert.ts';
import { auditReasons } from '../../support/audit-reasons.ts';
import { bytesOf, contractOf, filesOf, headerOf } from '../../support/engine/builders.ts';

const contract = contractOf({ caps: [9, 9], advisory: ['style'], infraRetries: 1 });
const declaredUnder = (under: Contract) => ({
  header: headerOf(under, filesOf({ 'a.txt': 'a' }), { budget: { attempts: 10 } }),
  contract: under,
});

const attempt = (n: number, more: Partial<AuditAttempt> = {}): AuditAttempt => ({
  n,
  round: n,
  outcome: 'tie',
  rank: [1, 1],
  request: { kind: 'pinned' },
  retrieved: 0,
  answer: { kind: 'quoting' },
  resent: 0,
  resentFreely: 0,
  executions: 1,
  afterFault: 0,
  confirming: 0,
  ofBase: 0,
  lines: null,
  rewritten: [],
  advisory: ['style'],
  ...more,
});

const factsWith = (more: Partial<AuditFacts> = {}): AuditFacts => ({
  declared: declaredUnder(contract),
  previous: null,
  findings: createFindingBook(),
  attempts: [attempt(1), attempt(2, { outcome: 'commit', rank: [0, 1] })],
  seed: { executions: 1, afterFault: 0, ranked: true },
  used: { ...noAmounts(), attempts: 2 },
  overshoot: noAmounts(),
  rounds: 2,
  bundles: 2,
  events: 9,
  resumes: 0,
  natives: 6,
  host: 0,
  ancestors: 0,
  ...more,
});

const found = (...findings: AuditFinding[]) => {
  const book = createFindingBook();
  for (const finding of findings) book.add(finding);
  return book;
};
const differs = (where: string, field: string): Extract<AuditFinding, { kind: 'differs' }> => ({
  kind: 'differs',
  where,
  field,
  stored: '1',
  recomputed: '2',
});

const ruleOf = (facts: AuditFacts, rule: RuleId) => ensure(auditRun(facts)[rule - 1], `rule ${rule}`);
const violatedIn = (facts: AuditFacts): number[] => auditRun(facts).flatMap(({ rule, status }) => (status === 'violated' ? [rule] : []));

test('fourteen rules in order, each in the form of its schema', () => {
  const rules = auditRun(factsWith());
  expect(rules.map(({ rule }) => rule)).toEqual([...ruleIds]);
  for (const rule of rules) expect(AuditRule.parse(rule)).toEqual(rule);
  expect(violatedIn(factsWith())).toEqual([]);
});

describe('what violates a rule although every record is what its sources give', () => {
  test.each<[RuleId, Partial<AuditFacts>, object]>([
    [
      1,
      { attempts: [attempt(1), attempt(2, { request: { kind: 'other', field: 'instruction', named: 'x', pinned: 'y' } })] },
      { because: { code: 'request_other', requests: 1 }, records: [{ kind: 'request', from: 2 }] },
    ],
    [
      2,
      { attempts: [attempt(1, { executions: 3, afterFault: 2 })] },
      { because: { code: 'untriggered', executions: 1, requests: 0 }, records: [{ kind: 'verifier_run', from: 1 }] },
    ],
    [
      2,
      { attempts: [attempt(3, { resent: 2, resentFreely: 1 })] },
      { because: { code: 'untriggered', executions: 0, requests: 1 }, records: [{ kind: 'request', from: 3 }] },
    ],
    [
      3,
      { attempts: [attempt(7, { answer: { kind: 'unread', message: 'not there' } })] },
      { because: { code: 'edits_unread', responses: 1 }, records: [{ kind: 'response', from: 7, note: 'not there' }] },
    ],
    [
      4,
      {
        attempts: [
          attempt(1, { round: 1, outcome: 'commit', rank: [0, 1], lines: 5 }),
          attempt(2, { round: 1, outcome: 'not_selected', rank: [0, 1], lines: 2 }),
          // Another rank, and another round.
          attempt(3, { round: 1, outcome: 'not_selected', rank: [1, 0], lines: 1 }),
          attempt(4, { round: 2, outcome: 'not_selected', rank: [0, 1], lines: 1 }),
        ],
      },
      {
        because: { code: 'larger_kept', commits: 1 },
        records: [
          { kind: 'transition', from: 1 },
          { kind: 'transition', from: 2 },
        ],
      },
    ],
    [
      5,
      { attempts: [attempt(1, { outcome: 'commit', rewritten: ['a.txt', 'b.txt'] })] },
      { because: { code: 'rewritten_whole', files: 2 }, recordCount: 2 },
    ],
    [
      9,
      { used: { ...noAmounts(), attempts: 11 } },
      { because: { code: 'budget_exceeded', dimensions: ['attempts'] }, records: [{ kind: 'run', note: 'attempts: used 11, limit 10' }] },
    ],
    [
      13,
      { findings: found({ kind: 'missing', where: `tree ${'a'.repeat(64)}`, what: 'it is not stored' }) },
      { because: { code: 'missing', records: 1 } },
    ],
  ])('%i', (rule, more, expected) => {
    const facts = factsWith(more);
    expect(violatedIn(facts)).toEqual([rule]);
    expect(ruleOf(facts, rule)).toMatchObject({ status: 'violated', ...expected });
  });

  test('6: a key that is advisory and protected', () => {
    const facts = factsWith({ declared: declaredUnder(contractOf({ caps: [9], advisory: ['style', 'o0'] })) });
    expect(violatedIn(facts)).toEqual([6]);
    expect(ruleOf(facts, 6)).toMatchObject({ because: { code: 'advisory_protected', keys: ['o0'] } });
  });

  test('14: an overlay that is more than quarantine and median', () => {
    const revised = reviseContract(contract, { quarantine: ['o1'], median: [] });
    if (!revised.ok) throw new Error(revised.error.message);
    expect(ruleOf(factsWith({ declared: declaredUnder(revised.value), previous: contract }), 14)).toMatchObject({
      status: 'held',
      because: { code: 'overlay_named', quarantined: 1, median: 0 },
    });
    const { sha: _sha, ...body } = revised.value;
    const looser = { ...body, obligations: body.obligations.map((o) => ({ ...o, cap: 99 })) };
    const facts = factsWith({ declared: declaredUnder({ ...looser, sha: contractSha(looser) }), previous: contract });
    expect(violatedIn(facts)).toEqual([14]);
    expect(ruleOf(facts, 14).because).toEqual({ code: 'overlay_unnamed' });
    expect(ruleOf(factsWith({ declared: declaredUnder(revised.value) }), 14)).toMatchObject({
      status: 'not_checkable',
      because: { code: 'previous_not_stored', version: 2 },
    });
  });
});

describe('what is not checkable', () => {
  test('without attempts, and without anything that could be read', () => {
    const nothing = factsWith({ attempts: [], seed: null, bundles: 0, natives: 0 });
    expect(auditRun(nothing).flatMap(({ rule, status, because }) => (status === 'held' ? [] : [`${rule} ${because.code}`]))).toEqual([
      '1 no_attempts',
      '2 nothing_repeated',
      '3 no_edits',
      '4 no_commits',
      '5 no_commits',
      '6 advisory_unmeasured',
      '7 nothing_verified',
      '8 no_attempts',
      '10 no_executions',
      '12 no_natives',
      '13 nothing_certified',
    ]);
    expect(auditRun(factsWith({ declared: null })).every(({ because }) => because.code === 'not_recomputed')).toBe(true);
  });

  test('attempts that were all aborted decide nothing', () => {
    const aborted = attempt(1, { outcome: 'aborted', rank: null, answer: { kind: 'none' }, executions: 0, advisory: [] });
    expect(ruleOf(factsWith({ attempts: [aborted] }), 8)).toMatchObject({
      status: 'not_checkable',
      because: { code: 'nothing_decided', aborted: 1 },
    });
  });

  test('a rule whose sources are missing is not held, unless something violates it', () => {
    const missing: AuditFinding = { kind: 'missing', where: 'transition 2', what: 'its verdict is not stored' };
    expect(ruleOf(factsWith({ findings: found(missing) }), 7)).toMatchObject({
      status: 'not_checkable',
      because: { code: 'missing', records: 1 },
      records: [{ kind: 'transition', from: 2, note: 'its verdict is not stored' }],
    });
    expect(ruleOf(factsWith({ findings: found(missing) }), 8).status).toBe('not_checkable');
    expect(ruleOf(factsWith({ findings: found(missing, differs('transition 2', 'rank')) }), 7).status).toBe('violated');
  });
});

describe('what a replay finds', () => {
  const wheres: readonly (readonly [where: string, field: string, rules: readonly RuleId[]])[] = [
    ['header', 'sha', [1, 9]],
    ['contract', 'caps', [14]],
    ['run', 'max_attempts', [9]],
    ['run', 'used_requests', [9]],
    ['run', 'stop', [7]],
    ['run', 'n_commit', [13]],
    ['run', 'head', [13]],
    ['run', 'last_event', [11]],
    ['rows of the run', 'memories', [13]],
    ['rows of the run', 'events', [11]],
    ['the seed', 'executions', [10]],
    ['verdict of the seed', 'rank', [7]],
    ['verifier run 2 of the seed', 'output', [10]],
    ['verifier run 2 of the seed', 'nonce', [7]],
    ['transition 4', 'cost.charged.verifierRuns', [9]],
    ['transition 4', 'outcome', [8]],
    ['transition 4', 'rank', [7]],
    ['transition 4', 'request', [1]],
    ['transition 4', 'measurements of the candidate', [2]],
    ['the base beside transition 4', 'executions', [10]],
    ['verdict of transition 4', 'advisory.style', [6]],
    ['verdict of the base beside transition 4', 'stable', [7]],
    ['verifier run 1 of transition 4', 'result', [7]],
    ['verifier run 1 of the base beside transition 4', 'duration_ms', [10]],
    ['memory of transition 4', 'changes', [4]],
    ['memory of transition 4', 'hunks', [5]],
    ['memory of transition 4', 'features.improved', [8]],
    ['memory of transition 4', 'excerpt', [13]],
    ['bundle 2', 'id', [13]],
    ['event 6', 'body.rank', [11]],
    ['event 6', 'reason', [7]],
    ['salt 8', 'commitment', [12]],
    [`blob ${'a'.repeat(64)}`, 'bytes', [12]],
    [`tree ${'b'.repeat(64)}`, 'bytes', [13]],
    [`verdict ${'c'.repeat(64)} of an ancestor`, 'sha', [7]],
    ['a place that no replay names yet', 'field', [13]],
  ];

  test.each(wheres)('%s, %s', (where, field, rules) => {
    // An execution fewer than the verdict names is not accounted for.
    const finding: AuditFinding = { ...differs(where, field), stored: '2', recomputed: '1' };
    expect(rulesOf(finding)).toEqual(rules);
    const facts = factsWith({ findings: found(finding) });
    expect(violatedIn(facts)).toEqual([...rules]);
    const { records, recordCount } = ruleOf(facts, ensure(rules[0], 'rule'));
    expect(recordCount).toBe(1);
    expect(records[0]?.note).toContain(`${field}: stored 2, recomputed 1`);
    expect(records[0]?.kind === 'other').toBe(where.startsWith('a place'));
  });

  test('an execution more than the verdict names was asked for by nothing', () => {
    expect(rulesOf({ ...differs('transition 4', 'executions'), stored: '1', recomputed: '2' })).toEqual([2]);
  });

  test('an object belongs to what it is to the run', () => {
    const blob = differs(`blob ${'a'.repeat(64)}`, 'bytes');
    expect(objectIn(blob)).toBe('a'.repeat(64));
    expect(objectIn(differs('run', 'head'))).toBeNull();
    expect([rulesOf(blob, 'instruction'), rulesOf(blob, 'tree'), rulesOf(blob, 'native')]).toEqual([[1], [13], [12]]);
  });

  test('is listed up to a limit and counted always', () => {
    const facts = factsWith({ findings: found(...Array.from({ length: 250 }, (_, n) => differs(`transition ${n + 1}`, 'outcome'))) });
    const rule = ruleOf(facts, 8);
    expect(rule.records).toHaveLength(maxAuditRecords);
    expect(rule.recordCount).toBe(250);
    expect(rule.because).toEqual({ code: 'differs', fields: 250 });
  });

  test('stands before what the run did', () => {
    const facts = factsWith({
      attempts: [attempt(7, { answer: { kind: 'unread', message: 'not there' } })],
      findings: found(differs('memory of transition 7', 'hunks')),
    });
    expect(violatedIn(facts)).toEqual([3, 5]);
  });

  test('names its record', () => {
    expect(recordOf(differs('verifier run 2 of the base beside transition 17', 'output'))).toEqual({
      kind: 'verifier_run',
      from: 17,
      to: 17,
      id: null,
      note: 'run 2 of the base beside it: output: stored 1, recomputed 2',
    });
  });
});

describe('requests', () => {
  const pinned = {
    base: 'b'.repeat(64),
    instruction: 'i'.repeat(64),
    instructionText: 'Make it "small".\n',
    seed: 3,
    n: 5,
    draw: 4,
    slot: 1,
  };
  const check = (request: unknown) => checkRequest(bytesOf(JSON.stringify(request)), pinned);

  test('name what is pinned, as far as they name it', () => {
    expect(check({ base: pinned.base })).toEqual({ kind: 'pinned' });
    expect(check({ ...pinned, format: 'x', memory: [{ n: 1 }] })).toEqual({ kind: 'pinned' });
    for (const field of ['base', 'instruction'] as const)
      expect(check({ ...pinned, [field]: 'z' })).toMatchObject({ kind: 'other', field, named: 'z' });
    for (const field of ['seed', 'n', 'draw', 'slot'] as const)
      expect(check({ ...pinned, [field]: 99 })).toMatchObject({ kind: 'other', field });
  });

  test('to a model carry the instruction whole', () => {
    const body = (...contents: string[]) =>
      JSON.stringify({ model: 'm', messages: contents.map((content) => ({ role: 'user', content })) });
    const whole = { n: 5, draw: 4, body: body('You are careful.', `# Task\n\n${pinned.instructionText}\nthen the files`) };
    expect(check(whole)).toEqual({ kind: 'pinned' });
    expect(promptIn(bytesOf(JSON.stringify(whole)))).toContain('then the files');
    expect(check({ ...whole, draw: 9 })).toMatchObject({ kind: 'other', field: 'draw' });
    expect(check({ n: 5, draw: 4, body: body('Make it large.') })).toMatchObject({ kind: 'other', field: 'instruction' });
    expect(checkRequest(bytesOf(JSON.stringify(whole)), { ...pinned, instructionText: null })).toEqual({ kind: 'unnamed' });
    // Never sent, and not readable.
    expect(check({ n: 5, draw: 4, body: null, problem: 'too long' })).toEqual({ kind: 'pinned' });
    expect(check({ n: 5, draw: 4, body: 'no JSON' })).toEqual({ kind: 'unnamed' });
    expect(promptIn(bytesOf(JSON.stringify({ base: pinned.base })))).toBeNull();
  });

  test('that are no such document name nothing', () => {
    expect(check({ seed: 3 })).toEqual({ kind: 'unnamed' });
    expect(check([])).toEqual({ kind: 'unnamed' });
    expect(checkRequest(bytesOf('hello'), pinned)).toEqual({ kind: 'unnamed' });
    expect(checkRequest(Uint8Array.from([0xff, 0xfe]), pinned)).toEqual({ kind: 'unnamed' });
  });
});

describe('words', () => {
  test.each(auditReasons)('$code is a sentence', (reason) => {
    expect(reasonText(reason)).toMatch(/^[A-Z0-9].*\.$/s);
    expect(reasonText(reason)).not.toMatch(/undefined|\[object/);
  });

  test('one is not several', () => {
    expect(reasonText({ code: 'differs', fields: 1 })).toBe('1 stored field of its records is not what the sources give.');
    expect(reasonText({ code: 'differs', fields: 2 })).toBe('2 stored fields of its records are not what the sources give.');
  });

  test('numbers of one kind stand together', () => {
    const numbered = (kind: 'transition' | 'bundle', from: number, to = from) => ({ kind, from, to, id: null, note: null });
    expect(
      recordsText([
        { kind: 'header', from: null, to: null, id: 'f'.repeat(64), note: null },
        numbered('transition', 4),
        numbered('transition', 9),
        numbered('bundle', 0, 3),
        numbered('bundle', 5),
      ]),
    ).toBe(`header ${'f'.repeat(12)}, transitions 4, 9, bundles 0 to 3, bundle 5`);
  });
});
