// The loop of a governed run: plan a round, make it durable, run it, commit it, until something stops it. Semantics, section 5.
import type { AutoCommand } from '#shared/domain/auto-registry.ts';
import { createLedger, noAmounts, type Usage } from '#shared/domain/budget-ledger.ts';
import type { Cost } from '#shared/domain/budget.ts';
import type { CertifiedBundle } from '#shared/domain/bundle.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { ensure } from '#shared/lib/assert.ts';
import type { CommitRound } from '#electron/store/api.ts';
import type { Proposed } from './attempt.ts';
import { refuseWithoutRoom } from './no-room.ts';
import { planRound, roundFits, type RoundPlan } from './reservation.ts';
import { runRound } from './round.ts';
import { abortedRecords, finishedRecords, type FinishedRecords, type RoundContext, type SlotRecord, type Stop } from './round-records.ts';
import type { GovernorDeps, GovernorStart, OnlyRounds, RunEnd, RunLoop } from './types.ts';
import { createVerdictCache } from './verdict-cache.ts';

type Ask = 'go' | 'stop' | 'close';

type State = {
  head: CertifiedBundle;
  headFiles: readonly TreeFile[];
  nextN: number;
  nextRound: number;
  nextDraw: number;
  streak: number;
  registered: readonly AutoCommand[];
};

/**
 * Starts the loop of a run that exists in the store and has no stop reason. The result's `done` resolves once the last transaction is
 * stored: with a stop reason, as closed (nothing was decided any more), or as failed. With `only`, so many rounds of so many slots, and
 * then the run is stopped as by its user, or waits.
 */
export function runGovernor(deps: GovernorDeps, start: GovernorStart, only: OnlyRounds | null = null): RunLoop {
  const abort = new AbortController();
  let asked: Ask = 'go';
  const ask = (what: Ask) => {
    // A close after a stop still ends the loop at once; a stop after a close changes nothing.
    if (asked !== 'close') asked = what;
    abort.abort();
  };
  const done = loop(deps, start, only, abort.signal, () => asked);
  return { stop: () => ask('stop'), close: () => ask('close'), done };
}

async function loop(
  deps: GovernorDeps,
  start: GovernorStart,
  only: OnlyRounds | null,
  signal: AbortSignal,
  asked: () => Ask,
): Promise<RunEnd> {
  const { run, header, headerSha, contract } = start;
  const ledger = createLedger(header.budget, start.used);
  const cache = createVerdictCache();
  for (const { tree, verdictSha, verdict } of start.cached) cache.put(tree, verdictSha, verdict);
  const state: State = {
    head: start.head,
    headFiles: start.headFiles,
    nextN: start.nextN,
    nextRound: start.nextRound,
    nextDraw: start.nextDraw,
    streak: start.noVerdictStreak,
    registered: start.registered,
  };
  // Wall time is charged in one piece per round, from the end of the last charge, so that no time falls between two rounds.
  let wallFrom = deps.monotonicMs();
  const wallSpent = (): number => {
    const now = deps.monotonicMs();
    const spent = Math.max(0, Math.ceil(now - wallFrom));
    wallFrom = now;
    return spent;
  };
  let abandoned: CommitRound | null = null;

  const stopped = async (stop: Stop): Promise<RunEnd> => {
    await deps.store.stopRun({ run, at: deps.now(), ...stop, event: { type: 'stop', body: { reason: stop.reason } } });
    return { kind: 'stopped', ...stop };
  };

  const oneRound = async (plan: RoundPlan, context: RoundContext): Promise<RunEnd | null> => {
    let proposed: readonly Proposed[] | null = null;
    const settle = (usage: readonly Usage[] | null): Cost[] => {
      const wallMs = wallSpent();
      return plan.slots.map(({ slot, reserved }, i) => {
        const one: Usage = usage === null ? 'missing' : withWall(ensure(usage[i], `usage of slot ${slot}`), slot, wallMs);
        return ledger.settle(reserved, one);
      });
    };
    const abortRound = (stop: Stop | null): CommitRound => abortedRecords(deps, context, plan, proposed, settle(null), stop);
    let decided = false;
    try {
      const round = await runRound(deps, {
        context,
        plan,
        start,
        cache,
        registered: state.registered,
        signal,
        onProposed: (durable) => {
          proposed = durable;
        },
      });
      if (asked() === 'close') return { kind: 'closed' };
      if (round === null) {
        decided = true;
        const stop: Stop = { reason: 'user', note: null };
        abandoned = abortRound(stop);
        await deps.store.commitRound(abandoned);
        abandoned = null;
        return { kind: 'stopped', ...stop };
      }
      const costs = settle(round.usage);
      decided = true;
      const slots = round.slots.map((slot, i): SlotRecord => ({ ...slot, cost: ensure(costs[i], `cost of slot ${i}`) }));
      const streak = streakAfter(state.streak, slots);
      const winner = slots.find(({ final }) => final.outcome === 'commit');
      const zero = winner?.final.verdict?.kind === 'ranked' && winner.final.verdict.rank.every((r) => r === 0);
      const stop = stopAfter({
        zero,
        // Without room verifiers fail that are not dead, and this stop is final. The next round is refused instead.
        dead: streak >= header.verifierDeadAfter && ((await deps.room?.()) ?? null) === null,
        streak,
        last: lastWithout(slots),
        fits: roundFits(ledger, contract, deps.proposer.reserved),
        user: asked() !== 'go',
      });
      const records = finishedRecords(deps, context, plan, slots, stop);
      // Should the transaction fail, the round is aborted when the run goes on: at what it was reserved, like any attempt without an end.
      abandoned = abortedRecords(deps, context, plan, proposed, reservationCosts(plan), null);
      await deps.store.commitRound(records.commit);
      abandoned = null;
      advance(state, plan, records, winner, streak);
      state.registered = round.registered;
      for (const { tree, sha, verdict, outcome } of records.verdicts) {
        if (tree === null) continue;
        if (outcome === 'unstable') cache.forget(tree);
        else cache.put(tree, sha, verdict);
      }
      return stop === null ? null : { kind: 'stopped', ...stop };
    } catch (error) {
      if (!decided) abandoned = abortRound(null);
      throw error;
    }
  };

  try {
    for (let rounds = 0; ; rounds++) {
      if (asked() === 'close') return { kind: 'closed' };
      if (asked() === 'stop') return await stopped({ reason: 'user', note: null });
      if (rounds === only?.rounds) return only.afterwards === 'wait' ? { kind: 'waiting' } : await stopped({ reason: 'user', note: null });
      const changed = await deps.contractChanged();
      if (changed !== null) return await stopped({ reason: 'contract_changed', note: changed });
      await refuseWithoutRoom(deps);
      const plan = planRound(ledger, {
        round: state.nextRound,
        base: state.head.id,
        nextN: state.nextN,
        nextDraw: state.nextDraw,
        slots: Math.min(header.slots, only?.slots ?? header.slots),
        contract,
        longestMs: deps.proposer.longestMs,
        proposal: deps.proposer.reserved,
        registered: state.registered,
      });
      if (plan === null) return await stopped({ reason: 'budget', note: null });
      const context: RoundContext = { run, headerSha, contract, head: state.head, headFiles: state.headFiles };
      await openRound(deps, run, plan);
      const end = await oneRound(plan, context);
      if (end !== null) return end;
    }
  } catch (error) {
    deps.log('the loop of a run failed', { run, error: textOf(error) });
    if (abandoned !== null && asked() !== 'close') {
      try {
        await deps.store.commitRound(abandoned);
        abandoned = null;
      } catch (second) {
        deps.log('the open round of a failed run could not be aborted; that is done when the run is resumed', {
          run,
          error: textOf(second),
        });
      }
    }
    return { kind: 'failed', error, abandoned };
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

function openRound(deps: GovernorDeps, run: string, { round, base, slots }: RoundPlan): Promise<void> {
  return deps.store.openRound({
    run,
    at: deps.now(),
    round,
    base,
    slots,
    event: {
      type: 'round',
      body: { round, base, slots: slots.map(({ n, slot, draw }) => ({ n, slot, draw })), reserved: slots.map(({ reserved }) => reserved) },
    },
  });
}

// The round and its wall time are charged to its lowest slot.
const withWall = (usage: Usage, slot: number, wallMs: number): Usage =>
  usage === 'missing' ? usage : { ...usage, rounds: slot === 0 ? 1 : 0, wallMs: slot === 0 ? wallMs : 0 };

const reservationCosts = ({ slots }: RoundPlan): Cost[] => slots.map(({ reserved }) => ({ charged: reserved, overshoot: noAmounts() }));

// Only what the verifier itself said counts: a duplicate or a cached verdict neither proves it alive nor dead.
function streakAfter(before: number, slots: readonly SlotRecord[]): number {
  return slots.reduce((streak, { final }) => {
    if (final.outcome === 'no_verdict') return streak + 1;
    return final.verdict?.kind === 'ranked' && final.verdictSource === 'fresh' ? 0 : streak;
  }, before);
}

// What the verifier did last, in words for the note of a run that it ended.
function lastWithout(slots: readonly SlotRecord[]): string {
  const verdict = slots.findLast(({ final }) => final.outcome === 'no_verdict')?.final.verdict;
  return verdict?.kind === 'no_verdict' ? `; the last one: ${verdict.code}: ${verdict.message}` : '';
}

// A reason that is a fact about the run comes before the user's wish: with a zero rank there is nothing left to resume.
function stopAfter(facts: { zero: boolean; dead: boolean; streak: number; last: string; fits: boolean; user: boolean }): Stop | null {
  if (facts.zero) return { reason: 'zero_rank', note: null };
  if (facts.dead) return { reason: 'verifier_dead', note: `${facts.streak} attempts in a row got no verdict${facts.last}` };
  if (!facts.fits) return { reason: 'budget', note: null };
  return facts.user ? { reason: 'user', note: null } : null;
}

function advance(state: State, plan: RoundPlan, records: FinishedRecords, winner: SlotRecord | undefined, streak: number): void {
  state.nextN += plan.slots.length;
  state.nextDraw += plan.slots.length;
  state.nextRound = plan.round + 1;
  state.streak = streak;
  if (records.bundle !== null) {
    state.head = records.bundle;
    state.headFiles = ensure(winner?.attempt.candidate, 'candidate of the winner').files;
  }
}
