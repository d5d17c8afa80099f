// One barrier round: open, propose, verify, decide, commit. Semantics, section 5. The decision itself is shared/domain/decide.ts, which
// sees ranks and trees only; neither memory nor prompts are imported on the way to it (I13).
import { assertNever, ensure } from '#shared/lib/assert.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import type { Usage } from '#shared/domain/budget-ledger.ts';
import type { Amounts } from '#shared/domain/budget.ts';
import { type Confirmation, decideRound, finishRound, type RoundDecision, type SlotInput } from '#shared/domain/decide.ts';
import type { Rank } from '#shared/domain/verdict.ts';
import type { VerifyRequest } from '#electron/verifiers/api.ts';
import { type Attempt, type NamedTree, type Proposed, readAttempts } from './attempt.ts';
import { mapBounded } from './bounded.ts';
import { measure, type Measurement } from './measure.ts';
import { type PlannedSlot, type RoundPlan, verifyDeadlineMs } from './reservation.ts';
import type { GovernorDeps, GovernorStart } from './types.ts';
import type { RoundContext, SlotRecord } from './round-records.ts';
import type { VerdictCache } from './verdict-cache.ts';

export type RoundInput = {
  readonly context: RoundContext;
  readonly plan: RoundPlan;
  readonly start: Pick<GovernorStart, 'header' | 'verifierFiles'>;
  readonly cache: VerdictCache;
  /** Aborts proposing and verifying; what it means for the round is for the loop to say. */
  readonly signal: AbortSignal;
  /** Told once the proposals are durable: an aborted round names them. */
  readonly onProposed: (proposed: readonly Proposed[]) => void;
};

/** Every slot with its measurements and what it used, not yet settled; or null: something was ended before it was done. */
export type DecidedRound = { readonly slots: readonly Omit<SlotRecord, 'cost'>[]; readonly usage: readonly Usage[] };

/** Proposes, verifies and decides an opened round. Null: it was aborted before everything that it began had ended. */
export async function runRound(deps: GovernorDeps, input: RoundInput): Promise<DecidedRound | null> {
  const { context, plan, cache, signal } = input;
  const proposed = await propose(deps, input);
  if (proposed === null) return null;
  const { head, headFiles, contract } = context;
  const attempts = readAttempts({ proposer: deps.proposer, check: deps.check, base: headFiles, baseTree: head.tree, cache }, proposed);

  const measurements = new Map<number, Measurement[]>(plan.slots.map(({ slot }) => [slot, []]));
  const verify = async (planned: PlannedSlot, candidate: NamedTree): Promise<Measurement> => {
    const limits = { runs: planned.reserved.verifierRuns, deadlineMs: verifyDeadlineMs(contract) };
    const result = await measure(deps, verifyRequest(input, candidate), limits, signal);
    ensure(measurements.get(planned.slot), `measurements of slot ${planned.slot}`).push(result);
    return result;
  };
  const unknown = attempts.flatMap(({ planned, standing }) =>
    standing.kind === 'unknown' ? [{ planned, candidate: standing.candidate }] : [],
  );
  // Each slot's executions were reserved with the round, lowest slot first: dispatching them in any order changes nothing.
  const measured = await mapBounded(unknown, deps.verifiers.concurrency, ({ planned, candidate }) =>
    signal.aborted ? Promise.resolve(null) : verify(planned, candidate),
  );
  if (measured.some((m) => m === null || m.aborted)) return null;

  const decision = decideRound({
    head: { id: head.id, contract: head.contract, rank: head.rank, tree: head.tree },
    obligations: contract.obligations,
    slots: attempts.map((attempt) => slotInput(attempt, contract.sha, measurements)),
  });
  const confirmed = await confirm(decision, attempts, verify);
  if (confirmed === null) return null;
  const finished = finishRound(decision, confirmed.winner, confirmed.confirmations);
  const slots = attempts.map((attempt, i) => ({
    attempt,
    final: ensure(finished.slots[i], `outcome of slot ${attempt.planned.slot}`),
    measurements: measurements.get(attempt.planned.slot) ?? [],
  }));
  return { slots, usage: slots.map(({ attempt, measurements }) => usageOf(attempt, measurements)) };
}

async function propose(deps: GovernorDeps, { context, plan, start, signal, onProposed }: RoundInput): Promise<readonly Proposed[] | null> {
  const { head, headFiles, contract, run } = context;
  const answers = await Promise.allSettled(
    plan.slots.map(({ n, slot, draw }) =>
      deps.proposer.propose(
        { n, draw, slot, seed: start.header.seed, baseTree: head.tree, base: headFiles, writable: contract.artifact.writable },
        signal,
      ),
    ),
  );
  if (signal.aborted) return null;
  const proposed = answers.map((answer, i): Proposed => {
    if (answer.status === 'rejected') throw answer.reason;
    const { request, response } = answer.value;
    const planned = ensure(plan.slots[i], `slot ${i} of the plan`);
    return { planned, proposal: answer.value, request: sha256Hex(request), response: response === null ? null : sha256Hex(response) };
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

function verifyRequest({ context, start }: RoundInput, { tree, files }: NamedTree): VerifyRequest {
  return { contract: context.contract, tree, files, verifierFiles: start.verifierFiles, program: start.header.verifierProgram };
}

function slotInput(
  { planned, candidate, standing }: Attempt,
  contract: string,
  measurements: ReadonlyMap<number, readonly Measurement[]>,
): SlotInput {
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
        verdict: ensure(measurements.get(planned.slot)?.[0], `measurement of slot ${planned.slot}`).verdict,
        verdictSource: 'fresh',
      };
    default:
      return assertNever(standing, 'standing of an attempt');
  }
}

const sameRank = (a: Rank, b: Rank): boolean => a.length === b.length && a.every((r, i) => r === b[i]);

// With one confirmation run a fresh contender holds as it is. A cached verdict may reject, never commit: it is measured afresh, and a
// measurement that differs from the one in the cache shows a verifier that disagrees with itself.
async function confirm(
  decision: RoundDecision,
  attempts: readonly Attempt[],
  verify: (planned: PlannedSlot, candidate: NamedTree) => Promise<Measurement>,
): Promise<{ winner: number | null; confirmations: Confirmation[] } | null> {
  const confirmations: Confirmation[] = [];
  for (const slot of decision.contenders) {
    const attempt = ensure(
      attempts.find(({ planned }) => planned.slot === slot),
      `attempt of slot ${slot}`,
    );
    const { standing, planned } = attempt;
    if (standing.kind !== 'cached') return { winner: slot, confirmations };
    const { verdict, aborted } = await verify(planned, ensure(attempt.candidate, `candidate of slot ${slot}`));
    if (aborted) return null;
    const known = standing.cached.verdict;
    const unstable = verdict.kind === 'ranked' && known.kind === 'ranked' && !sameRank(verdict.rank, known.rank);
    confirmations.push({ slot, contract: decision.head.contract, verdict, unstable });
    if (verdict.kind === 'ranked' && !unstable && verdict.stable) return { winner: slot, confirmations };
  }
  return { winner: null, confirmations };
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
