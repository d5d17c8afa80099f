// What is written is what is read, for every read function.
import { beforeEach, expect, test } from 'vitest';
import { bundleId } from '#shared/domain/bundle-id.ts';
import { eventLine, EventBody, verifyEventChain } from '#shared/domain/event-chain.ts';
import { features } from '#shared/domain/features.ts';
import { RunDetail, RunSummary, TransitionDetail, TransitionRow } from '#shared/contract/run.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import { sql, type ReadableDb, type WritableDb } from '#electron/store/db.ts';
import { StoreError } from '#electron/store/errors.ts';
import { getBlob, getManifest } from '#electron/store/read/blobs.ts';
import { getBundle, getChain } from '#electron/store/read/bundles.ts';
import { getJournal, lastJournal } from '#electron/store/read/journal.ts';
import { getResumeState } from '#electron/store/read/resume.ts';
import { getRun, getSummary, listRuns, resolveRun } from '#electron/store/read/runs.ts';
import { getSettings } from '#electron/store/read/settings.ts';
import { getTransition, maxOutputBytes, pageTransitions } from '#electron/store/read/transitions.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { openRound } from '#electron/store/write/open-round.ts';
import { setSettings } from '#electron/store/write/settings.ts';
import { resumeRun, stopRun } from '#electron/store/write/stop-run.ts';
import { runIdOf } from '../support/engine/builders.ts';
import { database, reader, round, start } from './support/database.ts';
import { createScenario, type Scenario } from './support/scenario.ts';

let db: WritableDb;
let r: ReadableDb;
let s: Scenario;

const seedText = '{"a": 1,\n "b": 2}\n';

beforeEach(() => {
  db = database();
  s = createScenario({ caps: [9, 9, 9], genesis: [3, 3, 3], seedText, header: { budget: { attempts: 50, verifierRuns: 40 } } });
  start(db, s);
  r = reader(db);
  round(db, s, [
    { kind: 'ranked', text: '{"a": 0,\n "b": 2}\n', rank: [2, 3, 3], output: 'one said' },
    { kind: 'ranked', text: 'incomparable', rank: [2, 4, 3] },
    { kind: 'invalid' },
    { kind: 'no_verdict', text: 'crashes' },
  ]);
  round(db, s, [
    { kind: 'cached', text: 'incomparable' },
    { kind: 'head' },
    { kind: 'ranked', text: 'tie', rank: [2, 3, 3] },
    { kind: 'ranked', text: 'flaky', rank: [0, 0, 0], stable: false },
  ]);
  round(db, s, [
    { kind: 'ranked', text: 'best', rank: [0, 3, 3] },
    { kind: 'ranked', text: 'good', rank: [1, 3, 3] },
    { kind: 'aborted' },
    { kind: 'invalid', text: 'schema' },
  ]);
});

test('the scenario has every outcome', () => {
  expect(s.transitions.map(({ outcome }) => outcome)).toEqual([
    'commit',
    'incomparable',
    'invalid',
    'no_verdict',
    'regression',
    'duplicate',
    'tie',
    'unstable',
    'commit',
    'not_selected',
    'aborted',
    'invalid',
  ]);
});

test('every transition reads as it was written, in pages and one by one', () => {
  const pages = [0, 5, 10].flatMap((after) => pageTransitions(r, { run: s.run, after, limit: 5 }));
  expect(pages.map(({ n }) => n)).toEqual(s.transitions.map(({ n }) => n));
  for (const [i, row] of pages.entries()) {
    const t = s.transitions[i];
    const detail = TransitionDetail.parse(getTransition(r, { run: s.run, n: i + 1 }));
    expect(detail.transition).toEqual(t);
    const verdict = t?.verdict ? (s.verdicts.get(t.verdict) ?? null) : null;
    const base = s.chain.find(({ id }) => id === t?.base);
    expect(detail.verdict).toEqual(verdict);
    expect(detail.rank).toEqual(verdict?.kind === 'ranked' ? verdict.rank : null);
    expect(detail.baseRank).toEqual(base?.rank);
    expect(detail.features).toEqual(features(base?.rank ?? [], verdict, detail.transition.outcome));
    expect(detail.memory).toEqual(s.memory.find(({ transition }) => transition === i + 1) ?? null);
    expect(detail.bundle).toEqual(s.chain.find(({ transition }) => transition === i + 1) ?? null);
    expect(TransitionRow.parse(row)).toEqual({
      n: i + 1,
      round: t?.round,
      slot: t?.slot,
      outcome: t?.outcome,
      base: t?.base,
      baseSeq: base?.seq,
      tree: t?.tree,
      rank: detail.rank,
      verdictSource: t?.verdictSource,
      verdictKind: verdict?.kind ?? null,
      code: verdict !== null && verdict.kind !== 'ranked' ? verdict.code : null,
      bundle: t?.bundle,
      bundleSeq: detail.bundle?.seq ?? null,
      duplicateOf: t?.duplicateOf,
      cost: t?.cost,
    });
  }
  expect(getTransition(r, { run: s.run, n: 13 })).toBeNull();
  expect(pageTransitions(r, { run: s.run, after: 12, limit: 5 })).toEqual([]);
  expect(() => pageTransitions(r, { run: runIdOf(9), after: 0, limit: 5 })).toThrow(StoreError);
});

test('a commit shows what it changed, its output and its lines of the chain', () => {
  const detail = getTransition(r, { run: s.run, n: 1 });
  expect(detail?.changes).toEqual([
    expect.objectContaining({
      path: 'state.json',
      status: 'modified',
      added: 1,
      removed: 1,
      before: expect.any(String),
      after: expect.any(String),
    }),
  ]);
  expect(detail?.output).toBe('one said');
  expect(detail?.events.map((line) => EventBody.parse({ type: JSON.parse(line).type, body: JSON.parse(line).body }).type)).toEqual([
    'round',
    'proposal',
    'verdict',
    'decision',
  ]);
  expect(getTransition(r, { run: s.run, n: 3 })?.changes).toBeNull();
  expect(getTransition(r, { run: s.run, n: 11 })?.events).toHaveLength(2);
});

test('a long output is cut', () => {
  const long = `${'x'.repeat(maxOutputBytes - 1)}äöü`;
  round(db, s, [{ kind: 'ranked', text: 'loud', rank: [9, 9, 9], output: long }]);
  const output = getTransition(r, { run: s.run, n: 13 })?.output ?? '';
  expect(output.startsWith('x'.repeat(maxOutputBytes - 1))).toBe(true);
  expect(new TextEncoder().encode(output).length).toBeLessThanOrEqual(maxOutputBytes + 2);
  expect(output).not.toContain('ä');
});

test('the retrieved memory entries are kept in order', () => {
  expect(s.transitions[6]?.retrieved.length).toBe(2);
  expect(getTransition(r, { run: s.run, n: 7 })?.transition.retrieved).toEqual(s.transitions[6]?.retrieved);
});

test('summary and detail come from the counters and agree with the rows', () => {
  const summary = RunSummary.parse(getSummary(r, s.run));
  const count = (outcome: string) => s.transitions.filter((t) => t.outcome === outcome).length;
  expect(summary).toMatchObject({
    id: s.run,
    status: 'interrupted',
    stop: null,
    note: null,
    transitions: 12,
    rounds: 3,
    slots: 4,
    seed: 0,
    proposer: 'search',
    parent: null,
  });
  for (const [outcome, n] of Object.entries(summary.counts)) expect([outcome, n]).toEqual([outcome, count(outcome)]);
  expect(summary.genesis).toEqual({ id: s.chain[0]?.id, potential: 9 });
  expect(summary.head).toEqual({ id: s.head().id, seq: 2, era: 0, potential: 6, rank: [0, 3, 3] });
  expect(summary.budget.max).toEqual(s.header.budget);
  expect(summary.budget.used).toEqual({ ...noAmounts(), attempts: 12, requests: 12, rounds: 3, verifierRuns: 9, verifierMs: 60 });
  expect(summary.budget.overshoot).toEqual({ ...noAmounts(), wallMs: 9 });
  const detail = RunDetail.parse(getRun(r, s.run));
  const { sha, ...body } = s.contract;
  expect(detail).toEqual({ ...summary, header: s.header, headerSha: s.headerSha, contractBody: body, memoryEntries: 10 });
  expect(detail.contract).toBe(sha);
  expect(getSummary(r, runIdOf(9))).toBeNull();
  expect(getRun(r, runIdOf(9))).toBeNull();
});

test('the chain and its bundles', () => {
  const chain = getChain(r, s.run);
  expect(chain).toMatchObject({ count: 3, m: 3, ids: s.chain.map(({ id }) => id) });
  expect([...chain.transition]).toEqual([-1, 1, 9]);
  expect([...chain.ranks]).toEqual(s.chain.flatMap(({ rank }) => rank));
  for (const expected of s.chain) {
    const found = getBundle(r, { run: s.run, seq: expected.seq });
    expect(found?.bundle).toEqual(expected);
    expect(bundleId(expected)).toBe(found?.bundle.id);
    expect(found?.files).toEqual(getManifest(r, expected.tree));
  }
  expect(getBundle(r, { run: s.run, seq: 3 })).toBeNull();
  const [file] = getBundle(r, { run: s.run, seq: 0 })?.files ?? [];
  expect(file).toMatchObject({ path: 'state.json', mode: 'file', size: seedText.length });
  expect(new TextDecoder().decode(getBlob(r, file?.sha ?? '') ?? undefined)).toBe(seedText);
  expect(getBlob(r, 'a'.repeat(64))).toBeNull();
  expect(getManifest(r, 'a'.repeat(64))).toBeNull();
});

test('the event chain verifies and its lines are those of eventLine', () => {
  const lines = r.all(sql<{ line: string; sha: string }>('SELECT line, sha FROM event ORDER BY key'));
  const run = r.get(sql<{ events: number; last_event: string }>('SELECT events, last_event FROM run'));
  expect(verifyEventChain(lines.map(({ line }) => line))).toEqual({ ok: true, value: { count: run?.events, last: run?.last_event } });
  for (const { line, sha } of lines) {
    const { seq, prev, at, type, body } = JSON.parse(line);
    expect(eventLine({ seq, prev, at, ...EventBody.parse({ type, body }) })).toEqual({ line, sha });
  }
});

test('every salt opens its commitment once', () => {
  const salts = r.all(sql<{ key: number; commitment: string }>('SELECT key, commitment FROM salt ORDER BY key'));
  const committed = r
    .all(sql<{ line: string }>('SELECT line FROM event'))
    .map(({ line }) => line)
    .join('\n');
  expect(salts.length).toBeGreaterThan(20);
  expect(r.get(sql<{ salts: number }>('SELECT salts FROM run'))?.salts).toBe(salts.length);
  expect(new Set(salts.map(({ commitment }) => commitment)).size).toBe(salts.length);
  for (const { commitment } of salts) expect(committed).toContain(commitment);
});

test('ranks of verdicts are stored as the difference to genesis', () => {
  const rows = r.all(sql<{ rank: string }>(`SELECT rank FROM transition WHERE rank IS NOT NULL ORDER BY key`));
  expect(rows.map(({ rank }) => rank)).toEqual(['[0,-1]', '[0,-1,1,1]', '[0,-1,1,1]', '[0,-1]', '[0,-3,1,-3,2,-3]', '[0,-3]', '[0,-2]']);
});

test('what is needed to resume', () => {
  const state = getResumeState(r, s.run);
  expect(state).toMatchObject({
    header: s.header,
    headerSha: s.headerSha,
    contract: s.contract,
    task: { id: 'scripted', title: 'Scripted', path: '/tasks/scripted' },
    head: s.head(),
    nextN: 13,
    nextRound: 4,
    nextDraw: 12,
    used: { attempts: 12 },
    stop: null,
    noVerdictStreak: 0,
  });
  const known = new Map(state?.cached.map(({ n, tree, verdict }) => [n, { tree, verdict }]));
  expect([...known.keys()]).toEqual([null, 1, 2, 7, 9, 10, 12]);
  expect(known.get(null)?.tree).toBe(s.header.seedTree);
  for (const { n, tree, verdict, verdictSha } of state?.cached ?? []) {
    expect(s.verdicts.get(verdictSha)).toEqual(verdict);
    expect(n === null ? s.header.seedTree : s.transitions[n - 1]?.tree).toBe(tree);
  }
  expect(getResumeState(r, runIdOf(9))).toBeNull();
});

test('missing verdicts in a row are counted past attempts that say nothing about the verifier', () => {
  round(db, s, [
    { kind: 'no_verdict', text: 'x1' },
    { kind: 'no_verdict', text: 'x2' },
  ]);
  round(db, s, [{ kind: 'aborted' }, { kind: 'no_verdict', text: 'x3' }, { kind: 'head' }, { kind: 'invalid' }]);
  expect(getResumeState(r, s.run)?.noVerdictStreak).toBe(3);
  round(db, s, [
    { kind: 'ranked', text: 'alive', rank: [9, 9, 9] },
    { kind: 'no_verdict', text: 'x4' },
  ]);
  expect(getResumeState(r, s.run)?.noVerdictStreak).toBe(1);
});

test('a run that was made later stands first, also where the clock was set back and its id is smaller', () => {
  for (const i of [50, 40, 45]) start(db, createScenario({ i, caps: [2], genesis: [1] }));
  const ids = listRuns(r, { limit: 3 }).runs.map(({ id }) => id);
  expect(ids).toEqual([45, 40, 50].map(runIdOf));
  expect(listRuns(r, { before: ids[0], limit: 1 })).toMatchObject({ runs: [{ id: ids[1] }], more: true });
  expect(() => listRuns(r, { before: runIdOf(99), limit: 1 })).toThrow(/there is no run/);
});

test('the library is paged newest first, and a prefix names a run', () => {
  for (let i = 1; i < 8; i++) start(db, createScenario({ i, caps: [2], genesis: [1] }));
  const first = listRuns(r, { limit: 5 });
  const second = listRuns(r, { before: first.runs.at(-1)?.id, limit: 5 });
  expect([...first.runs, ...second.runs].map(({ id }) => id)).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map(runIdOf));
  expect([first.more, second.more]).toEqual([true, false]);
  expect(listRuns(r, { limit: 8 }).more).toBe(false);
  expect(listRuns(r, { before: first.runs.at(-1)?.id, limit: 2, task: 'scripted' })).toEqual({ runs: second.runs.slice(0, 2), more: true });
  expect(listRuns(r, { limit: 8, task: 'another' })).toEqual({ runs: [], more: false });
  expect(resolveRun(r, runIdOf(3))).toEqual([runIdOf(3)]);
  expect(resolveRun(r, runIdOf(3).slice(4))).toEqual([runIdOf(3)]);
  expect(resolveRun(r, '00000000')).toEqual([runIdOf(0), runIdOf(1)]);
  expect(resolveRun(r, 'run_%')).toEqual([]);
  expect(resolveRun(r, 'ffffffff')).toEqual([]);
});

test('a run whose seed has no verdict is kept and says why', () => {
  const one = createScenario({ i: 1, caps: [2], genesis: [1] });
  const created = one.create();
  const verdict: Verdict = { kind: 'no_verdict', code: 'crash', message: 'it fell over', runs: [] };
  createRun(db, {
    ...created,
    genesis: null,
    note: 'the seed got no verdict: "\ud800"',
    verdict: { ...created.verdict, sha: 'a'.repeat(64), verdict, runs: [] },
    events: created.events.slice(0, 1),
    salts: [],
  });
  expect(getSummary(r, one.run)).toMatchObject({
    status: 'not_started',
    head: null,
    genesis: null,
    note: 'the seed got no verdict: "\ud800"',
    transitions: 0,
  });
  expect(getResumeState(r, one.run)).toBeNull();
  expect(getChain(r, one.run)).toMatchObject({ count: 0, m: 1, ids: [] });
  expect(() => openRound(db, one.open(1))).toThrow(/was not started/);
});

test('stop, resume and what they refuse', () => {
  const at = '2026-02-01T00:00:00.000Z';
  const stop = (reason: 'user' | 'budget') =>
    stopRun(db, { run: s.run, at, reason, note: 'why', event: { type: 'stop', body: { reason } } });
  const resume = () => resumeRun(db, { run: s.run, at, event: { type: 'resume', body: { from: s.head().id, nextN: 13 } } });
  stop('user');
  expect(getSummary(r, s.run)).toMatchObject({ status: 'stopped', stop: 'user', note: 'why', updatedAt: at });
  expect(() => stop('user')).toThrow(/has stopped/);
  expect(() => openRound(db, s.open(1))).toThrow(/has stopped/);
  resume();
  expect(getSummary(r, s.run)).toMatchObject({ status: 'interrupted', stop: null, note: null });
  resume();
  openRound(db, s.open(1));
  expect(() => stop('user')).toThrow(/round 4 is open/);
  expect(() => resume()).toThrow(/round 4 is open/);
  const input = s.commit([{ kind: 'aborted' }], { reason: 'budget', note: null });
  expect(() => round(db, s, [{ kind: 'aborted' }])).toThrow(/round 4 is open/);
  expect(input.stop?.reason).toBe('budget');
});

test('a round can end the run, and that is final', () => {
  round(db, s, [{ kind: 'ranked', text: 'done', rank: [0, 0, 0] }], { reason: 'zero_rank', note: null });
  expect(getSummary(r, s.run)).toMatchObject({ status: 'stopped', stop: 'zero_rank', head: { potential: 0, seq: 3 } });
  expect(() =>
    resumeRun(db, { run: s.run, at: '2026-02-01T00:00:00.000Z', event: { type: 'resume', body: { from: s.head().id, nextN: 14 } } }),
  ).toThrow(/that is final/);
});

test('a reservation beyond the budget is refused, and so are numbers that do not follow', () => {
  const open = s.open(1);
  const slot = open.slots[0];
  if (slot === undefined) throw new Error('no slot');
  const with1 = (change: object) => ({ ...open, slots: [{ ...slot, ...change }] });
  expect(() => openRound(db, with1({ reserved: { ...slot.reserved, attempts: 39 } }))).toThrow(/39 attempts does not fit: 12 of 50/);
  expect(() => openRound(db, with1({ n: 14 }))).toThrow(/does not follow/);
  expect(() => openRound(db, { ...open, round: 5 })).toThrow(/does not follow/);
  expect(() => openRound(db, { ...open, base: s.chain[0]?.id ?? '' })).toThrow(/not the head/);
  expect(() => openRound(db, { ...open, slots: [] })).toThrow(/no slots/);
  openRound(db, open);
  expect(() => openRound(db, open)).toThrow(/round 4 is open/);
});

test('the journal counts writes over all runs', () => {
  const last = lastJournal(r);
  expect(getJournal(r, { after: 0, limit: 100 })).toHaveLength(last);
  expect(getJournal(r, { after: 0, limit: 4 })).toEqual([
    { journal: 1, run: s.run, type: 'create' },
    { journal: 2, run: s.run, type: 'round' },
    { journal: 3, run: s.run, type: 'proposals' },
    { journal: 4, run: s.run, type: 'commit' },
  ]);
  const other = createScenario({ i: 1, caps: [2], genesis: [1] });
  start(db, other);
  expect(getJournal(r, { after: last, limit: 10 })).toEqual([{ journal: last + 1, run: other.run, type: 'create' }]);
});

test('settings have defaults and keep what is set', () => {
  expect(getSettings(r)).toEqual({ theme: 'system', language: 'system' });
  expect(setSettings(db, { theme: 'dark' })).toEqual({ theme: 'dark', language: 'system' });
  expect(setSettings(db, { language: 'ko' })).toEqual({ theme: 'dark', language: 'ko' });
  expect(getSettings(r)).toEqual({ theme: 'dark', language: 'ko' });
  db.run(sql(`UPDATE setting SET value = '"neon"' WHERE key = 'theme'`));
  expect(getSettings(r)).toEqual({ theme: 'system', language: 'ko' });
});

test('texts that SQLite would change are refused or kept exactly', () => {
  const one = createScenario({ i: 1, caps: [2], genesis: [1] });
  const created = one.create();
  expect(() => createRun(db, { ...created, task: { ...created.task, title: 'a\ud800' } })).toThrow(/lone surrogate/);
  createRun(db, { ...created, task: { ...created.task, title: 'a\u0000b' } });
  expect(getSummary(r, one.run)?.task.title).toBe('a\u0000b');
});
