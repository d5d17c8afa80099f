// The one transaction that ends a round.
import type { JournalItem } from '#shared/contract/app.ts';
import { type Amounts, budgetDimensions } from '#shared/domain/budget.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { outcomes, type Transition } from '#shared/domain/transition.ts';
import { amountColumns, amountValues, encodeCost } from '../amounts.ts';
import type { CommitRound } from '../api.ts';
import { sql, type WritableDb } from '../db.ts';
import { StoreError } from '../errors.ts';
import { maxInRun, numberOf, rowKey } from '../keys.ts';
import { genesisRank } from '../read/genesis-rank.ts';
import { appendEvents, appendJournal, appendSalts, checkInstant } from './append.ts';
import { insertContent, prepareContent, type PreparedContent } from './blobs.ts';
import { checkBundle, insertBundle } from './bundles.ts';
import { insertInto } from './insert.ts';
import { goingRun, setStop } from './run-row.ts';
import { type Era, insertVerdicts, storedFacts, type VerdictFacts } from './verdicts.ts';

type SlotRow = { key: number; round: number; slot: number; reserved: string; event_from: number };
type HeadRow = { id: Sha; era_start: number; contract: Sha };

const selectSlots = sql<SlotRow>('SELECT key, round, slot, reserved, event_from FROM round_slot WHERE key BETWEEN ? AND ? ORDER BY key');
const selectHead = sql<HeadRow>('SELECT id, era_start, contract FROM bundle WHERE key = ?');
const insertTransitions = insertInto('transition', [
  'key',
  'outcome',
  'round',
  'slot',
  'base',
  'bundle',
  'duplicate_of',
  'source',
  'kind',
  'code',
  'potential',
  'rank',
  'cost',
  'event_from',
  'event_to',
  'tree',
  'verdict',
  'request',
  'response',
  'features_shown',
]);
const insertMemories = insertInto('memory', ['key', 'id', 'body']);
const insertOutputs = insertInto('auto_output', ['transition', 'position', 'tree', 'record']);
const insertRegistrations = insertInto('auto_registration', ['transition', 'position', 'record', 'refusal']);
const insertUses = insertInto('memory_use', ['transition', 'position', 'entry']);

const sums = [...outcomes.map((o) => `n_${o}`), ...amountColumns('used'), ...amountColumns('over')];
const moved = `updated_at = ?, events = ?, last_event = ?, salts = ?, rounds = ?, transitions = transitions + ?, memories = memories + ?,
  ${sums.map((c) => `${c} = ${c} + ?`).join(', ')}`;
const keepHead = sql(`UPDATE run SET ${moved} WHERE no = ? AND head = ?`);
const moveHead = sql(`UPDATE run SET ${moved}, head = head + 1 WHERE no = ? AND head = ?`);

// Written by openRound as eight counts; anything else makes every charge exceed it.
const amountsOf = (text: string): readonly unknown[] => {
  const values: unknown = JSON.parse(text);
  return Array.isArray(values) ? values : [];
};
const none: VerdictFacts | null = null;

const refuse = (input: CommitRound, what: string): never => {
  throw new StoreError('constraint', `run ${input.run}, round ${input.round}: ${what}`);
};

// The records have to agree with each other and with the round that was opened. What SQL can check, the triggers check again.
const checkRecords = (input: CommitRound, no: number, slots: readonly SlotRow[]): void => {
  const { run, round, transitions, memory, bundle, expectedHead } = input;
  if (slots.length === 0 || slots[0]?.round !== round) throw new StoreError('conflict', `run ${run}: round ${round} is not open`);
  if (transitions.length !== slots.length) refuse(input, `${transitions.length} transitions for ${slots.length} slots`);
  const charged = budgetDimensions.map(() => 0);
  const overshoot = budgetDimensions.map(() => 0);
  let entries = 0;
  let commits = 0;
  for (const [i, t] of transitions.entries()) {
    const slot = slots[i];
    if (slot === undefined || t.run !== run || t.round !== round || slot.key !== rowKey(no, t.n) || slot.slot !== t.slot) {
      return refuse(input, `attempt ${t.n} (slot ${t.slot}) is not the one that was opened`);
    }
    if (t.base !== expectedHead) refuse(input, `attempt ${t.n} was tried on another bundle than the head`);
    const reserved = amountsOf(slot.reserved);
    for (const [d, name] of budgetDimensions.entries()) {
      const amount = t.cost.charged[name];
      const limit = reserved[d];
      if (typeof limit !== 'number' || amount > limit)
        refuse(input, `attempt ${t.n} charges ${amount} ${name}, ${String(limit)} were reserved`);
      charged[d] = (charged[d] ?? 0) + amount;
      overshoot[d] = (overshoot[d] ?? 0) + t.cost.overshoot[name];
    }
    if (t.outcome === 'commit') {
      commits++;
      if (bundle === null || t.bundle !== bundle.id || bundle.transition !== t.n)
        refuse(input, `attempt ${t.n} commits without its bundle`);
      continue;
    }
    if (t.bundle !== null) refuse(input, `attempt ${t.n} did not commit and has a bundle`);
    const entry = memory[entries++];
    if (entry?.transition !== t.n || entry.run !== run || entry.outcome !== t.outcome) refuse(input, `no memory entry for attempt ${t.n}`);
  }
  if (entries !== memory.length) refuse(input, `${memory.length} memory entries for ${entries} attempts that did not commit`);
  if (commits !== (bundle === null ? 0 : 1)) refuse(input, `${commits} commits`);
  if (bundle !== null && (bundle.run !== run || bundle.edge !== 'commit' || bundle.parent !== expectedHead))
    refuse(input, 'the bundle is not a child of the head');
  const differs = (sum: readonly number[], given: Amounts) => amountValues(given).some((x, d) => x !== sum[d]);
  if (differs(charged, input.charged) || differs(overshoot, input.overshoot))
    refuse(input, 'what is charged is not the sum over the attempts');
};

const countOutcomes = (transitions: readonly Transition[]): number[] =>
  outcomes.map((o) => transitions.reduce((n, t) => n + (t.outcome === o ? 1 : 0), 0));

/** Inside a transaction; `type` is that of the journal's item. */
export function endRound(db: WritableDb, input: CommitRound, content: PreparedContent, type: string): JournalItem {
  const { run, at, round, transitions, memory, bundle, stop } = input;
  const row = goingRun(db, run);
  const { no } = row;
  const head = db.get(selectHead, row.head);
  if (head === undefined || head.id !== input.expectedHead)
    throw new StoreError('conflict', `run ${run}: the head has moved since round ${round} was decided`);
  const slots = db.all(selectSlots, rowKey(no, row.transitions + 1), rowKey(no, maxInRun));
  checkRecords(input, no, slots);
  insertContent(db, content);

  const era: Era = { key: head.era_start, rank: genesisRank(db, head.era_start) };
  if (input.verdicts.some(({ contract }) => contract !== head.contract)) refuse(input, 'a verdict under another contract than the head');
  const facts = insertVerdicts(db, input.verdicts, era);
  let bundleKey: number | null = null;
  if (bundle !== null) {
    checkBundle(bundle, row.header_sha);
    if (bundle.seq !== numberOf(row.head) + 1) refuse(input, `the bundle has seq ${bundle.seq}`);
    bundleKey = insertBundle(db, no, head.era_start, bundle);
  }
  const lastEvent = row.events + input.events.length - 1;
  insertTransitions(
    db,
    transitions.map((t, i) => {
      const verdict = t.verdict === null ? none : (facts.get(t.verdict) ?? storedFacts(db, t.verdict, era));
      return [
        rowKey(no, t.n),
        outcomes.indexOf(t.outcome),
        round,
        t.slot,
        row.head,
        t.bundle === null ? null : bundleKey,
        t.duplicateOf,
        t.verdictSource,
        verdict?.kind ?? null,
        verdict?.code ?? null,
        verdict?.potential ?? null,
        verdict?.rank ?? null,
        encodeCost(t.cost),
        slots[i]?.event_from ?? row.events,
        lastEvent,
        t.tree,
        t.verdict,
        t.request,
        t.response,
        t.featuresShown,
      ];
    }),
  );
  insertUses(
    db,
    transitions.flatMap((t) => t.retrieved.map((entry, position) => [rowKey(no, t.n), position, entry])),
  );
  insertMemories(
    db,
    memory.map((entry) => [rowKey(no, entry.transition), entry.id, JSON.stringify(entry)]),
  );
  if (input.autos !== undefined) {
    const { outputs, registrations } = input.autos;
    insertOutputs(
      db,
      outputs.map(({ n, position, tree, record }) => [rowKey(no, n), position, tree, record]),
    );
    insertRegistrations(
      db,
      registrations.map(({ n, position, record, refusal }) => [rowKey(no, n), position, record, refusal]),
    );
  }
  const end = appendEvents(db, no, { events: row.events, last: row.last_event }, at, input.events);
  const salts = appendSalts(db, no, row.salts, input.salts);
  const { changes } = db.run(
    bundle === null ? keepHead : moveHead,
    at,
    end.events,
    end.last,
    salts,
    round,
    transitions.length,
    memory.length,
    ...countOutcomes(transitions),
    ...amountValues(input.charged),
    ...amountValues(input.overshoot),
    no,
    row.head,
  );
  if (changes !== 1) throw new StoreError('conflict', `run ${run}: the head has moved since round ${round} was decided`);
  if (stop !== null) setStop(db, no, stop);
  return appendJournal(db, no, run, type);
}

/**
 * Ends a round: verdicts, transitions, memory, the winner's bundle, head, budget and event chain, in one durable transaction. Throws a
 * StoreError of kind `conflict` when the head or the round are not those that the caller decided against, `constraint` or `immutable`
 * when the records break an invariant; then nothing is stored.
 */
export function commitRound(db: WritableDb, input: CommitRound): JournalItem[] {
  checkInstant(input.at);
  // Inside, so that looking for what is stored needs no read transactions of its own. Nobody else writes who would have to wait.
  return db.transaction(() => [endRound(db, input, prepareContent(db, input.blobs, input.trees), 'commit')]);
}
