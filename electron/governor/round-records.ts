// What one round leaves behind, as the input of one transaction. Nothing is decided here.
import { hash } from 'node:crypto';
import { abortedMemory, abortedTransition } from '#shared/domain/aborted.ts';
import { bundleId, summaryText } from '#shared/domain/bundle-id.ts';
import { aggregateVerdicts, runsOf } from '#shared/domain/aggregate.ts';
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import type { Amounts, Cost } from '#shared/domain/budget.ts';
import type { BundleBody, CertifiedBundle } from '#shared/domain/bundle.ts';
import { type Contract, isTamperEvidentOnly } from '#shared/domain/contract.ts';
import type { FinalSlot } from '#shared/domain/decide.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { type AutoOutput, type AutoRequestRecord, joinEvidence, recordText, requestRecord } from '#shared/domain/auto-evidence.ts';
import type { Registration } from '#shared/domain/auto-registry.ts';
import { excerptFor, memoryEntry } from '#shared/domain/memory-entry.ts';
import type { MemoryEntry } from '#shared/domain/memory.ts';
import { potential } from '#shared/domain/rank.ts';
import type { StopReason, Transition, VerdictSource } from '#shared/domain/transition.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import { ensure } from '#shared/lib/assert.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import type { AutoRows, BlobInput, CommitRound, TreeInput, VerdictInput } from '#electron/store/api.ts';
import type { Verification } from '#electron/verifiers/api.ts';
import type { Attempt, Proposed } from './attempt.ts';
import { addVerdictEvent, createEventWriter, type EventWriter } from './event-writer.ts';
import type { Measurement } from './measure.ts';
import type { RoundPlan } from './reservation.ts';
import type { GovernorDeps } from './types.ts';
import { verdictRecord } from './verdict-record.ts';

export type RoundContext = {
  readonly run: RunId;
  readonly headerSha: Sha;
  readonly contract: Contract;
  readonly head: CertifiedBundle;
  readonly headFiles: readonly TreeFile[];
};

export type Stop = { readonly reason: StopReason; readonly note: string | null };

/** One slot with everything that happened to it. Both lists in order; what its verdict came from are all measurements of the candidate. */
export type SlotRecord = {
  readonly attempt: Attempt;
  readonly final: FinalSlot;
  readonly measurements: readonly Measurement[];
  /** Of the head's tree, made beside those of the candidate. */
  readonly baseMeasurements: readonly Measurement[];
  /** What the response asked to have registered, and what became of it. */
  readonly registrations: readonly Registration[];
  /** What automatic commands said on the way to the candidate and about it. */
  readonly outputs: readonly AutoOutput[];
  /** The same as a part of the excerpt, from `autoText`; empty without any. */
  readonly auto: string;
  readonly cost: Cost;
};

/** The SHA-256 of the verdict that stands beside each transition, for the cache of the loop. */
export type FinishedRecords = {
  readonly commit: CommitRound;
  readonly bundle: CertifiedBundle | null;
  readonly verdicts: readonly {
    readonly tree: Sha | null;
    readonly sha: Sha;
    readonly verdict: Verdict;
    readonly outcome: FinalSlot['outcome'];
  }[];
};

const sumCosts = (costs: readonly Cost[]): { charged: Amounts; overshoot: Amounts } => ({
  charged: costs.reduce((sum, { charged }) => addAmounts(sum, charged), noAmounts()),
  overshoot: costs.reduce((sum, { overshoot }) => addAmounts(sum, overshoot), noAmounts()),
});

const ranFreely = (verdict: Verdict): boolean => runsOf(verdict).some(({ unsandboxed }) => unsandboxed === true);

const rankOf = (verdict: Verdict | null): Rank | null => (verdict?.kind === 'ranked' ? verdict.rank : null);

function addDecision(writer: EventWriter, t: Transition, rank: Rank | null): void {
  const { n, round, slot, base, outcome, tree, bundle, duplicateOf, verdictSource } = t;
  writer.add({ type: 'decision', body: { n, round, slot, base, outcome, tree, rank, bundle, duplicateOf, verdictSource } });
}

function addProposal(
  writer: EventWriter,
  round: number,
  { planned, proposal, request, response, retrieved }: Proposed,
  tree: Sha | null,
): void {
  writer.add({
    type: 'proposal',
    body: {
      n: planned.n,
      round,
      slot: planned.slot,
      request: writer.commit(request, proposal.request),
      response: response === null || proposal.response === null ? null : writer.commit(response, proposal.response),
      tree,
      retrieved: [...retrieved],
      featuresShown: null,
    },
  });
}

type Kept = { readonly sha: Sha; readonly bytes: Uint8Array };

const keep = (blobs: Map<Sha, BlobInput>, record: AutoOutput | AutoRequestRecord): Kept => {
  const bytes = new TextEncoder().encode(recordText(record));
  const sha = hash('sha256', bytes, 'hex');
  blobs.set(sha, { sha, bytes });
  return { sha, bytes };
};

function addRegistrations(
  writer: EventWriter,
  blobs: Map<Sha, BlobInput>,
  round: number,
  { attempt, registrations }: SlotRecord,
): AutoRows['registrations'] {
  const { n, slot } = attempt.planned;
  return registrations.map((registration, position) => {
    const { refusal } = registration;
    const { sha, bytes } = keep(blobs, requestRecord(registration));
    writer.add({ type: 'register', body: { n, round, slot, request: writer.commit(sha, bytes), refusal } });
    return { n, position, record: sha, refusal };
  });
}

function addOutputs(writer: EventWriter, blobs: Map<Sha, BlobInput>, n: number, outputs: readonly AutoOutput[]): AutoRows['outputs'] {
  if (outputs.length === 0) return [];
  const kept = outputs.map((output) => ({ output, ...keep(blobs, output) }));
  writer.add({
    type: 'auto',
    body: { n, outputs: kept.map(({ output: { tree, at }, sha, bytes }) => ({ tree, at, record: writer.commit(sha, bytes) })) },
  });
  return kept.map(({ output: { tree }, sha }, position) => ({ n, position, tree, record: sha }));
}

function addStop(writer: EventWriter, stop: Stop | null): void {
  if (stop !== null) writer.add({ type: 'stop', body: { reason: stop.reason } });
}

const outputsOf = (measurements: readonly Verification[]): Map<Sha, Uint8Array> => {
  const named = new Set(measurements.flatMap(({ runs }) => runs.flatMap(({ output }) => (output === null ? [] : [output]))));
  return new Map(measurements.flatMap(({ blobs }) => blobs.flatMap(({ sha, bytes }) => (named.has(sha) ? [[sha, bytes] as const] : []))));
};

const decoder = new TextDecoder();

const outputText = (measurement: Measurement | undefined): string =>
  measurement === undefined ? '' : [...outputsOf([measurement]).values()].map((bytes) => decoder.decode(bytes)).join('\n');

/** The transaction of a decided round. `stop` is what ends the run together with it. */
export function finishedRecords(
  deps: Pick<GovernorDeps, 'now' | 'salt' | 'changes'>,
  context: RoundContext,
  plan: RoundPlan,
  slots: readonly SlotRecord[],
  stop: Stop | null,
): FinishedRecords {
  const { run, contract, head, headFiles, headerSha } = context;
  const writer = createEventWriter(deps.salt);
  const blobs = new Map<Sha, BlobInput>();
  const trees = new Map<Sha, TreeInput>();
  const verdicts = new Map<Sha, VerdictInput>();
  const transitions: Transition[] = [];
  const memory: MemoryEntry[] = [];
  const kept: FinishedRecords['verdicts'][number][] = [];
  let bundle: CertifiedBundle | null = null;

  const rows: { registrations: AutoRows['registrations'][number][]; outputs: AutoRows['outputs'][number][] } = {
    registrations: [],
    outputs: [],
  };

  for (const { attempt } of slots) addProposal(writer, plan.round, attempt, attempt.candidate?.tree ?? null);
  for (const slot of slots) rows.registrations.push(...addRegistrations(writer, blobs, plan.round, slot));

  for (const { attempt, final, measurements, baseMeasurements, outputs, auto, cost } of slots) {
    const { planned, candidate, standing } = attempt;
    const tree = candidate?.tree ?? null;
    const verdict = final.verdict;
    const last = measurements.at(-1);
    const source: VerdictSource = verdict === null ? 'none' : final.verdictSource;
    let verdictSha: Sha | null = null;
    if (standing.kind === 'cached') {
      addVerdictEvent(writer, {
        n: planned.n,
        of: 'candidate',
        tree,
        contract: contract.sha,
        verdict: standing.cached.verdict,
        source: 'cache',
        outputs: new Map(),
      });
      verdictSha = standing.cached.sha;
    }
    if (verdict !== null && source === 'fresh') {
      verdictSha = verdictRecord(tree, contract.sha, verdict).sha;
      verdicts.set(verdictSha, { sha: verdictSha, tree, contract: contract.sha, verdict, runs: measurements.flatMap(({ runs }) => runs) });
      addVerdictEvent(writer, {
        n: planned.n,
        of: 'candidate',
        tree,
        contract: contract.sha,
        verdict,
        source,
        outputs: outputsOf(measurements),
      });
      for (const { blobs: made } of measurements) for (const blob of made) blobs.set(blob.sha, blob);
      kept.push({ tree, sha: verdictSha, verdict, outcome: final.outcome });
    }
    if (baseMeasurements.length > 0) {
      const ofBase = aggregateVerdicts(
        contract,
        baseMeasurements.map((m) => m.verdict),
      );
      const { sha } = verdictRecord(head.tree, contract.sha, ofBase);
      verdicts.set(sha, {
        sha,
        tree: head.tree,
        contract: contract.sha,
        verdict: ofBase,
        runs: baseMeasurements.flatMap(({ runs }) => runs),
      });
      addVerdictEvent(writer, {
        n: planned.n,
        of: 'base',
        tree: head.tree,
        contract: contract.sha,
        verdict: ofBase,
        source: 'fresh',
        outputs: outputsOf(baseMeasurements),
      });
      for (const { blobs: made } of baseMeasurements) for (const blob of made) blobs.set(blob.sha, blob);
    }
    if (candidate !== null && standing.kind !== 'duplicate' && standing.kind !== 'cached') {
      trees.set(candidate.tree, { tree: candidate.tree, manifest: candidate.manifest });
      addTreeBlobs(blobs, candidate, headFiles);
    }
    for (const observed of attempt.observed.trees) {
      trees.set(observed.tree, { tree: observed.tree, manifest: observed.manifest });
      addTreeBlobs(blobs, observed, headFiles);
    }
    rows.outputs.push(...addOutputs(writer, blobs, planned.n, outputs));
    const { changes, hunks } = candidate === null ? { changes: [], hunks: [] } : deps.changes(headFiles, candidate.files);
    const certified: CertifiedBundle | null =
      final.outcome === 'commit'
        ? certify({
            context,
            headerSha,
            n: planned.n,
            tree: ensure(tree, 'tree of the winner'),
            rank: ensure(rankOf(verdict), 'rank of the winner'),
            verdict: ensure(verdictSha, 'verdict of the winner'),
            changes,
          })
        : null;
    bundle ??= certified;
    transitions.push({
      run,
      n: planned.n,
      round: plan.round,
      slot: planned.slot,
      base: head.id,
      request: attempt.request,
      response: attempt.response,
      retrieved: [...attempt.retrieved],
      featuresShown: null,
      tree,
      duplicateOf: final.duplicateOf,
      verdict: verdictSha,
      verdictSource: source,
      outcome: final.outcome,
      bundle: certified?.id ?? null,
      cost,
    });
    if (final.outcome !== 'commit') {
      memory.push(
        memoryEntry({
          run,
          contract: contract.sha,
          transition: planned.n,
          base: head.id,
          baseRank: head.rank,
          tree,
          outcome: final.outcome,
          verdict,
          changes,
          hunks,
          excerpt: joinEvidence(
            excerptFor(
              contract.obligations,
              verdict?.kind === 'ranked' ? verdict.details : {},
              outputText(last),
              verdict !== null && verdict.kind !== 'invalid' && isTamperEvidentOnly(contract, ranFreely(verdict)),
            ),
            auto,
          ),
          note: null,
        }),
      );
    }
  }
  for (const [i, t] of transitions.entries()) addDecision(writer, t, rankOf(slots[i]?.final.verdict ?? null));
  addStop(writer, stop);

  const commit: CommitRound = {
    run,
    at: deps.now(),
    round: plan.round,
    blobs: [...blobs.values()],
    trees: [...trees.values()],
    salts: writer.salts,
    verdicts: [...verdicts.values()],
    transitions,
    memory,
    bundle,
    expectedHead: head.id,
    ...sumCosts(slots.map(({ cost }) => cost)),
    events: writer.events,
    ...(rows.registrations.length + rows.outputs.length === 0 ? {} : { autos: rows }),
    stop,
  };
  return { commit, bundle, verdicts: kept };
}

/** The transaction of a round that is not decided: every slot `aborted`, charged at its reservation (`cost`, in slot order). */
export function abortedRecords(
  deps: Pick<GovernorDeps, 'now' | 'salt'>,
  { run, contract, head }: RoundContext,
  plan: RoundPlan,
  proposed: readonly Proposed[] | null,
  costs: readonly Cost[],
  stop: Stop | null,
): CommitRound {
  const writer = createEventWriter(deps.salt);
  for (const p of proposed ?? []) addProposal(writer, plan.round, p, null);
  const transitions = plan.slots.map(({ n, slot }, i) =>
    abortedTransition({
      run,
      n,
      round: plan.round,
      slot,
      base: head.id,
      request: proposed?.[i]?.request ?? null,
      response: proposed?.[i]?.response ?? null,
      retrieved: [...(proposed?.[i]?.retrieved ?? [])],
      featuresShown: null,
      cost: ensure(costs[i], `cost of slot ${slot}`),
    }),
  );
  for (const t of transitions) addDecision(writer, t, null);
  addStop(writer, stop);
  return {
    run,
    at: deps.now(),
    round: plan.round,
    blobs: [],
    trees: [],
    salts: writer.salts,
    verdicts: [],
    transitions,
    memory: transitions.map((t) => abortedMemory(t, contract.sha, head.rank)),
    bundle: null,
    expectedHead: head.id,
    ...sumCosts(costs),
    events: writer.events,
    stop,
  };
}

// Files that the head has already are stored already.
function addTreeBlobs(blobs: Map<Sha, BlobInput>, candidate: NonNullable<Attempt['candidate']>, headFiles: readonly TreeFile[]): void {
  const known = new Map(headFiles.map(({ path, bytes }) => [path, bytes]));
  const files = new Map(candidate.files.map(({ path, bytes }) => [path, bytes]));
  for (const { path, sha } of candidate.manifest) {
    const bytes = ensure(files.get(path), `bytes of ${path}`);
    if (known.get(path) !== bytes) blobs.set(sha, { sha, bytes });
  }
}

type Winner = {
  readonly context: RoundContext;
  readonly headerSha: Sha;
  readonly n: number;
  readonly tree: Sha;
  readonly rank: Rank;
  readonly verdict: Sha;
  readonly changes: Parameters<typeof summaryText>[0]['changes'];
};

function certify({ context: { run, contract, head }, headerSha, n, tree, rank, verdict, changes }: Winner): CertifiedBundle {
  const text = summaryText({ changes, obligations: contract.obligations, before: head.rank, after: rank, edge: 'commit' });
  const body: BundleBody = {
    format: 'pawl.bundle/1',
    header: headerSha,
    era: head.era,
    seq: head.seq + 1,
    edge: 'commit',
    parent: head.id,
    contract: contract.sha,
    tree,
    latent: null,
    rank,
    potential: potential(rank),
    summary: sha256Text(text),
  };
  return { ...body, id: bundleId(body), run, verdict, summaryText: text, transition: n };
}
