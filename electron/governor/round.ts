// One barrier round: open, propose, verify, decide, commit. Semantics, section 5. The decision itself is shared/domain/decide.ts, which
// sees ranks and trees only; neither memory nor prompts are imported on the way to it (I13).
import { assertNever, ensure } from '#shared/lib/assert.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import type { Usage } from '#shared/domain/budget-ledger.ts';
import type { Amounts } from '#shared/domain/budget.ts';
import { decideRound, finishRound, type SlotInput } from '#shared/domain/decide.ts';
import type { Proposer } from '#electron/proposers/proposer.ts';
import type { VerifyRequest } from '#electron/verifiers/api.ts';
import { autoText } from '#shared/domain/auto-evidence.ts';
import { type AutoCommand, autoCommands, type AutoRequest, registerRound } from '#shared/domain/auto-registry.ts';
import { type AutoRunner, createAutoDesk } from './auto-desk.ts';
import { runAutos } from './auto-round.ts';
import { type Attempt, type NamedTree, type Proposed, readAttempts } from './attempt.ts';
import { memoryView } from '#shared/domain/retrieve.ts';
import { mapBounded } from './bounded.ts';
import { confirmRound, type SlotMeasurements } from './confirm-round.ts';
import { measure, type Measurement } from './measure.ts';
import { refuseLost } from './runner-lost.ts';
import { createAllowance, type RoundPlan, verifyDeadlineMs } from './reservation.ts';
import type { GovernorDeps, GovernorStart } from './types.ts';
import type { RoundContext, SlotRecord } from './round-records.ts';
import type { VerdictCache } from './verdict-cache.ts';

export type RoundInput = {
  readonly context: RoundContext;
  readonly plan: RoundPlan;
  readonly start: Pick<GovernorStart, 'header' | 'verifierFiles'>;
  readonly cache: VerdictCache;
  /** Automatic commands that proposers have registered so far. */
  readonly registered: readonly AutoCommand[];
  /** Aborts proposing and verifying; what it means for the round is for the loop to say. */
  readonly signal: AbortSignal;
  /** Told once the proposals are durable: an aborted round names them. */
  readonly onProposed: (proposed: readonly Proposed[]) => void;
};

type MeasuredTree = Pick<NamedTree, 'tree' | 'files'>;

/** Every slot with its measurements and what it used, not yet settled; or null: something was ended before it was done. */
export type DecidedRound = {
  readonly slots: readonly Omit<SlotRecord, 'cost'>[];
  readonly usage: readonly Usage[];
  /** Automatic commands that are registered after the round. */
  readonly registered: readonly AutoCommand[];
};

/** Proposes, verifies and decides an opened round. Null: it was aborted before everything that it began had ended. Throws `RunnerLost`. */
export async function runRound(deps: GovernorDeps, input: RoundInput): Promise<DecidedRound | null> {
  const { context, plan, start, cache, signal } = input;
  const proposed = await propose(deps, input);
  if (proposed === null) return null;
  const { head, headFiles, contract } = context;
  const attempts = readAttempts({ proposer: deps.proposer, check: deps.check, base: headFiles, baseTree: head.tree, cache }, proposed);

  const measurements = new Map<number, SlotMeasurements>(plan.slots.map(({ slot }) => [slot, { candidate: [], base: [] }]));
  const measurementsOf = (slot: number) => ensure(measurements.get(slot), `measurements of slot ${slot}`);
  const allowances = new Map(plan.slots.map((planned) => [planned.slot, createAllowance(planned, contract, start.header.budget)]));
  const baseTree: MeasuredTree = { tree: head.tree, files: headFiles };
  const measureFor = async ({ planned: { slot }, candidate }: Attempt, of: 'candidate' | 'base'): Promise<Measurement | null> => {
    const allowance = ensure(allowances.get(slot), `allowance of slot ${slot}`);
    if (!allowance.has()) return null;
    const tree = of === 'base' ? baseTree : ensure(candidate, `candidate of slot ${slot}`);
    const limits = { retries: allowance.retries(), deadlineMs: verifyDeadlineMs(contract) };
    const result = await measure(deps, verifyRequest(input, tree), limits, signal);
    allowance.spend(result);
    measurementsOf(slot)[of].push(result);
    return result;
  };
  const unknown = attempts.filter(({ standing }) => standing.kind === 'unknown');
  // Each slot's executions were reserved with the round, lowest slot first: dispatching them in any order changes nothing.
  const measured = await mapBounded(unknown, deps.verifiers.concurrency, (attempt) =>
    signal.aborted ? Promise.resolve(null) : measureFor(attempt, 'candidate'),
  );
  if (measured.some((m) => m === null || m.aborted)) return null;
  refuseLost(deps.verifiers);

  const decision = decideRound({
    head: { id: head.id, contract: head.contract, rank: head.rank, tree: head.tree },
    obligations: contract.obligations,
    slots: attempts.map((attempt) => slotInput(attempt, contract.sha, measurementsOf(attempt.planned.slot).candidate)),
  });
  const confirmed = await confirmRound({
    decision,
    contract,
    attempts,
    measurements: measurementsOf,
    measure: (attempt, of) => measureFor(attempt, of),
  });
  if (confirmed === null) return null;
  refuseLost(deps.verifiers);
  const finished = finishRound(decision, confirmed.winner, confirmed.confirmations);
  const registrations = registerRound(contract, input.registered, requestsOf(deps.proposer, attempts));
  const commands = autoCommands(contract, registrations.registered);
  const autos = await runAutos(autoRunner(deps, input), commands, attempts, deps.verifiers.concurrency, signal);
  refuseLost(deps.verifiers);
  const slots = attempts.map((attempt, i) => {
    const { candidate, base } = measurementsOf(attempt.planned.slot);
    const outputs = [...attempt.observed.outputs, ...(autos.get(attempt.planned.slot) ?? [])];
    const asked = ensure(registrations.slots[i], `requests of slot ${attempt.planned.slot}`);
    return {
      attempt,
      final: ensure(finished.slots[i], `outcome of slot ${attempt.planned.slot}`),
      measurements: candidate,
      baseMeasurements: base,
      registrations: asked,
      outputs,
      auto: autoText(contract.obligations, outputs, asked),
    };
  });
  return {
    slots,
    usage: slots.map(({ attempt, measurements: own, baseMeasurements }) => usageOf(attempt, [...own, ...baseMeasurements])),
    registered: registrations.registered,
  };
}

/** What the stored responses of a round ask to have registered, in slot order. */
export function requestsOf(
  { registrations }: Pick<Proposer, 'registrations'>,
  proposed: readonly Pick<Proposed, 'proposal'>[],
): readonly (readonly AutoRequest[])[] {
  return proposed.map(({ proposal: { response } }) => (response === null ? [] : (registrations?.(response) ?? [])));
}

const autoRunner = ({ autos }: GovernorDeps, input: RoundInput): AutoRunner => ({
  contract: input.context.contract,
  service: autos,
  request: (tree) => verifyRequest(input, tree),
});

async function propose(deps: GovernorDeps, input: RoundInput): Promise<readonly Proposed[] | null> {
  const { context, plan, start, registered, signal, onProposed } = input;
  const { head, headFiles, contract, run } = context;
  const limits = deps.proposer.memory;
  const shown = limits === undefined ? [] : await deps.store.retrieveMemory({ run, limits });
  if (signal.aborted) return null;
  const memory = shown.map((entry) => memoryView(entry, contract));
  const retrieved = shown.map(({ id }) => id);
  const { seed } = start.header;
  const { writable } = contract.artifact;
  const desks = plan.slots.map(() => createAutoDesk(autoRunner(deps, input), registered, (files) => deps.check(headFiles, files)));
  const answers = await Promise.allSettled(
    plan.slots.map(({ n, slot, draw }, i) => {
      const { desk: autos } = ensure(desks[i], `desk of slot ${slot}`);
      const { tree: baseTree, rank } = head;
      return deps.proposer.propose({ n, draw, slot, seed, baseTree, base: headFiles, rank, writable, memory, autos }, signal);
    }),
  );
  if (signal.aborted) return null;
  // The proposer's own program runs there too.
  refuseLost(deps.verifiers);
  const proposed = answers.map((answer, i): Proposed => {
    if (answer.status === 'rejected') throw answer.reason;
    const { request, response } = answer.value;
    const planned = ensure(plan.slots[i], `slot ${i} of the plan`);
    return {
      planned,
      proposal: answer.value,
      request: sha256Hex(request),
      response: response === null ? null : sha256Hex(response),
      retrieved,
      observed: ensure(desks[i], `desk of slot ${i}`).observed(),
    };
  });
  await deps.store.storeProposals({
    run,
    at: deps.now(),
    items: proposed.map(({ planned, proposal, request, response }) => ({
      n: planned.n,
      request: { sha: request, bytes: proposal.request },
      response: response === null || proposal.response === null ? null : { sha: response, bytes: proposal.response },
    })),
    salts: [],
    events: [],
  });
  onProposed(proposed);
  return proposed;
}

function verifyRequest({ context, start }: RoundInput, { tree, files }: MeasuredTree): VerifyRequest {
  const { verifierProgram: program, unsandboxed = false } = start.header;
  return { contract: context.contract, tree, files, verifierFiles: start.verifierFiles, program, unsandboxed };
}

export function slotInput({ planned, candidate, standing }: Attempt, contract: string, measurements: readonly Measurement[]): SlotInput {
  const base = { slot: planned.slot, tree: candidate?.tree ?? null, contract, duplicateOf: null, aborted: false } as const;
  switch (standing.kind) {
    case 'duplicate':
      return { ...base, verdict: null, verdictSource: 'none', duplicateOf: standing.of };
    case 'invalid':
      return { ...base, verdict: standing.verdict, verdictSource: 'fresh' };
    case 'cached':
      return { ...base, verdict: standing.cached.verdict, verdictSource: 'cache' };
    case 'unknown':
      return {
        ...base,
        verdict: ensure(measurements[0], `measurement of slot ${planned.slot}`).verdict,
        verdictSource: 'fresh',
      };
    default:
      return assertNever(standing, 'standing of an attempt');
  }
}

function usageOf({ proposal }: Attempt, measurements: readonly Measurement[]): Usage {
  const usage: Partial<Amounts> = proposal.usage === 'missing' ? {} : proposal.usage;
  return {
    ...usage,
    attempts: 1,
    verifierRuns: measurements.reduce((sum, { runs }) => sum + runs.length, 0),
    verifierMs: measurements.reduce((sum, { ms }) => sum + ms, 0),
  };
}
