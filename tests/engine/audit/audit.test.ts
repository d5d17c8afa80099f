// Audits of runs that the engine made: what was not touched is held, and each rule is violated by the record that violates it and by no
// other rule's.
import { rm } from 'node:fs/promises';
import type Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditReport } from '#shared/contract/audit.ts';
import { ruleIds, ruleTitles } from '#shared/domain/audit/report.ts';
import { ensure } from '#shared/lib/assert.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { createRandom } from '#shared/lib/random.ts';
import type { ProposeContext } from '#electron/proposers/proposer.ts';
import { createStoredRun, type StoredRun, type StoredStore, temporaryStore } from '../../support/engine/stored-run.ts';
import { changed, columnsOf, rowsOf, tables, valueAt, write } from '../replay/edits.ts';
import { openPast } from '../replay/support.ts';
import { auditAt, createEditingProposer, type Edited, rankOf, ruleIn, rulesWith } from './support.ts';

// Four obligations go down one by one, in two slots of each round to the same rank; beside them what is no candidate or no progress.
function script(context: ProposeContext): Edited {
  const { draw, slot } = context;
  const random = createRandom(['audit', draw]);
  const rank = [...rankOf(context)];
  if (slot < 2) {
    const at = rank.findIndex((r) => r > 2);
    if (at < 0) return 'garbage';
    rank[at] = (rank[at] ?? 0) - 1;
    return { state: { rank, salt: 10 + slot } };
  }
  switch (random.int(5)) {
    case 0:
      return 'garbage';
    case 1:
      return { state: { noVerdict: 'malformed', salt: draw } };
    case 2:
      return { state: { rank: rank.map((r, i) => (i === 0 ? r + 1 : r)), salt: draw } };
    case 3:
      return { state: { rank, salt: draw } };
    default:
      return 'base';
  }
}

let opened: StoredStore;
let stored: StoredRun;

beforeAll(async () => {
  opened = await temporaryStore();
  stored = await createStoredRun(opened.store, {
    contract: {
      caps: [12, 12, 12, 12],
      advisory: ['style'],
      measurement: { confirmRuns: 2, paired: true, preflightRuns: 2 },
      infraRetries: 1,
    },
    seed: { rank: [4, 4, 4, 4] },
    script: () => 'base',
    proposer: createEditingProposer(script),
    header: { slots: 4, budget: { attempts: 40 } },
    verifier: {
      override: (tree, time, state) =>
        'rank' in state && time === 1 && Number.parseInt(tree.slice(0, 4), 16) % 5 === 0 ? { noVerdict: 'infra' } : state,
    },
  });
  await stored.go(opened.store);
  await opened.store.close();
});
afterAll(() => rm(opened.dataDir, { recursive: true, force: true }));

const audited = (): Promise<AuditReport> => auditAt(opened.dataDir, stored.run, stored.proposer);

/** Edits what is stored past every trigger, audits, and takes the edit back. */
async function withEdit(edit: (db: Database.Database) => () => void): Promise<AuditReport> {
  const db = openPast(opened.dataDir);
  try {
    const undo = edit(db);
    try {
      return await audited();
    } finally {
      undo();
    }
  } finally {
    db.close();
  }
}

const key = (n: number): number => 2 ** 32 + n;

/** Another value in one column of one row. */
const setTo =
  (table: string, column: string, rowid: number | string, value: string | number | null) =>
  (db: Database.Database): (() => void) => {
    const before = valueAt(db, table, column, rowid);
    if (before === value) throw new Error(`${table}.${column} of ${rowid} is ${value} already`);
    write(db, { table, column, rowid, value });
    return () => write(db, { table, column, rowid, value: before });
  };

/** The number of the first transition with this outcome. */
const firstWith = (outcome: (typeof outcomes)[number]): number => {
  const db = openPast(opened.dataDir);
  try {
    const found = db
      .prepare<[number], { key: number }>('SELECT key FROM transition WHERE outcome = ? AND verdict IS NOT NULL ORDER BY key LIMIT 1')
      .get(outcomes.indexOf(outcome));
    return ensure(found, `a transition with the outcome ${outcome}`).key - key(0);
  } finally {
    db.close();
  }
};
const valueOf = (sql: string, ...values: (string | number)[]): string | number => {
  const db = openPast(opened.dataDir);
  try {
    return ensure(db.prepare<(string | number)[], { value: string | number }>(sql).get(...values), sql).value;
  } finally {
    db.close();
  }
};

const textOf = (sql: string, ...values: (string | number)[]): string => String(valueOf(sql, ...values));
const numberOf = (sql: string, ...values: (string | number)[]): number => Number(valueOf(sql, ...values));

describe('a run that nobody touched', () => {
  test('is held in every rule that its records can say something about, and here that is each of them', async () => {
    const report = await audited();
    expect(report.rules.map(({ rule, status, reason }) => ({ rule, status, reason }))).toEqual(
      ruleIds.map((rule) => ({ rule, status: 'held', reason: expect.any(String) })),
    );
    expect(report.rules.map(({ title }) => title)).toEqual(Object.values(ruleTitles));
    for (const { rule, records, recordCount } of report.rules) {
      expect({ rule, records: records.length > 0 }).toEqual({ rule, records: true });
      expect(recordCount).toBeGreaterThanOrEqual(records.length);
    }
  });

  test('names what a rule was decided from', async () => {
    const report = await audited();
    expect(ruleIn(report, 2).because).toMatchObject({ code: 'repeats_triggered', afterFault: expect.any(Number) });
    expect(ruleIn(report, 4).because).toMatchObject({ code: 'smallest_kept' });
    expect(ruleIn(report, 8).records).toEqual([{ kind: 'transition', from: 1, to: 40, id: null, note: null }]);
    expect(ruleIn(report, 11).because).toEqual({ code: 'chain_whole', events: report.events, bundles: report.bundles, resumes: 0 });
  });
});

// One record of each rule, edited alone.
describe('an edited record violates its rule and no other', () => {
  test.each<{ rule: number; what: string; edit: () => (db: Database.Database) => () => void; record: () => object }>([
    {
      rule: 1,
      what: 'a transition names the request of another',
      edit: () => setTo('transition', 'request', key(3), textOf('SELECT request AS value FROM transition WHERE key = ?', key(4))),
      record: () => ({ kind: 'transition', from: 3, note: expect.stringMatching(/^request: stored /) }),
    },
    {
      rule: 2,
      what: 'an execution that nothing asked for',
      edit: () => (db) => {
        const no = numberOf(
          'SELECT v.no AS value FROM transition t JOIN verdict v ON v.sha = t.verdict WHERE t.key = ?',
          key(firstWith('tie')),
        );
        const last = numberOf('SELECT max(key) AS value FROM verifier_run WHERE key >> 16 = ?', no);
        db.prepare(
          `INSERT INTO verifier_run SELECT ? AS key, id || 'x', nonce, tree, started_at, duration_ms, exit_code, signal, report, output, result FROM verifier_run WHERE key = ?`,
        ).run(last + 1, last);
        return () => db.prepare('DELETE FROM verifier_run WHERE key = ?').run(last + 1);
      },
      record: () => ({ kind: 'transition', from: firstWith('tie') }),
    },
    {
      rule: 4,
      what: 'the lines of a change are not those of its trees',
      edit: () => editMemory((body) => body.replace(/"added":\d+/, '"added":77')),
      record: () => ({ kind: 'memory', from: firstWith('regression'), note: expect.stringMatching(/^changes: /) }),
    },
    {
      rule: 5,
      what: 'the hunks of a change are not those of its trees',
      edit: () => editMemory((body) => body.replace(/"hunks":\["./, (text) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`)),
      record: () => ({ kind: 'memory', from: firstWith('regression'), note: expect.stringMatching(/^hunks: /) }),
    },
    {
      rule: 6,
      what: 'an advisory value is not the one of the report',
      edit: () => editVerdict(firstWith('tie'), (body) => body.replace('"style":1', '"style":9')),
      record: () => ({ kind: 'verdict', from: firstWith('tie'), note: 'advisory.style: stored 9, recomputed 1' }),
    },
    {
      rule: 7,
      what: 'an execution without a rank says that it has one',
      edit: () =>
        setTo(
          'verifier_run',
          'result',
          numberOf(
            'SELECT r.key AS value FROM transition t JOIN verdict v ON v.sha = t.verdict JOIN verifier_run r ON r.key >> 16 = v.no WHERE t.key = ?',
            key(firstWith('no_verdict')),
          ),
          'ranked',
        ),
      record: () => ({ kind: 'verifier_run', from: firstWith('no_verdict'), note: 'run 1: result: stored ranked, recomputed malformed' }),
    },
    {
      rule: 8,
      what: 'another outcome than the ranks give',
      edit: () => setTo('transition', 'outcome', key(firstWith('tie')), outcomes.indexOf('regression')),
      record: () => ({ kind: 'transition', from: firstWith('tie'), note: 'outcome: stored regression, recomputed tie' }),
    },
    {
      rule: 8,
      what: 'other features than the ranks give',
      edit: () => editMemory((body) => body.replace(/"worsened":\d+/, '"worsened":0')),
      record: () => ({ kind: 'memory', from: firstWith('regression'), note: 'features.worsened: stored 0, recomputed 1' }),
    },
    {
      rule: 9,
      what: 'less was charged than was used',
      edit: () => setTo('run', 'used_verifierRuns', 1, 1),
      record: () => ({ kind: 'run', note: expect.stringMatching(/^used_verifierRuns: stored 1, recomputed \d+$/) }),
    },
    {
      rule: 9,
      what: 'the limit is not the one of the header',
      edit: () => setTo('run', 'max_attempts', 1, 4_000),
      record: () => ({ kind: 'run', note: 'max_attempts: stored 4000, recomputed 40' }),
    },
    {
      rule: 10,
      what: 'an execution names an output that is not its own',
      edit: () => {
        const run = numberOf(
          'SELECT r.key AS value FROM transition t JOIN verdict v ON v.sha = t.verdict JOIN verifier_run r ON r.key >> 16 = v.no WHERE t.key = ?',
          key(firstWith('tie')),
        );
        return setTo('verifier_run', 'output', run, textOf('SELECT output AS value FROM verifier_run WHERE key <> ?', run));
      },
      record: () => ({ kind: 'verifier_run', from: firstWith('tie'), note: expect.stringMatching(/^run 1: output: stored /) }),
    },
    {
      rule: 11,
      what: 'an event has another hash',
      edit: () => setTo('event', 'sha', key(9), '0'.repeat(64)),
      record: () => ({ kind: 'event', from: 9, note: expect.stringMatching(/^sha: stored 0000/) }),
    },
    {
      rule: 12,
      what: 'a transition names the response of another',
      edit: () => setTo('transition', 'response', key(3), textOf('SELECT response AS value FROM transition WHERE key = ?', key(6))),
      record: () => ({ kind: 'transition', from: 3, note: expect.stringMatching(/^response: stored /) }),
    },
    {
      rule: 13,
      what: 'a rejected attempt is remembered with other words',
      edit: () => editMemory((body) => body.replace('"excerpt":"', '"excerpt":"It was fine. ')),
      record: () => ({ kind: 'memory', from: firstWith('regression'), note: expect.stringMatching(/^excerpt: stored It was fine/) }),
    },
    {
      rule: 13,
      what: 'a certified bundle tells another summary',
      edit: () => setTo('bundle', 'summary_text', key(2), 'all is well\n'),
      record: () => ({ kind: 'bundle', from: 2, note: expect.stringMatching(/^summary_text: /) }),
    },
    {
      rule: 14,
      what: 'the caps beside the contract are not those in it',
      edit: () => {
        const sha = textOf('SELECT sha AS value FROM contract');
        return setTo('contract', 'caps', sha, '[12,12,12,99]');
      },
      record: () => ({ kind: 'contract', note: 'caps: stored [12,12,12,99], recomputed [12,12,12,12]' }),
    },
  ])('$rule: $what', async ({ rule, edit, record }) => {
    const report = await withEdit(edit());
    expect(rulesWith(report, 'violated')).toEqual([rule]);
    const { records } = ruleIn(report, rule);
    expect(records).toContainEqual(expect.objectContaining(record()));
    // Whatever is named belongs to that record.
    const { from } = ensure(records[0], 'record');
    expect(records.every((other) => other.from === from)).toBe(true);
  });

  const editMemory = (change: (body: string) => string): ((db: Database.Database) => () => void) => {
    const at = key(firstWith('regression'));
    return setTo('memory', 'body', at, change(textOf('SELECT body AS value FROM memory WHERE key = ?', at)));
  };
  const editVerdict = (n: number, change: (body: string) => string): ((db: Database.Database) => () => void) => {
    const no = numberOf('SELECT v.no AS value FROM transition t JOIN verdict v ON v.sha = t.verdict WHERE t.key = ?', key(n));
    return setTo('verdict', 'body', no, change(textOf('SELECT body AS value FROM verdict WHERE no = ?', no)));
  };
});

test('whatever is edited, some rule is not held any more, and the record is known by its kind', async () => {
  const db = openPast(opened.dataDir);
  const silent: unknown[] = [];
  let edits = 0;
  try {
    const empty = tables.filter((table) => rowsOf(db, table).length === 0);
    // This run has no automatic commands; edits of theirs are found by the decision replay (../replay/tamper.test.ts).
    expect([...empty].sort()).toEqual(['auto_output', 'auto_registration']);
    for (const table of tables.filter((name) => !empty.includes(name))) {
      const rows = rowsOf(db, table);
      for (const column of columnsOf(db, table)) {
        const rowid = ensure(rows[Math.floor(rows.length / 2)], `row of ${table}`);
        const before = valueAt(db, table, column, rowid);
        const value = changed(before, 0.5);
        write(db, { table, column, rowid, value });
        const report = await audited();
        const renamed = column === 'sha' && (table === 'contract' || table === 'tree');
        write(db, { table, column, rowid: renamed ? String(value) : rowid, value: before });
        edits++;
        const lost = report.rules.filter(({ status }) => status !== 'held');
        const unknown = lost.flatMap(({ records }) => records.filter(({ kind }) => kind === 'other'));
        if (lost.length === 0 || unknown.length > 0) silent.push({ table, column, rowid, unknown });
      }
    }
  } finally {
    db.close();
  }
  expect(silent).toEqual([]);
  expect(edits).toBeGreaterThan(100);
  expect(rulesWith(await audited(), 'held')).toEqual([...ruleIds]);
});

test('what is not stored any more leaves its rule undecided and the evidence violated', async () => {
  const report = await withEdit((db) => {
    const no = numberOf(
      'SELECT v.no AS value FROM transition t JOIN verdict v ON v.sha = t.verdict WHERE t.key = ?',
      key(firstWith('tie')),
    );
    const kept = db.prepare<[number], { report: string }>('SELECT report FROM verifier_run WHERE key >> 16 = ?').get(no);
    const sha = ensure(kept, 'execution').report;
    const row = ensure(db.prepare<[string], Record<string, string | number | null>>('SELECT * FROM blob WHERE sha = ?').get(sha), 'blob');
    db.prepare('DELETE FROM blob WHERE sha = ?').run(sha);
    return () => {
      const names = Object.keys(row);
      db.prepare(`INSERT INTO blob (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(...Object.values(row));
    };
  });
  expect(rulesWith(report, 'violated')).toContain(13);
  expect(ruleIn(report, 7)).toMatchObject({ status: 'not_checkable', because: { code: 'missing' } });
  expect(ruleIn(report, 8).status).toBe('not_checkable');
  expect(ruleIn(report, 12)).toMatchObject({ status: 'not_checkable', because: { code: 'missing' } });
});

test.each([
  ['header', 'body', 1, '{}', [1, 9]],
  ['contract', 'body', 'sha', '{}', [14]],
] as const)('an unreadable %s is its own fault, and nothing else is decided', async (table, column, rowid, value, rules) => {
  const at = rowid === 'sha' ? textOf('SELECT sha AS value FROM contract') : rowid;
  const report = await withEdit(setTo(table, column, at, value));
  expect(rulesWith(report, 'violated')).toEqual([...rules]);
  expect(rulesWith(report, 'held')).toEqual([]);
  expect(ruleIn(report, 8).because).toEqual({ code: 'not_recomputed' });
});
