// A reference model of one run's storage: what the governor writes, kept in memory, each write checked against the invariants of
// semantics.md, section 10. Small enough to be seen to be right; the real store is tested beside it.
import { AutoOutput, AutoRequestRecord } from '#shared/domain/auto-evidence.ts';
import { registeredBy } from '#shared/domain/auto-registry.ts';
import { bundleId } from '#shared/domain/bundle-id.ts';
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import { type Amounts, budgetDimensions, type Cost } from '#shared/domain/budget.ts';
import type { CertifiedBundle } from '#shared/domain/bundle.ts';
import { EventBody } from '#shared/domain/event-chain.ts';
import { MemoryEntry } from '#shared/domain/memory.ts';
import { relate } from '#shared/domain/rank.ts';
import { retrieve } from '#shared/domain/retrieve.ts';
import { type StopReason, Transition } from '#shared/domain/transition.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { Manifest } from '#shared/domain/tree.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import { ensure } from '#shared/lib/assert.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import type { BlobInput, CommitRound, CreateRun, OpenRound, ResumeState, Store } from '#electron/store/api.ts';

type Operation = 'openRound' | 'storeProposals' | 'commitRound' | 'stopRun';
type Read = 'retrieveMemory';

export type ModelStore = Pick<Store, Operation | Read> & {
  readonly transitions: Transition[];
  readonly memory: MemoryEntry[];
  readonly chain: CertifiedBundle[];
  readonly events: EventBody[];
  readonly verdicts: Map<Sha, Verdict>;
  readonly trees: Map<Sha, Manifest>;
  readonly blobs: Map<Sha, Uint8Array>;
  /** What automatic commands said, in order. */
  readonly outputs: readonly AutoOutput[];
  readonly stop: () => StopReason | null;
  readonly used: () => Amounts;
  readonly overshoot: () => Amounts;
  readonly openRoundNumber: () => number | null;
  /** What the store does when an engine starts: aborts the open round, charged at its reservation. */
  recover(): void;
  /** As `resumeRun` does: takes a user's stop back. */
  resume(): void;
  state(): ResumeState;
};

export type ModelStoreOptions = {
  /** Called before each write; what it throws is what a full disk would throw: nothing of that write is kept. */
  readonly before?: (operation: Operation, count: number) => void;
};

const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(`the store refuses: ${what}`);
};

export function createModelStore(created: CreateRun, options: ModelStoreOptions = {}): ModelStore {
  const genesis = ensure(created.genesis, 'genesis of the model store');
  const { header, contract } = created;
  const transitions: Transition[] = [];
  const memory: MemoryEntry[] = [];
  const chain: CertifiedBundle[] = [genesis];
  const events: EventBody[] = [...created.events];
  const verdicts = new Map<Sha, Verdict>([[created.verdict.sha, created.verdict.verdict]]);
  const trees = new Map<Sha, Manifest>(created.trees.map(({ tree, manifest }) => [tree, manifest]));
  const blobs = new Map<Sha, Uint8Array>();
  const counts: Record<Operation, number> = { openRound: 0, storeProposals: 0, commitRound: 0, stopRun: 0 };
  let stop: StopReason | null = created.stop?.reason ?? null;
  let used = noAmounts();
  let overshoot = noAmounts();
  let open: OpenRound | null = null;
  let proposals = new Map<number, { request: Sha; response: Sha | null }>();
  const held: AutoRequestRecord[] = [];
  const outputs: AutoOutput[] = [];
  const recordIn = (sha: Sha): unknown => JSON.parse(new TextDecoder().decode(ensure(blobs.get(sha), `record ${sha}`)));

  const putBlobs = (items: readonly BlobInput[]) => {
    for (const { sha, bytes } of items) {
      must(sha256Hex(bytes) === sha, `blob ${sha} has other bytes`);
      blobs.set(sha, bytes);
    }
  };
  putBlobs(created.blobs);
  const putEvents = (items: readonly EventBody[]) => events.push(...items.map((e) => EventBody.parse(e)));
  const begin = (operation: Operation, run: string) => {
    options.before?.(operation, ++counts[operation]);
    must(run === created.run, 'another run');
    must(stop === null, `the run has stopped (${stop})`);
  };
  const head = () => ensure(chain.at(-1), 'head');
  const charge = (c: { charged: Amounts; overshoot: Amounts }) => {
    used = addAmounts(used, c.charged);
    overshoot = addAmounts(overshoot, c.overshoot);
    for (const d of budgetDimensions) {
      const max = header.budget[d];
      must(max === null || used[d] <= max, `${d} is above the budget`);
    }
  };

  const checkCommit = (input: CommitRound) => {
    const round = ensure(open, 'open round');
    must(input.round === round.round, 'another round');
    must(input.expectedHead === head().id, 'the head has moved');
    must(input.transitions.length === round.slots.length, 'a transition per slot');
    for (const [i, t] of input.transitions.entries()) {
      Transition.parse(t);
      must(t.n === transitions.length + i + 1 && t.n === round.slots[i]?.n, 'dense numbers');
      must(t.base === head().id, 'base is the head');
      must((t.bundle !== null) === (t.outcome === 'commit'), 'a bundle if and only if commit');
      must(
        t.verdict === null || verdicts.has(t.verdict) || input.verdicts.some(({ sha }) => sha === t.verdict),
        `unknown verdict of attempt ${t.n}`,
      );
      must(t.tree === null || trees.has(t.tree) || input.trees.some(({ tree }) => tree === t.tree), `unknown tree of attempt ${t.n}`);
      for (const d of budgetDimensions) must(t.cost.charged[d] <= (round.slots[i]?.reserved[d] ?? 0), `charged ${d} above the reservation`);
    }
    for (const { manifest } of input.trees) {
      for (const { sha } of manifest) must(blobs.has(sha) || input.blobs.some((b) => b.sha === sha), `bytes of ${sha}`);
    }
    must(input.memory.length === input.transitions.filter(({ outcome }) => outcome !== 'commit').length, 'a memory entry per rejection');
    for (const entry of input.memory) MemoryEntry.parse(entry);
    const { bundle } = input;
    if (bundle === null) return;
    const { id, run, verdict, summaryText, transition, ...body } = bundle;
    must(
      id === bundleId(body) && summaryText !== '' && run === created.run && verdicts.size >= 0 && verdict !== '' && transition !== null,
      'the bundle',
    );
    must(bundle.parent === head().id && bundle.seq === head().seq + 1 && bundle.contract === head().contract, 'child of the head');
    must(relate(bundle.rank, head().rank) === 'dominates', 'strict progress');
  };

  const abortOpen = () => {
    if (open === null) return;
    for (const { n, slot, reserved } of open.slots) {
      const cost: Cost = { charged: reserved, overshoot: noAmounts() };
      charge(cost);
      transitions.push({
        run: created.run,
        n,
        round: open.round,
        slot,
        base: open.base,
        request: proposals.get(n)?.request ?? null,
        response: proposals.get(n)?.response ?? null,
        retrieved: [],
        featuresShown: null,
        tree: null,
        duplicateOf: null,
        verdict: null,
        verdictSource: 'none',
        outcome: 'aborted',
        bundle: null,
        cost,
      });
    }
    open = null;
  };

  return {
    transitions,
    memory,
    chain,
    events,
    verdicts,
    trees,
    blobs,
    outputs,
    stop: () => stop,
    used: () => used,
    overshoot: () => overshoot,
    openRoundNumber: () => open?.round ?? null,
    openRound: async (input) => {
      await Promise.resolve();
      begin('openRound', input.run);
      must(open === null, 'a round is open');
      must(input.base === head().id, 'base is the head');
      must(input.slots[0]?.n === transitions.length + 1, 'numbers go on');
      open = input;
      proposals = new Map();
      putEvents([input.event]);
    },
    storeProposals: async (input) => {
      await Promise.resolve();
      begin('storeProposals', input.run);
      must(open !== null, 'no round is open');
      putBlobs(input.items.flatMap(({ request, response }) => (response === null ? [request] : [request, response])));
      for (const { n, request, response } of input.items) proposals.set(n, { request: request.sha, response: response?.sha ?? null });
      putEvents(input.events);
    },
    commitRound: async (input) => {
      await Promise.resolve();
      begin('commitRound', input.run);
      checkCommit(input);
      putBlobs(input.blobs);
      for (const { tree, manifest } of input.trees) trees.set(tree, manifest);
      for (const { sha, verdict } of input.verdicts) verdicts.set(sha, verdict);
      transitions.push(...input.transitions);
      memory.push(...input.memory);
      if (input.bundle !== null) chain.push(input.bundle);
      charge(input);
      for (const { record, tree } of input.autos?.outputs ?? []) {
        const output = AutoOutput.parse(recordIn(record));
        must(output.tree === tree && trees.has(tree), `tree ${tree} of an automatic command`);
        outputs.push(output);
      }
      for (const { record, refusal } of input.autos?.registrations ?? [])
        if (refusal === null) held.push(AutoRequestRecord.parse(recordIn(record)));
      putEvents(input.events);
      stop = input.stop?.reason ?? null;
      open = null;
    },
    stopRun: async (input) => {
      await Promise.resolve();
      begin('stopRun', input.run);
      must(open === null, 'a round is open');
      stop = input.reason;
      putEvents([input.event]);
    },
    retrieveMemory: async ({ limits }) => {
      await Promise.resolve();
      const rounds = new Map<Sha, Set<number>>();
      for (const { round, retrieved } of transitions)
        for (const id of retrieved) rounds.set(id, (rounds.get(id) ?? new Set<number>()).add(round));
      const counters = new Map([...rounds].map(([id, of]) => [id, of.size]));
      return retrieve({ entries: memory, head: head(), contract, ancestors: chain.map(({ id }) => id), limits, counters });
    },
    recover: abortOpen,
    resume: () => {
      must(stop === null || stop === 'user', 'the stop is final');
      stop = null;
    },
    state: () => {
      must(open === null, 'a round is open');
      const final = transitions.flatMap(({ n, tree, verdict, outcome }) => {
        const known = verdict === null ? undefined : verdicts.get(verdict);
        return tree === null || verdict === null || known === undefined || known.kind === 'no_verdict' || outcome === 'unstable'
          ? []
          : [{ tree, verdictSha: verdict, verdict: known, n }];
      });
      return {
        header,
        headerSha: created.headerSha,
        contract,
        task: created.task,
        head: head(),
        nextN: transitions.length + 1,
        nextRound: (transitions.at(-1)?.round ?? 0) + 1,
        nextDraw: 1 + transitions.filter(({ outcome }) => outcome !== 'aborted').length,
        used,
        stop,
        cached: [{ tree: created.header.seedTree, verdictSha: created.verdict.sha, verdict: created.verdict.verdict, n: null }, ...final],
        noVerdictStreak: transitions.reduce((streak, { outcome, verdictSource }) => {
          if (outcome === 'no_verdict') return streak + 1;
          return verdictSource === 'fresh' && outcome !== 'invalid' ? 0 : streak;
        }, 0),
        registered: registeredBy(contract, held),
      };
    },
  };
}
