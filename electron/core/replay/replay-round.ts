// The transactions of a run made again, one after the other: its genesis, its rounds, stops and resumes.
import { fileChanges } from '#electron/verifiers/changes.ts';
import { type Attempt, type Proposed, readAttempts } from '#electron/governor/attempt.ts';
import { confirmRound, type SlotMeasurements } from '#electron/governor/confirm-round.ts';
import { commitmentOf } from '#electron/governor/event-writer.ts';
import { genesisRecords } from '#electron/governor/genesis.ts';
import type { Measurement } from '#electron/governor/measure.ts';
import { createAllowance, type PlannedSlot, type RoundPlan } from '#electron/governor/reservation.ts';
import { requestsOf, slotInput } from '#electron/governor/round.ts';
import { abortedRecords, finishedRecords, type RoundContext, type SlotRecord, type Stop } from '#electron/governor/round-records.ts';
import type { GovernorDeps } from '#electron/governor/types.ts';
import { createVerdictCache, type VerdictCache } from '#electron/governor/verdict-cache.ts';
import type { ResponseReader } from '#electron/proposers/proposer.ts';
import { decodeCost } from '#electron/store/amounts.ts';
import type {
  CachedRow,
  CommitRound,
  ReplayEvent,
  ReplayHead,
  ReplaySalt,
  ReplayTransition,
  Store,
  StoredBundle,
  StoredVerdict,
} from '#electron/store/api.ts';
import { AutoOutput, autoPart, autoText } from '#shared/domain/auto-evidence.ts';
import { type AutoCommand, registerRound } from '#shared/domain/auto-registry.ts';
import { CertifiedBundle } from '#shared/domain/bundle.ts';
import { addAmounts, noAmounts, settleCost } from '#shared/domain/budget-ledger.ts';
import type { Amounts, Cost } from '#shared/domain/budget.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { decideRound, finishRound } from '#shared/domain/decide.ts';
import type { EventBody } from '#shared/domain/event-chain.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { noOutcomes, type Outcome, outcomes, type StopReason } from '#shared/domain/transition.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { assertNever, ensure } from '#shared/lib/assert.ts';
import { type ChainCheck, eventIn, instantOf, type NamedObjects, objectsNamedIn, typeOf } from './chain.ts';
import type { Cursor } from './cursor.ts';
import type { Findings } from './findings.ts';
import type { ReplayObserver } from './observer.ts';
import { readMeasurements, verdictOfMeasurements, verdictOfRow } from './recorded-measurements.ts';
import {
  compareAutos,
  compareBundle,
  compareMemory,
  compareSalts,
  compareTransition,
  compareVerdict,
  membersOf,
  type RowContext,
} from './rows.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type ReplayRows = {
  readonly events: Cursor<ReplayEvent>;
  readonly salts: Cursor<ReplaySalt>;
  readonly transitions: Cursor<ReplayTransition>;
};

type Fixed = {
  readonly run: RunId;
  readonly no: number;
  readonly store: Pick<Store, 'getBlob' | 'getStoredVerdict'>;
  readonly header: RunHeader;
  readonly headerSha: Sha;
  readonly contract: Contract;
  readonly seed: readonly TreeFile[];
  readonly schema: Uint8Array | null;
  readonly instruction: Uint8Array | null;
  readonly findings: Findings;
  readonly chain: ChainCheck;
  readonly observer: ReplayObserver | undefined;
  readonly proposer: ResponseReader;
  readonly check: GovernorDeps['check'];
};

/** Where a replay stands. What was recomputed goes on; only a round whose winner is not the stored one goes on from the stored head. */
export type Replaying = Fixed & {
  readonly cache: VerdictCache;
  head: CertifiedBundle | null;
  headFiles: readonly TreeFile[];
  genesis: CertifiedBundle | null;
  nextN: number;
  nextRound: number;
  nextDraw: number;
  streak: number;
  used: Amounts;
  overshoot: Amounts;
  readonly counts: Record<Outcome, number>;
  memories: number;
  bundles: number;
  verdicts: number;
  salts: number;
  host: number;
  ancestors: number;
  stop: StopReason | null;
  registered: readonly AutoCommand[];
};

export function beginReplay(fixed: Fixed & { readonly ancestors: readonly CachedRow[] }): Replaying {
  const cache = createVerdictCache();
  for (const { tree, verdictSha, verdict } of fixed.ancestors) cache.put(tree, verdictSha, verdict);
  return {
    ...fixed,
    cache,
    head: null,
    headFiles: fixed.seed,
    genesis: null,
    nextN: 1,
    nextRound: 1,
    nextDraw: 1,
    streak: 0,
    used: noAmounts(),
    overshoot: noAmounts(),
    counts: noOutcomes(),
    memories: 0,
    bundles: 0,
    verdicts: 0,
    salts: 0,
    host: 0,
    ancestors: fixed.ancestors.length,
    stop: null,
    registered: [],
  };
}

const rowContext = ({ no, genesis, findings }: Replaying): RowContext => ({ no, genesis: genesis?.rank ?? [], findings });

/** The salts of a transaction, given out in their order, as the loop drew them. */
function saltsOf(rows: readonly ReplaySalt[]): () => Uint8Array {
  let at = 0;
  return () => rows[at++]?.salt ?? new Uint8Array(32);
}

/** The commitments in lines, in their order. */
const commitmentsIn = (events: readonly (NamedObjects | null)[]): Sha[] =>
  events.flatMap((event) => {
    switch (event?.type) {
      case 'proposal':
        return [event.request, event.response].filter((c) => c !== null);
      case 'verdict':
        return [event.record, ...event.outputs];
      case 'register':
        return [event.request];
      case 'auto':
        return event.outputs.map(({ record }) => record);
      case undefined:
        return [];
      default:
        return assertNever(event, 'objects of a line');
    }
  });

/** The next salts, beginning with the one of the first commitment: after a line that cannot be read its count is not known. */
async function alignedSalts(
  state: Replaying,
  { salts }: ReplayRows,
  events: readonly (NamedObjects | null)[],
): Promise<readonly ReplaySalt[]> {
  const wanted = commitmentsIn(events);
  const [first] = wanted;
  if (first === undefined) return [];
  const near = await salts.peek(1);
  if (near[0]?.commitment !== first) {
    const ahead = await salts.peek(1_024);
    const skip = ahead.findIndex(({ commitment: c }) => c === first);
    if (skip > 0 && !wanted.includes(ahead[0]?.commitment ?? '')) {
      for (const row of await salts.take(skip)) state.findings.mismatch(`salt ${row.position}`, 'row', row.commitment, null);
      state.salts += skip;
    }
  }
  return salts.take(wanted.length);
}

type Hidden = { readonly sha: Sha; readonly bytes: Uint8Array };

/** What stands behind a round's commitments, as far as it is there. */
type Objects = {
  /** The bytes that a commitment hides. Where salt and column name different objects, it is the one that the commitment proves. */
  bytes(of: Sha | null, column: Sha | null): Promise<Hidden | null>;
  verdict(of: Sha, column: Sha | null): Promise<StoredVerdict | null>;
  outputs(of: readonly Sha[]): ReadonlyMap<Sha, Uint8Array>;
};

function objectsOf({ store, findings }: Replaying, salts: readonly ReplaySalt[]): Objects {
  const byCommitment = new Map(salts.map((row) => [row.commitment, row]));
  for (const { object, damage } of salts) if (damage !== null) findings.damaged(`blob ${object}`, damage);
  const fetch = async (sha: Sha): Promise<Hidden | null> => {
    try {
      const bytes = await store.getBlob(sha);
      if (bytes !== null) return { sha, bytes };
      findings.damaged(`blob ${sha}`, 'it is not stored');
    } catch (error) {
      findings.damaged(`blob ${sha}`, messageOf(error));
    }
    return null;
  };
  return {
    bytes: async (of, column) => {
      const row = of === null ? undefined : byCommitment.get(of);
      if (row === undefined) return column === null ? null : fetch(column);
      const hidden = row.bytes === null ? null : { sha: row.object, bytes: row.bytes };
      if (column === null || column === row.object) return hidden;
      if (hidden !== null && commitmentOf(row.salt, hidden.bytes) === of) return hidden;
      return (await fetch(column)) ?? hidden;
    },
    verdict: async (of, column) => {
      const row = byCommitment.get(of);
      return row?.verdict ?? (column === null ? null : store.getStoredVerdict(column));
    },
    outputs: (of) =>
      new Map(
        of.flatMap((c) => {
          const row = byCommitment.get(c);
          return row === undefined || row.bytes === null ? [] : [[row.object, row.bytes] as const];
        }),
      ),
  };
}

/** The first transaction: declaration, the seed's measurement, and the genesis if that gave a rank. */
export async function replayGenesis(state: Replaying, head: ReplayHead, rows: ReplayRows): Promise<void> {
  const { run, header, contract, seed, findings, chain, check, store } = state;
  const lines = await rows.events.peek(4);
  const [first] = lines;
  const events = lines.slice(0, 2).map(objectsNamedIn);
  const salts = await alignedSalts(state, rows, events);
  const objects = objectsOf(state, salts);
  const [, measured] = events;
  const stored =
    measured?.type === 'verdict'
      ? await objects.verdict(measured.record, head.genesis?.verdict ?? null)
      : head.genesis === null
        ? null
        : await store.getStoredVerdict(head.genesis.verdict);
  const checked = check(seed, seed);
  const outputs = objects.outputs(measured?.type === 'verdict' ? measured.outputs : []);
  const recorded =
    stored === null || checked.kind === 'invalid'
      ? { measurements: [], host: 0 }
      : readMeasurements({ contract, tree: header.seedTree, stored, where: 'the seed', outputs }, findings);
  state.host += recorded.host;
  state.observer?.seed(recorded.measurements);
  const verdict =
    checked.kind === 'invalid'
      ? ({ kind: 'invalid', code: checked.code, message: checked.message } as const)
      : verdictOfMeasurements(contract, recorded.measurements);
  if (verdict === null || first === undefined) {
    findings.lacks('the seed', 'its measurement is not stored');
    chain.pass(await rows.events.take(lines.length));
    return;
  }
  const taskId = head.row['task_id'];
  const records = genesisRecords({
    run,
    at: instantOf(first) ?? '',
    header,
    contract,
    task: { id: typeof taskId === 'string' ? taskId : '', title: '', path: '' },
    blobs: [],
    trees: [],
    seed: {
      verdict,
      runs: recorded.measurements.flatMap(({ runs }) => runs),
      blobs: recorded.measurements.flatMap(({ blobs }) => blobs),
    },
    salt: saltsOf(salts),
  });
  chain.expect(await rows.events.take(records.events.length), records.events);
  compareSalts(rowContext(state), salts, records.salts);
  state.salts += salts.length;
  if (stored !== null) compareVerdict(rowContext(state), 'verdict of the seed', stored, records.verdict);
  state.verdicts++;
  const { genesis } = records;
  state.stop = records.stop?.reason ?? null;
  if (genesis === null) {
    if (head.genesis !== null) findings.mismatch('bundle 0', 'row', head.genesis.id, null);
    return;
  }
  compareBundle(rowContext(state), head.genesis, genesis);
  state.genesis = genesis;
  state.head = genesis;
  state.bundles = 1;
  state.cache.put(header.seedTree, records.verdict.sha, records.verdict.verdict);
}

/** Going on with a run: only one that its user had stopped, or that had no end. */
export async function replayResume(state: Replaying, { events }: ReplayRows): Promise<void> {
  const { head, nextN, stop, findings, chain } = state;
  if (stop !== null && stop !== 'user') findings.mismatch(`event ${chain.count()}`, 'type', 'resume', `nothing after the stop ${stop}`);
  state.stop = null;
  state.observer?.resumed();
  chain.expect(await events.take(1), head === null ? [] : [{ type: 'resume', body: { from: head.id, nextN } }]);
}

/** A stop between two rounds. Its reason is what somebody saw or wished, except where the run itself says otherwise. */
export async function replayStop(state: Replaying, { events }: ReplayRows): Promise<void> {
  const { head, findings, chain } = state;
  const taken = await events.take(1);
  const [event] = taken;
  const body = event === undefined ? null : eventIn(event);
  if (state.stop !== null) findings.mismatch(`event ${chain.count()}`, 'type', 'stop', `nothing after the stop ${state.stop}`);
  if (body?.type !== 'stop') {
    chain.pass(taken);
    return;
  }
  const { reason } = body.body;
  if (reason === 'zero_rank' && head?.potential !== 0) findings.mismatch(`event ${chain.count()}`, 'reason', reason, 'another');
  state.stop = reason;
  chain.expect(taken, [body]);
}

type Slots = readonly { readonly n: number; readonly slot: number; readonly draw: number; readonly reserved: Amounts }[];

/** One round. `open`: it has not ended, and nothing of it is taken. */
export async function replayRound(state: Replaying, head: ReplayHead, rows: ReplayRows): Promise<'done' | 'open'> {
  const { chain, findings } = state;
  const lines = await linesOfRound(rows);
  // What decisions say follows from the rest; only whether they say that there was none is looked at.
  const events = lines.map(objectsNamedIn);
  const opening = lines[0] === undefined ? null : eventIn(lines[0]);
  if (lines.length === 1 && head.open) return 'open';
  const at = chain.count();
  const base = state.head;
  const body = opening?.type === 'round' ? opening.body : null;
  const size = body?.slots.length ?? lines.filter((line) => typeOf(line) === 'decision').length;
  const peeked = await rows.transitions.peek(size);
  const stored = new Map(peeked.map((row) => [row.n, row]));
  const slots: Slots = Array.from({ length: size }, (_, i) => ({
    n: state.nextN + i,
    slot: i,
    draw: state.nextDraw + i,
    // Where the line cannot be read, what was charged is taken for what was reserved.
    reserved: body?.reserved[i] ?? costIn(stored.get(state.nextN + i))?.charged ?? noAmounts(),
  }));
  await rows.transitions.take(peeked.filter(({ n }) => n < state.nextN + size).length);
  for (const row of stored.values()) for (const { where, what } of row.damage) findings.damaged(where, what);
  if (base === null) {
    findings.mismatch(`event ${at}`, 'type', 'round', 'nothing: the run has no genesis');
    chain.pass(await rows.events.take(lines.length));
    return 'done';
  }
  const plan: RoundPlan = { round: state.nextRound, base: base.id, slots };
  const opened: EventBody = {
    type: 'round',
    body: {
      round: plan.round,
      base: plan.base,
      slots: slots.map(({ n, slot, draw }) => ({ n, slot, draw })),
      reserved: slots.map(({ reserved }) => reserved),
    },
  };
  const ending = await stopWith(rows, lines, [...stored.values()]);
  const all = [...lines, ...ending];
  const salts = await alignedSalts(state, rows, events);
  const objects = objectsOf(state, salts);
  const context: RoundContext = {
    run: state.run,
    headerSha: state.headerSha,
    contract: state.contract,
    head: base,
    headFiles: state.headFiles,
  };
  const deps = {
    now: () => instantOf(lines.at(-1) ?? ensure(lines[0], 'line of a round')) ?? '',
    salt: saltsOf(salts),
    changes: fileChanges,
  };
  const proposed = await proposalsOf(state, slots, events, stored, objects);
  const said = ending.map(eventIn)[0];
  const stop: Stop | null = said?.type === 'stop' ? { reason: said.body.reason, note: null } : null;

  const abandoned = isAbandoned(slots, lines, stored);
  const round = abandoned ? null : await decide(state, { plan, events, stored, objects, proposed });
  let commit: CommitRound;
  let slotRecords: readonly SlotRecord[] = [];
  if (round === null) {
    const costs = slots.map(({ reserved }): Cost => ({ charged: reserved, overshoot: noAmounts() }));
    const seen = events.some((event) => event?.type === 'proposal');
    const aborted = abortedRecords(deps, context, plan, seen ? proposed : null, costs, stop);
    // A crash before the round's end leaves requests and responses without a line that names them.
    const transitions = seen
      ? aborted.transitions
      : aborted.transitions.map((t) => ({ ...t, request: stored.get(t.n)?.request ?? null, response: stored.get(t.n)?.response ?? null }));
    commit = { ...aborted, transitions };
  } else {
    slotRecords = round.slots;
    state.registered = round.registered;
    const records = finishedRecords(deps, context, plan, round.slots, expectedStop(state, round.slots, stop));
    commit = records.commit;
    for (const { tree, sha, verdict, outcome } of records.verdicts) {
      if (tree === null) continue;
      if (outcome === 'unstable') state.cache.forget(tree);
      else state.cache.put(tree, sha, verdict);
    }
  }
  chain.expect(await rows.events.take(all.length), [opened, ...commit.events]);
  compareSalts(rowContext(state), salts, commit.salts);
  state.salts += salts.length;
  compareRows(state, { commit, stored, slots: slotRecords, from: at, to: chain.count() - 1, sources: round?.sources ?? [] });
  state.observer?.round({
    round: plan.round,
    baseTree: base.tree,
    baseFiles: context.headFiles,
    proposed,
    slots: round === null ? null : round.slots,
    stored,
  });
  advance(state, commit, slotRecords, stored, stop);
  return 'done';
}

const linesInRound = ['proposal', 'register', 'verdict', 'auto', 'decision'];

async function linesOfRound({ events }: ReplayRows): Promise<readonly ReplayEvent[]> {
  // A round of 64 slots has some hundred lines.
  for (let size = 64; ; size *= 2) {
    const ahead = await events.peek(size);
    const end = ahead.findIndex((line, i) => i > 0 && !linesInRound.includes(typeOf(line)));
    if (end > 0) return ahead.slice(0, end);
    if (ahead.length < size) return ahead;
  }
}

// A stop that ends the run together with the round stands in the same transaction: most of its transitions say so.
async function stopWith(
  { events }: ReplayRows,
  lines: readonly ReplayEvent[],
  stored: readonly ReplayTransition[],
): Promise<readonly ReplayEvent[]> {
  const next = (await events.peek(lines.length + 1))[lines.length];
  if (next === undefined || typeOf(next) !== 'stop') return [];
  return stored.filter(({ event_to }) => event_to >= next.seq).length * 2 > stored.length ? [next] : [];
}

const costIn = (row: ReplayTransition | undefined): Cost | null => {
  try {
    return row === undefined ? null : decodeCost(row.cost);
  } catch {
    return null;
  }
};

// Three records say that a round was not decided. One that disagrees with the other two is the one that is wrong.
function isAbandoned(slots: Slots, lines: readonly ReplayEvent[], stored: ReadonlyMap<number, ReplayTransition>): boolean {
  const rows = slots.map(({ n }) => stored.get(n));
  const saysOutcome = rows.every((row) => row === undefined || outcomes[row.outcome] === 'aborted');
  const saysNothing = rows.every((row) => row === undefined || (row.tree === null && row.verdict === null));
  const saysChain = !lines.some((line) => {
    const type = typeOf(line);
    return type === 'verdict' || (type === 'decision' && !line.line.includes('"outcome":"aborted"'));
  });
  return Number(saysOutcome) + Number(saysNothing) + Number(saysChain) >= 2;
}

async function proposalsOf(
  { store, findings }: Replaying,
  slots: Slots,
  events: readonly (NamedObjects | null)[],
  stored: ReadonlyMap<number, ReplayTransition>,
  objects: Objects,
): Promise<readonly Proposed[]> {
  const made: Proposed[] = [];
  for (const planned of slots) {
    const row = stored.get(planned.n);
    const line = events.find((event) => event?.type === 'proposal' && event.n === planned.n);
    const body = line?.type === 'proposal' ? line : null;
    const request = await objects.bytes(body?.request ?? null, row?.request ?? null);
    const answered = body === null ? row?.response !== null : body.response !== null;
    const response = answered ? await objects.bytes(body?.response ?? null, row?.response ?? null) : null;
    if (body !== null && request === null) findings.lacks(`transition ${planned.n}`, 'its request is not stored');
    if (body !== null && answered && response === null) findings.lacks(`transition ${planned.n}`, 'its response is not stored');
    made.push({
      planned,
      proposal: {
        request: request?.bytes ?? new Uint8Array(),
        response: response?.bytes ?? null,
        usage: 'missing',
        ...(answered ? {} : await failureOf(store, row?.verdict ?? null)),
      },
      request: request?.sha ?? row?.request ?? '',
      response: response?.sha ?? null,
      // Which entries were shown is a record like the request: nothing recomputes it.
      retrieved: body?.retrieved ?? row?.uses ?? [],
      // Taken with what was said about the candidate itself; see decide.
      observed: { outputs: [], trees: [] },
    });
  }
  return made;
}

// Why no answer came is what the verdict says, and nothing else does.
async function failureOf(store: Replaying['store'], sha: Sha | null): Promise<{ error?: { code: string; message: string } }> {
  const row = sha === null ? null : await store.getStoredVerdict(sha);
  const verdict = row === null ? null : verdictOfRow(row);
  if (verdict?.kind !== 'invalid') return {};
  const at = verdict.message.indexOf(': ');
  return at < 0 ? {} : { error: { code: verdict.message.slice(0, at), message: verdict.message.slice(at + 2) } };
}

type Source = { readonly where: string; readonly row: StoredVerdict; readonly of: 'candidate' | 'base'; readonly n: number };

type Decided = {
  readonly slots: readonly SlotRecord[];
  readonly sources: readonly Source[];
  /** Automatic commands that are registered after the round. */
  readonly registered: readonly AutoCommand[];
};

type RoundFacts = {
  readonly plan: RoundPlan;
  readonly events: readonly (NamedObjects | null)[];
  readonly stored: ReadonlyMap<number, ReplayTransition>;
  readonly objects: Objects;
  readonly proposed: readonly Proposed[];
};

/** Candidates, duplicates, cached verdicts, relation, selection, confirmation, outcome and cost of every slot. */
async function decide(state: Replaying, { plan, events, stored, objects, proposed }: RoundFacts): Promise<Decided> {
  const { contract, header, findings, headFiles, cache } = state;
  const head = ensure(state.head, 'head of a round');
  const attempts = readAttempts({ proposer: state.proposer, check: state.check, base: headFiles, baseTree: head.tree, cache }, proposed);
  const sources: Source[] = [];
  const recorded = new Map<number, { candidate: Measurement[]; base: Measurement[] }>();
  for (const { planned, candidate } of attempts) {
    const lists: { candidate: Measurement[]; base: Measurement[] } = { candidate: [], base: [] };
    for (const event of events) {
      if (event?.type !== 'verdict' || event.n !== planned.n || !event.fresh || event.of === 'seed') continue;
      const { of, record, outputs } = event;
      const where = of === 'base' ? `the base beside transition ${planned.n}` : `transition ${planned.n}`;
      const row = await objects.verdict(record, of === 'base' ? null : (stored.get(planned.n)?.verdict ?? null));
      if (row === null) {
        findings.lacks(where, 'its verdict is not stored');
        continue;
      }
      sources.push({ where: `verdict of ${where}`, row, of, n: planned.n });
      const tree = of === 'base' ? head.tree : (candidate?.tree ?? null);
      if (tree === null || row.kind === 'invalid') continue;
      const read = readMeasurements({ contract, tree, stored: row, where, outputs: objects.outputs(outputs) }, findings);
      lists[of].push(...read.measurements);
      state.host += read.host;
    }
    recorded.set(planned.slot, lists);
  }

  const made = new Map<number, SlotMeasurements>(plan.slots.map(({ slot }) => [slot, { candidate: [], base: [] }]));
  const madeFor = (slot: number) => ensure(made.get(slot), `measurements of slot ${slot}`);
  const allowances = new Map(plan.slots.map((planned) => [planned.slot, createAllowance(planned, contract, header.budget)]));
  const measure = ({ planned: { slot, n } }: Attempt, of: 'candidate' | 'base'): Measurement | null => {
    const allowance = ensure(allowances.get(slot), `allowance of slot ${slot}`);
    if (!allowance.has()) return null;
    const next = recorded.get(slot)?.[of][madeFor(slot)[of].length];
    if (next === undefined) {
      findings.lacks(
        of === 'base' ? `the base beside transition ${n}` : `transition ${n}`,
        'the rules ask for a measurement that is not stored',
      );
      return null;
    }
    allowance.spend(next);
    madeFor(slot)[of].push(next);
    return next;
  };
  const unmeasured = (attempt: Attempt): Measurement => ({
    verdict: { kind: 'no_verdict', code: 'infra', message: `no measurement of attempt ${attempt.planned.n} is stored`, runs: [] },
    runs: [],
    blobs: [],
    ms: 0,
    retries: 0,
    aborted: false,
  });
  for (const attempt of attempts) {
    if (attempt.standing.kind !== 'unknown') continue;
    if (measure(attempt, 'candidate') === null) madeFor(attempt.planned.slot).candidate.push(unmeasured(attempt));
  }
  const decision = decideRound({
    head: { id: head.id, contract: head.contract, rank: head.rank, tree: head.tree },
    obligations: contract.obligations,
    slots: attempts.map((attempt) => slotInput(attempt, contract.sha, madeFor(attempt.planned.slot).candidate)),
  });
  const confirmed = ensure(
    await confirmRound({
      decision,
      contract,
      attempts,
      measurements: madeFor,
      measure: (attempt, of) => Promise.resolve(measure(attempt, of)),
    }),
    'confirmation without an abort',
  );
  const finished = finishRound(decision, confirmed.winner, confirmed.confirmations);
  const registrations = registerRound(contract, state.registered, requestsOf(state.proposer, proposed));
  const said = new Map<number, readonly AutoOutput[] | null>();
  for (const { planned } of attempts) said.set(planned.n, await outputsOf(state, planned.n, { events, stored, objects }));
  const slots = attempts.map((attempt, i): SlotRecord => {
    const { planned } = attempt;
    const asked = ensure(registrations.slots[i], `requests of slot ${planned.slot}`);
    const outputs = said.get(planned.n) ?? null;
    const { candidate, base } = madeFor(planned.slot);
    for (const what of ['candidate', 'base'] as const) {
      const there = recorded.get(planned.slot)?.[what].length ?? 0;
      const used = madeFor(planned.slot)[what].length;
      if (there > used) findings.mismatch(`transition ${planned.n}`, `measurements of the ${what}`, there, used);
    }
    return {
      attempt,
      final: ensure(finished.slots[i], `outcome of slot ${planned.slot}`),
      measurements: candidate,
      baseMeasurements: base,
      registrations: asked,
      outputs: outputs ?? [],
      // An earlier version kept of what commands said only the excerpt.
      auto:
        outputs === null && contract.auto.length > 0 && attempt.standing.kind === 'unknown'
          ? autoPart(excerptIn(stored.get(planned.n)))
          : autoText(contract.obligations, outputs ?? [], asked),
      cost: costOf(header, planned, [...candidate, ...base], stored.get(planned.n)),
    };
  });
  return { slots, sources, registered: registrations.registered };
}

/**
 * What automatic commands said during an attempt, taken as it was recorded: they decide nothing and are not run again. Null: no line speaks
 * of any.
 */
async function outputsOf(
  { findings }: Replaying,
  n: number,
  { events, stored, objects }: Pick<RoundFacts, 'events' | 'stored' | 'objects'>,
): Promise<readonly AutoOutput[] | null> {
  const line = events.find((event) => event?.type === 'auto' && event.n === n);
  if (line?.type !== 'auto') return null;
  const outputs: AutoOutput[] = [];
  for (const [i, { tree, at, record: commitment }] of line.outputs.entries()) {
    const record = await objects.bytes(commitment, stored.get(n)?.outputs[i]?.record ?? null);
    const output = record === null ? null : outputIn(record.bytes);
    if (output === null) findings.lacks(`transition ${n}`, `what automatic command ${i + 1} said is not stored`);
    // Something has to stand in its place, or every line after it would be another one's.
    outputs.push(output ?? { format: 'pawl.auto/1', name: '', command: [], tree, at, ending: '', output: '' });
  }
  return outputs;
}

function outputIn(bytes: Uint8Array): AutoOutput | null {
  return AutoOutput.safeParse(jsonOf(new TextDecoder().decode(bytes))).data ?? null;
}

const excerptIn = (row: ReplayTransition | undefined): string => {
  const excerpt = membersOf(row?.memory?.body ?? '')?.['excerpt'];
  return typeof excerpt === 'string' ? excerpt : '';
};

// What a server reported of its tokens, and how long a round took, stands in the record and nowhere else; the rest is counted again.
function costOf(
  { proposer }: RunHeader,
  planned: PlannedSlot,
  measurements: readonly Measurement[],
  row: ReplayTransition | undefined,
): Cost {
  const said = costIn(row);
  const reported = said === null ? planned.reserved : addAmounts(said.charged, said.overshoot);
  const free = proposer.kind === 'search' ? { requests: 1, promptTokens: 0, completionTokens: 0 } : {};
  return settleCost(planned.reserved, {
    ...reported,
    ...free,
    attempts: 1,
    rounds: planned.slot === 0 ? 1 : 0,
    wallMs: planned.slot === 0 ? reported.wallMs : 0,
    verifierRuns: measurements.reduce((sum, { runs }) => sum + runs.length, 0),
    verifierMs: measurements.reduce((sum, { ms }) => sum + ms, 0),
  });
}

function streakAfter(before: number, slots: readonly SlotRecord[]): number {
  return slots.reduce((streak, { final }) => {
    if (final.outcome === 'no_verdict') return streak + 1;
    return final.verdict?.kind === 'ranked' && final.verdictSource === 'fresh' ? 0 : streak;
  }, before);
}

// Zero rank and a dead verifier end a run whatever else does; a used-up budget and a user's wish are taken as recorded.
function expectedStop({ streak, header }: Replaying, slots: readonly SlotRecord[], said: Stop | null): Stop | null {
  const winner = slots.find(({ final }) => final.outcome === 'commit');
  if (winner?.final.verdict?.kind === 'ranked' && winner.final.verdict.rank.every((r) => r === 0))
    return { reason: 'zero_rank', note: null };
  if (streakAfter(streak, slots) >= header.verifierDeadAfter) return { reason: 'verifier_dead', note: null };
  return said !== null && said.reason !== 'zero_rank' && said.reason !== 'verifier_dead' ? said : null;
}

type Comparison = {
  readonly commit: CommitRound;
  readonly stored: ReadonlyMap<number, ReplayTransition>;
  readonly slots: readonly SlotRecord[];
  readonly from: number;
  readonly to: number;
  readonly sources: readonly Source[];
};

function compareRows(state: Replaying, { commit, stored, slots, from, to, sources }: Comparison): void {
  const { findings } = state;
  const context = rowContext(state);
  const head = ensure(state.head, 'head of a round');
  const entries = new Map(commit.memory.map((entry) => [entry.transition, entry]));
  for (const [i, t] of commit.transitions.entries()) {
    const row = stored.get(t.n);
    if (row === undefined) {
      findings.mismatch(`transition ${t.n}`, 'row', null, t.outcome);
      continue;
    }
    compareTransition(context, row, t, {
      verdict: slots[i]?.final.verdict ?? null,
      baseSeq: head.seq,
      bundleSeq: t.bundle === null ? null : head.seq + 1,
      span: { from, to },
    });
    compareMemory(context, t.n, row.memory, entries.get(t.n) ?? null);
    compareAutos(context, t.n, row, commit.autos);
    if (t.bundle !== null && commit.bundle !== null) compareBundle(context, row.certified, commit.bundle);
    else if (row.certified !== null) findings.mismatch(`bundle ${head.seq + 1}`, 'row', row.certified.id, null);
  }
  for (const { where, row, of, n } of sources) {
    const t = commit.transitions.find((made) => made.n === n);
    const sha = of === 'candidate' ? (t?.verdict ?? null) : null;
    const input =
      of === 'candidate'
        ? commit.verdicts.find((v) => v.sha === sha)
        : (commit.verdicts.find((v) => v.sha === row.sha) ?? commit.verdicts.find((v) => v.tree === head.tree));
    if (input === undefined) findings.mismatch(where, 'row', row.sha, sha);
    else compareVerdict(context, where, row, input);
    state.verdicts++;
  }
}

function advance(
  state: Replaying,
  commit: CommitRound,
  slots: readonly SlotRecord[],
  stored: ReadonlyMap<number, ReplayTransition>,
  stop: Stop | null,
): void {
  const { length } = commit.transitions;
  state.nextN += length;
  state.nextRound++;
  if (slots.length > 0) {
    state.nextDraw += length;
    state.streak = streakAfter(state.streak, slots);
  }
  for (const { outcome, cost } of commit.transitions) {
    state.counts[outcome]++;
    state.used = addAmounts(state.used, cost.charged);
    state.overshoot = addAmounts(state.overshoot, cost.overshoot);
  }
  state.memories += commit.memory.length;
  state.stop = commit.stop?.reason ?? stop?.reason ?? null;
  const kept = winnerOf(state, commit, slots, stored);
  if (kept === null) return;
  state.head = kept.bundle;
  state.headFiles = kept.files;
  state.bundles++;
}

// Where the stored winner is another than the recomputed one, all that follows was tried on the stored one. The difference has been named.
function winnerOf(
  { run, headerSha }: Replaying,
  { bundle }: CommitRound,
  slots: readonly SlotRecord[],
  stored: ReadonlyMap<number, ReplayTransition>,
): { bundle: CertifiedBundle; files: readonly TreeFile[] } | null {
  const filesOf = (n: number) => slots.find(({ attempt }) => attempt.planned.n === n)?.attempt.candidate;
  const own = bundle === null || bundle.transition === null ? undefined : filesOf(bundle.transition);
  if (bundle !== null && own !== undefined && own !== null && stored.get(bundle.transition ?? 0)?.certified?.tree === bundle.tree)
    return { bundle, files: own.files };
  for (const [n, row] of stored) {
    const candidate = filesOf(n);
    if (row.certified !== null && candidate?.tree === row.certified.tree) {
      const claimed = claimedBundle(row.certified, run, headerSha);
      if (claimed !== null) return { bundle: claimed, files: candidate.files };
    }
  }
  return bundle === null || own === undefined || own === null ? null : { bundle, files: own.files };
}

function claimedBundle(row: StoredBundle, run: RunId, header: Sha): CertifiedBundle | null {
  const parsed = CertifiedBundle.safeParse({
    format: 'pawl.bundle/1',
    header,
    era: row.era,
    seq: row.key % 2 ** 32,
    edge: row.edge,
    parent: row.parent,
    contract: row.contract,
    tree: row.tree,
    latent: null,
    rank: jsonOf(row.rank),
    potential: row.potential,
    summary: row.summary,
    id: row.id,
    run,
    verdict: row.verdict,
    summaryText: row.summary_text,
    transition: row.transition,
  });
  return parsed.success ? parsed.data : null;
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
