// The database refuses what breaks an invariant, whoever writes. Semantics, section 10.
import { beforeEach, describe, expect, test } from 'vitest';
import { relate } from '#shared/domain/rank.ts';
import { sql, type SqlValue, type WritableDb } from '#electron/store/db.ts';
import { rowKey } from '#electron/store/keys.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import { database, round, start } from './support/database.ts';
import { createScenario, type Scenario } from './support/scenario.ts';

const execute = (db: WritableDb, text: string, ...values: SqlValue[]) => db.run(sql(text), ...values);

let db: WritableDb;
let s: Scenario;

beforeEach(() => {
  db = database();
  s = createScenario({ caps: [4, 4, 4], genesis: [1, 2, 3], header: { budget: { attempts: 50 } } });
  start(db, s);
  round(db, s, [
    { kind: 'ranked', text: 'better', rank: [1, 2, 2], output: 'said' },
    { kind: 'ranked', text: 'worse', rank: [1, 2, 4] },
  ]);
  round(db, s, [{ kind: 'ranked', text: 'tied', rank: [1, 2, 2] }]);
});

const tables = {
  bundle: 'rank',
  verdict: 'rank',
  event: 'line',
  memory: 'body',
  transition: 'outcome',
  verifier_run: 'result',
  contract: 'caps',
  salt: 'object',
  tree: 'manifest',
  blob: 'bytes',
  memory_use: 'entry',
  header: 'body',
  journal: 'type',
} as const;

describe.each(Object.entries(tables))('%s', (table, column) => {
  test('cannot be updated, deleted or replaced', () => {
    const dump = () => db.all(sql(`SELECT * FROM ${table}`));
    const before = dump();
    expect(before.length).toBeGreaterThan(0);
    expect(() => execute(db, `UPDATE ${table} SET ${column} = ${column}`)).toThrow(/immutable/);
    expect(() => execute(db, `DELETE FROM ${table}`)).toThrow(/immutable/);
    expect(() => execute(db, `INSERT OR REPLACE INTO ${table} SELECT * FROM ${table} LIMIT 1`)).toThrow(
      /immutable|a genesis opens its run/,
    );
    expect(() => execute(db, `REPLACE INTO ${table} SELECT * FROM ${table} LIMIT 1`)).toThrow(/immutable|a genesis opens its run/);
    expect(() => execute(db, `UPDATE OR REPLACE ${table} SET ${column} = ${column}`)).toThrow(/immutable/);
    expect(dump()).toEqual(before);
  });

  test('the guard holds without recursive_triggers', () => {
    db.exec('PRAGMA recursive_triggers = OFF');
    expect(() => execute(db, `INSERT OR REPLACE INTO ${table} SELECT * FROM ${table} LIMIT 1`)).toThrow(
      /immutable|a genesis opens its run/,
    );
    db.exec('PRAGMA recursive_triggers = ON');
    expect(db.get(sql<{ recursive_triggers: number }>('PRAGMA recursive_triggers'))?.recursive_triggers).toBe(1);
  });
});

describe('a bundle', () => {
  type Fields = {
    key: number;
    edge: string;
    parent: string;
    contract: string;
    tree: string;
    verdict: string;
    rank: string;
    potential: number;
    era: number;
    era_start: number;
  };
  // A child of the head that would be accepted, with one verdict of its tree.
  const child = (rank: string, potential: number): Fields => {
    const head = s.head();
    const verdict = 'e'.repeat(64);
    const tree = db.get(sql<{ sha: string }>('SELECT tree AS sha FROM transition WHERE key = ?'), rowKey(1, 3))?.sha ?? '';
    execute(
      db,
      `INSERT INTO verdict (sha, tree, contract, kind, era, rank, potential, body) VALUES (?, ?, ?, 'ranked', ?, '[]', ?, '{}')`,
      verdict,
      tree,
      s.contract.sha,
      rowKey(1, 0),
      potential,
    );
    return {
      key: rowKey(1, 2),
      edge: 'commit',
      parent: head.id,
      contract: s.contract.sha,
      tree,
      verdict,
      rank,
      potential,
      era: 0,
      era_start: rowKey(1, 0),
    };
  };
  const insert = (f: Fields) =>
    execute(
      db,
      `INSERT INTO bundle (key, id, edge, transition, potential, era, era_start, parent, contract, tree, verdict, summary, rank, summary_text)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')`,
      f.key,
      'f'.repeat(64),
      f.edge,
      f.edge === 'commit' ? 4 : null,
      f.potential,
      f.era,
      f.era_start,
      f.parent,
      f.contract,
      f.tree,
      f.verdict,
      'a'.repeat(64),
      f.rank,
    );

  test('that dominates the head is accepted, once', () => {
    insert(child('[1,1,2]', 4));
    expect(() => insert({ ...child2(), key: rowKey(1, 3), parent: 'f'.repeat(64) })).toThrow(/not the child of the head/);
  });
  const child2 = (): Fields => ({
    key: rowKey(1, 2),
    edge: 'commit',
    parent: s.head().id,
    contract: s.contract.sha,
    tree: db.get(sql<{ tree: string }>('SELECT tree FROM verdict WHERE sha = ?'), 'e'.repeat(64))?.tree ?? '',
    verdict: 'e'.repeat(64),
    rank: '[1,0,2]',
    potential: 3,
    era: 0,
    era_start: rowKey(1, 0),
  });

  test.each([
    ['a short rank', '[1,1]', 2, /one value per obligation/],
    ['a long rank', '[1,1,1,0]', 3, /one value per obligation/],
    ['an object for a rank', '{"0":1,"1":1,"2":1}', 3, /CHECK|not an integer/],
    ['a fraction', '[0.5,2,2]', 4.5, /REAL|not an integer/],
    ['a null', '[null,2,2]', 4, /not an integer/],
    ['a text', '["1",2,1]', 4, /not an integer/],
    ['a nested array', '[[1],2,1]', 3, /not an integer/],
    ['a negative value', '[-1,2,2]', 3, /below 0/],
    ['a value above its cap', '[1,0,5]', 6, /above its cap/],
    ['a wrong potential', '[1,1,2]', 3, /not the sum/],
    ['a worse coordinate', '[0,0,3]', 3, /gets worse/],
    ['the same rank', '[1,2,2]', 5, /no obligation gets better/],
  ])('with %s is refused', (_, rank, potential, message) => {
    const fields = Number.isInteger(potential) ? child(rank, potential) : { ...child(rank, 4), potential };
    expect(() => insert(fields)).toThrow(message);
  });

  test.each<[string, (f: Fields) => Fields, RegExp]>([
    ['a seq that is not the next', (f) => ({ ...f, key: rowKey(1, 3) }), /gets worse|not the child/],
    ['another parent', (f) => ({ ...f, parent: 'b'.repeat(64) }), /not the child/],
    ['another era', (f) => ({ ...f, era: 1 }), /not the child/],
    ['another run', (f) => ({ ...f, key: rowKey(2, 2) }), /./],
    ['a verdict of another tree', (f) => ({ ...f, tree: s.head().tree }), /its verdict/],
    ['an unknown contract', (f) => ({ ...f, contract: 'c'.repeat(64) }), /./],
    ['a recertify under the same contract', (f) => ({ ...f, edge: 'recertify', era: 1, era_start: f.key }), /its verdict|recertify/],
    ['a second genesis', (f) => ({ ...f, edge: 'genesis', era_start: f.key }), /genesis opens its run/],
  ])('with %s is refused', (_, change, message) => {
    const fields = child('[1,1,2]', 4);
    expect(() => insert(change(fields))).toThrow(message);
  });

  test('recertify keeps the tree and opens an era under another contract', () => {
    const head = s.head();
    const contract = 'd'.repeat(64);
    execute(db, `INSERT INTO contract (sha, m, caps, body) VALUES (?, 2, '[9,9]', '{}')`, contract);
    const verdict = (sha: string, tree: string) =>
      execute(
        db,
        `INSERT INTO verdict (sha, tree, contract, kind, era, rank, potential, body) VALUES (?, ?, ?, 'ranked', ?, '[]', 9, '{}')`,
        sha,
        tree,
        contract,
        rowKey(1, 0),
      );
    const other = child('[1,1,2]', 4).tree;
    verdict('1'.repeat(64), head.tree);
    verdict('2'.repeat(64), other);
    const fields = {
      key: rowKey(1, 2),
      edge: 'recertify',
      parent: head.id,
      contract,
      rank: '[9,0]',
      potential: 9,
      era: 1,
      era_start: rowKey(1, 2),
    };
    expect(() => insert({ ...fields, tree: other, verdict: '2'.repeat(64) })).toThrow(/keeps the tree/);
    expect(() => insert({ ...fields, tree: head.tree, verdict: '1'.repeat(64), era: 2 })).toThrow(/opens an era/);
    insert({ ...fields, tree: head.tree, verdict: '1'.repeat(64) });
    execute(db, 'UPDATE run SET head = head + 1 WHERE no = 1');
    expect(() =>
      insert({
        ...fields,
        key: rowKey(1, 3),
        edge: 'commit',
        parent: 'f'.repeat(64),
        contract: s.contract.sha,
        rank: '[0,0,0]',
        potential: 0,
        tree: other,
        verdict: 'e'.repeat(64),
      }),
    ).toThrow(/./);
  });
});

describe('a run', () => {
  test.each([
    ['a raised budget', 'UPDATE run SET max_attempts = 99'],
    ['a lifted limit', 'UPDATE run SET max_attempts = NULL'],
    ['a limit set later', 'UPDATE run SET max_rounds = 5'],
    ['another contract', `UPDATE run SET contract = contract`],
    ['another id', `UPDATE run SET id = 'run_x'`],
    ['another number', 'UPDATE run SET no = 7'],
    ['deletion', 'DELETE FROM run'],
    ['replacement', 'INSERT OR REPLACE INTO run SELECT * FROM run'],
  ])('refuses %s', (_, text) => {
    expect(() => execute(db, text)).toThrow(/immutable|begins without/);
  });

  test.each([
    ['more than the budget', 'UPDATE run SET used_attempts = 51', /used attempts is within the budget/],
    ['a negative use', 'UPDATE run SET used_rounds = -1', /used rounds is within the budget/],
    ['a transition without an outcome', 'UPDATE run SET transitions = transitions + 1', /one outcome per transition|commits \+ memory/],
    [
      'a rejection without a memory entry',
      'UPDATE run SET transitions = transitions + 1, n_tie = n_tie + 1',
      /commits \+ memory entries = transitions/,
    ],
    ['an unknown stop', `UPDATE run SET stop = 'tired'`, /CHECK/],
    ['a head elsewhere', 'UPDATE run SET head = head + 1', /only to its own child/],
    ['a head that goes back', 'UPDATE run SET head = head - 1', /only to its own child/],
    ['no head any more', 'UPDATE run SET head = NULL', /only to its own child/],
  ])('refuses %s', (_, text, message) => {
    expect(() => execute(db, text)).toThrow(message);
  });

  test('a stop is final unless the user made it', () => {
    execute(db, `UPDATE run SET stop = 'user'`);
    execute(db, 'UPDATE run SET stop = NULL');
    execute(db, `UPDATE run SET stop = 'budget'`);
    expect(() => execute(db, 'UPDATE run SET stop = NULL')).toThrow(/its stop is final/);
    expect(() => execute(db, `UPDATE run SET stop = 'user'`)).toThrow(/its stop is final/);
  });
});

describe('a transition', () => {
  const copy = (changes: Readonly<Record<string, string>>) => {
    const columns = db.all(sql<{ name: string }>(`SELECT name FROM pragma_table_info('transition')`)).map(({ name }) => name);
    return `INSERT INTO transition (${columns.join(', ')}) SELECT ${columns.map((c) => changes[c] ?? c).join(', ')} FROM transition WHERE key = ${rowKey(1, 3)}`;
  };
  test('with the next number is accepted', () => {
    expect(execute(db, copy({ key: 'key + 1' })).changes).toBe(1);
  });
  test.each<[string, Record<string, string>, RegExp]>([
    ['a gap in its numbers', { key: 'key + 2' }, /dense/],
    ['the number 0', { key: '1 << 32' }, /dense/],
    ['a number that exists', { key: 'key' }, /immutable/],
    ['a base that is not the head', { key: 'key + 1', base: 'base - 1' }, /not the head/],
    ['an unknown outcome', { key: 'key + 1', outcome: '10' }, /CHECK/],
    ['a commit without a bundle', { key: 'key + 1', outcome: '0' }, /CHECK/],
    ['a bundle without a commit', { key: 'key + 1', bundle: 'base' }, /CHECK|not what it committed/],
    ['a bundle of another attempt', { key: 'key + 1', outcome: '0', bundle: 'base' }, /not what it committed/],
    ['a rank without a ranked verdict', { key: 'key + 1', kind: "'invalid'" }, /CHECK/],
    ['an unknown verdict', { key: 'key + 1', verdict: `'${'0'.repeat(64)}'` }, /FOREIGN KEY/],
    ['an unknown tree', { key: 'key + 1', tree: `'${'0'.repeat(64)}'` }, /FOREIGN KEY/],
    ['unknown bytes', { key: 'key + 1', request: `'${'0'.repeat(64)}'` }, /FOREIGN KEY/],
  ])('with %s is refused', (_, changes, message) => {
    expect(() => execute(db, copy(changes))).toThrow(message);
  });
  test('a memory entry belongs to an attempt that did not commit', () => {
    const insert = 'INSERT INTO memory (key, id, body) VALUES (?, ?, ?)';
    expect(() => execute(db, insert, rowKey(1, 1), 'a'.repeat(64), '{}')).toThrow(/did not commit/);
    expect(() => execute(db, insert, rowKey(1, 9), 'a'.repeat(64), '{}')).toThrow(/FOREIGN KEY/);
  });
});

describe('an event', () => {
  const last = () => db.get(sql<{ key: number; sha: string; line: string; type: string }>('SELECT * FROM event ORDER BY key DESC LIMIT 1'));
  const insert = (key: number, prev: string, seq: number) =>
    execute(
      db,
      'INSERT INTO event (key, type, sha, line) VALUES (?, ?, ?, ?)',
      key,
      'stop',
      'a'.repeat(64),
      `{"at":"x","body":{},"prev":"${prev}","seq":${seq},"type":"stop"}`,
    );
  test('that continues the chain is accepted, any other is refused', () => {
    const { key, sha } = last() ?? { key: 0, sha: '' };
    const seq = (key % 2 ** 32) + 1;
    expect(() => insert(key + 1, 'b'.repeat(64), seq)).toThrow(/not the hash of the line before/);
    expect(() => insert(key + 1, sha, seq + 1)).toThrow(/not dense/);
    expect(() => insert(key + 2, sha, seq + 1)).toThrow(/not dense/);
    expect(() => insert(key, sha, seq)).toThrow(/immutable/);
    expect(() => insert(rowKey(9, 0), '0'.repeat(64), 0)).toThrow(/of no run/);
    expect(insert(key + 1, sha, seq).changes).toBe(1);
  });
});

/** Offers the triggers a commit of this rank on the head of `one`, past the decision that would refuse it, with a verdict of its own. */
const offerCommit = (one: Scenario, rank: readonly unknown[]): void => {
  const no = db.get(sql<{ no: number }>('SELECT no FROM run WHERE id = ?'), one.run)?.no ?? 0;
  const potential = rank.reduce((sum: number, r) => sum + (typeof r === 'number' ? r : 0), 0);
  const { id, tree } = one.head();
  const verdict = '9'.repeat(64);
  execute(
    db,
    `INSERT INTO verdict (sha, tree, contract, kind, era, rank, potential, body) VALUES (?, ?, ?, 'ranked', ?, '[]', ?, '{}')`,
    verdict,
    tree,
    one.contract.sha,
    rowKey(no, 0),
    potential,
  );
  execute(
    db,
    `INSERT INTO bundle (key, id, edge, transition, potential, era, era_start, parent, contract, tree, verdict, summary, rank, summary_text)
     VALUES (?, ?, 'commit', 1, ?, 0, ?, ?, ?, ?, ?, ?, ?, '')`,
    rowKey(no, 1),
    'f'.repeat(64),
    potential,
    rowKey(no, 0),
    id,
    one.contract.sha,
    tree,
    verdict,
    'a'.repeat(64),
    JSON.stringify(rank),
  );
};

describe('a bundle of many obligations', () => {
  const many = 200;
  const wide = (rank: readonly number[]) => {
    const one = createScenario({
      i: 5,
      caps: Array.from({ length: many }, () => 3),
      genesis: Array.from({ length: many }, () => 2),
      header: { budget: { attempts: 50 } },
    });
    start(db, one);
    openRound(db, one.open(1));
    storeProposals(db, one.proposals(1));
    const input = one.commit([{ kind: 'ranked', text: 'next', rank }]);
    return { one, input };
  };
  const at = (i: number, value: number) => Array.from({ length: many }, (_, k) => (k === i ? value : 2));
  test('commits when one gets better', () => {
    const { input } = wide(at(150, 0));
    expect(commitRound(db, input)).toHaveLength(1);
  });
  test.each<[string, readonly unknown[], RegExp]>([
    ['one gets worse', [...at(3, 0).slice(0, 199), 3], /gets worse/],
    ['none gets better', at(0, 2), /no obligation gets better/],
    ['one is above its cap', at(199, 4), /above its cap/],
    ['one is negative', at(100, -1), /below 0/],
    ['one is a text', [...at(0, 1).slice(0, 199), '2'], /not an integer/],
    ['one is null', [...at(0, 1).slice(0, 199), null], /not an integer/],
    ['one is missing', at(0, 1).slice(0, 199), /one value per obligation/],
    ['one is too many', [...at(0, 1), 0], /one value per obligation/],
  ])('is refused when %s', (_, rank, message) => {
    expect(() => offerCommit(wide(at(0, 1)).one, rank)).toThrow(message);
  });
});

test('the SQL predicate agrees with relate() for all ranks of three values up to 2', () => {
  const values = [0, 1, 2];
  const ranks = values.flatMap((a) => values.flatMap((b) => values.map((c) => [a, b, c])));
  let pairs = 0;
  for (const [i, base] of ranks.entries()) {
    const one = createScenario({ i: i + 1, caps: [2, 2, 2], genesis: base, header: { budget: { attempts: 50 } } });
    start(db, one);
    for (const rank of ranks) {
      const dominates = relate(rank, base) === 'dominates';
      execute(db, 'SAVEPOINT attempt');
      let refused = '';
      try {
        offerCommit(one, rank);
      } catch (error) {
        refused = error instanceof Error ? error.message : 'something else';
      }
      expect(refused).toMatch(dominates ? /^$/ : /gets worse|gets better/);
      execute(db, 'ROLLBACK TO attempt');
      execute(db, 'RELEASE attempt');
      pairs++;
    }
  }
  expect(pairs).toBe(27 * 27);
});

describe('commitRound refuses records that contradict each other', () => {
  const opened = () => {
    openRound(db, s.open(2));
    storeProposals(db, s.proposals(2));
    return s.commit([
      { kind: 'ranked', text: 'next', rank: [0, 2, 2] },
      { kind: 'ranked', text: 'other', rank: [4, 2, 2] },
    ]);
  };
  const state = () =>
    ['run', 'transition', 'bundle', 'memory', 'event', 'verdict', 'blob', 'tree', 'salt', 'journal', 'round_slot'].map((t) =>
      db.all(sql(`SELECT * FROM ${t}`)),
    );

  test.each<[string, (input: ReturnType<typeof opened>) => ReturnType<typeof opened>, RegExp]>([
    ['a moved head', (i) => ({ ...i, expectedHead: 'a'.repeat(64) }), /head has moved/],
    ['another round', (i) => ({ ...i, round: 9 }), /not open/],
    ['a missing attempt', (i) => ({ ...i, transitions: i.transitions.slice(0, 1) }), /1 transitions for 2 slots/],
    ['a missing memory entry', (i) => ({ ...i, memory: [] }), /no memory entry/],
    ['a memory entry too many', (i) => ({ ...i, memory: [...i.memory, ...i.memory] }), /memory entries/],
    ['no bundle for a commit', (i) => ({ ...i, bundle: null }), /without its bundle/],
    ['a bundle with another id', (i) => ({ ...i, bundle: i.bundle && { ...i.bundle, summaryText: 'x' } }), /summary is not the hash/],
    ['a bundle whose body was changed', (i) => ({ ...i, bundle: i.bundle && { ...i.bundle, rank: [0, 0, 0] } }), /has the id/],
    ['a bundle of another header', (i) => ({ ...i, bundle: i.bundle && { ...i.bundle, header: 'a'.repeat(64) } }), /another header/],
    ['a charge that is not the sum', (i) => ({ ...i, charged: { ...i.charged, attempts: 1 } }), /not the sum/],
    [
      'a charge above the reservation',
      (i) => ({
        ...i,
        transitions: i.transitions.map((t) => ({ ...t, cost: { ...t.cost, charged: { ...t.cost.charged, verifierRuns: 3 } } })),
      }),
      /charges 3 verifierRuns, 2 were reserved/,
    ],
    [
      'another base',
      (i) => ({ ...i, transitions: i.transitions.map((t) => ({ ...t, base: 'a'.repeat(64) })) }),
      /another bundle than the head/,
    ],
    [
      'exchanged slots',
      (i) => ({ ...i, transitions: i.transitions.map((t) => ({ ...t, slot: 1 - t.slot })) }),
      /not the one that was opened/,
    ],
    [
      'a blob with other bytes',
      (i) => ({ ...i, blobs: i.blobs.map((b) => ({ ...b, bytes: new Uint8Array([1]) })) }),
      /its bytes have the SHA-256/,
    ],
    [
      'a tree with another name',
      (i) => ({ ...i, trees: i.trees.map((t) => ({ ...t, tree: 'a'.repeat(64) })) }),
      /its manifest has the SHA-256/,
    ],
    ['a tree whose bytes are missing', (i) => ({ ...i, blobs: [] }), /neither stored nor given/],
    ['a verdict that nobody gave', (i) => ({ ...i, verdicts: [] }), /its verdict is not a ranked one|neither stored nor given/],
    ['a clock without a zone', (i) => ({ ...i, at: '2026-01-01 00:00' }), /not an instant/],
  ])('%s', (_, change, message) => {
    const input = opened();
    const before = state();
    expect(() => commitRound(db, change(input))).toThrow(message);
    expect(state()).toEqual(before);
    commitRound(db, input);
    expect(state()).not.toEqual(before);
  });
});
