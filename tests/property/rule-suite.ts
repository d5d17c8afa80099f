// The laws of the commit rule, written once and run on the real rules and on mutants. A law is stated with its own loops over coordinates, so
// that it does not borrow the answer from what it checks.
import * as fc from 'fast-check';
import type { Relation } from '#shared/domain/rank.ts';
import type { Rank } from '#shared/domain/verdict.ts';

export interface Candidate {
  readonly tree: string;
  /** What a verifier claimed; may be anything at run time. */
  readonly rank: Rank;
}

/** One implementation of the rules. */
export interface Rules {
  readonly name: string;
  relate(candidate: Rank, head: Rank): Relation;
  /** The tree that commits in one round, or null. Slots are the candidates in the order given, all with different trees, none the head's. */
  decide(head: Candidate, candidates: readonly Candidate[], caps: readonly number[]): string | null;
}

export interface Failure {
  readonly law: string;
  readonly counterexample: string;
}

/** Hands over a value that the type forbids, as a verifier's report could contain at run time. */
const forced = (value: unknown): Rank => Reflect.apply((v: Rank) => v, undefined, [value]);

const caps = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 5 });
const rankUnder = (limits: readonly number[]): fc.Arbitrary<Rank> => fc.tuple(...limits.map((max) => fc.integer({ min: 0, max })));
const ranks = (count: number): fc.Arbitrary<Rank[]> => caps.chain((c) => fc.array(rankUnder(c), { minLength: count, maxLength: count }));
const pair = ranks(2).map(([a = [], b = []]): [Rank, Rank] => [a, b]);

// A head with all coordinates strictly inside their range, and a direction for each: candidates with a known relation.
const moved = fc.array(fc.constantFrom(-1, 0, 1), { minLength: 1, maxLength: 6 }).map((step) => ({
  step,
  head: step.map(() => 2),
  candidate: step.map((s) => 2 + s),
}));

const sum = (rank: Rank): number => rank.reduce((s, r) => s + r, 0);
const better = (a: Rank, b: Rank): number => a.filter((x, i) => x < (b[i] ?? Number.NaN)).length;
const worse = (a: Rank, b: Rank): number => a.filter((x, i) => x > (b[i] ?? Number.NaN)).length;
const strictlyBetter = (a: Rank, b: Rank): boolean => worse(a, b) === 0 && better(a, b) > 0;

// A task as the rules see it: trees with the ranks that a verifier would give them, and rounds of proposals among them.
const world = caps.chain((limits) =>
  fc.record({
    limits: fc.constant(limits),
    // Tree 0 is the seed. Worst values are drawn often, or most chains would end before they begin.
    ranks: fc
      .array(rankUnder(limits), { minLength: 2, maxLength: 10 })
      .chain((drawn) => fc.boolean().map((worst) => (worst ? [[...limits], ...drawn.slice(1)] : drawn))),
    rounds: fc.array(fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }),
  }),
);
type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

interface Step {
  readonly head: Candidate;
  readonly candidates: readonly Candidate[];
  readonly winner: Candidate | null;
}

const run = (rules: Rules, { limits, ranks: all, rounds }: World): Step[] => {
  const pool = all.map((rank, i): Candidate => ({ tree: `t${i}`, rank }));
  let head = pool[0] ?? { tree: 't0', rank: [] };
  return rounds.map((picks): Step => {
    const distinct = new Set(picks.map((p) => p % pool.length));
    const candidates = pool.filter((c, i) => distinct.has(i) && c.tree !== head.tree);
    const tree = rules.decide(head, candidates, limits);
    const winner = tree === null ? null : (candidates.find((c) => c.tree === tree) ?? { tree: 'not a candidate', rank: [] });
    const step: Step = { head, candidates, winner };
    if (winner !== null) head = winner;
    return step;
  });
};

// One coordinate that no verifier may report, beside coordinates that would be a splendid improvement.
const malformed = fc
  .record({ m: fc.integer({ min: 1, max: 4 }), at: fc.nat({ max: 3 }), fault: fc.nat({ max: 12 }) })
  .map(({ m, at, fault }): { limits: number[]; claim: unknown } => {
    const limits = Array.from({ length: m }, () => 3);
    const claim: unknown[] = limits.map(() => 0);
    const i = at % m;
    const bad: unknown[] = [Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, -1, -0, 0.5, '0', null, undefined, 4, 0n];
    if (fault < bad.length) claim[i] = bad[fault];
    else if (fault === bad.length) claim.push(0);
    else {
      // A hole: with one coordinate only the length is left of the rank.
      const holed: unknown[] = [];
      holed.length = m;
      for (let k = 0; k < m; k++) if (k !== i) holed[k] = 0;
      return { limits, claim: holed };
    }
    return { limits, claim };
  });

const laws: Readonly<Record<string, (rules: Rules) => fc.IRawProperty<unknown, false>>> = {
  'a rank ties with itself and with no other': (rules) =>
    fc.property(pair, ([a, b]) => rules.relate(a, a) === 'tie' && (rules.relate(a, b) === 'tie') === (a.join() === b.join())),
  'the relation seen from the other side is the mirror': (rules) =>
    fc.property(pair, ([a, b]) => {
      const other = { dominates: 'regression', regression: 'dominates', tie: 'tie', incomparable: 'incomparable' } as const;
      return rules.relate(b, a) === other[rules.relate(a, b)];
    }),
  'dominates is transitive': (rules) =>
    fc.property(
      ranks(3),
      ([a = [], b = [], c = []]) =>
        !(rules.relate(a, b) === 'dominates' && rules.relate(b, c) === 'dominates') || rules.relate(a, c) === 'dominates',
    ),
  'what dominates worsens no coordinate': (rules) => fc.property(pair, ([a, b]) => rules.relate(a, b) !== 'dominates' || worse(a, b) === 0),
  'what dominates improves a coordinate': (rules) => fc.property(pair, ([a, b]) => rules.relate(a, b) !== 'dominates' || better(a, b) > 0),
  'what dominates has a smaller potential': (rules) => fc.property(pair, ([a, b]) => rules.relate(a, b) !== 'dominates' || sum(a) < sum(b)),
  'gains alone dominate, losses alone regress, both together are incomparable': (rules) =>
    fc.property(moved, ({ step, head, candidate }) => {
      const gain = step.includes(-1);
      const loss = step.includes(1);
      return rules.relate(candidate, head) === (gain ? (loss ? 'incomparable' : 'dominates') : loss ? 'regression' : 'tie');
    }),
  'no coordinate worsens along a chain': (rules) =>
    fc.property(world, (w) => run(rules, w).every(({ head, winner }) => winner === null || worse(winner.rank, head.rank) === 0)),
  'every commit lowers the potential, so it bounds the commits': (rules) =>
    fc.property(world, (w) => {
      const steps = run(rules, w);
      const genesis = w.ranks[0] ?? [];
      return (
        steps.every(({ head, winner }) => winner === null || sum(winner.rank) < sum(head.rank)) &&
        steps.filter((s) => s.winner !== null).length <= sum(genesis)
      );
    }),
  'strict progress is never refused': (rules) =>
    fc.property(world, (w) =>
      run(rules, w).every(({ head, candidates, winner }) => winner !== null || !candidates.some((c) => strictlyBetter(c.rank, head.rank))),
    ),
  'the winner is Pareto-minimal among the candidates that dominate the head': (rules) =>
    fc.property(world, (w) =>
      run(rules, w).every(
        ({ head, candidates, winner }) =>
          winner === null || !candidates.some((c) => strictlyBetter(c.rank, head.rank) && strictlyBetter(c.rank, winner.rank)),
      ),
    ),
  'the order of slots does not choose the winner': (rules) =>
    fc.property(world, fc.nat({ max: 5 }), (w, turn) =>
      run(rules, w).every(({ head, candidates, winner }) => {
        const cut = turn % Math.max(1, candidates.length);
        const reordered = [...candidates.slice(cut), ...candidates.slice(0, cut)].toReversed();
        return rules.decide(head, reordered, w.limits) === (winner?.tree ?? null);
      }),
    ),
  'a ranked rejection never commits later in the chain': (rules) =>
    fc.property(world, (w) => {
      const rejected = new Set<string>();
      return run(rules, w).every(({ candidates, winner }) => {
        if (winner !== null && rejected.has(winner.tree)) return false;
        for (const c of candidates) if (c.tree !== winner?.tree) rejected.add(c.tree);
        return true;
      });
    }),
  'a malformed rank never commits and disturbs nobody else': (rules) =>
    fc.property(malformed, ({ limits, claim }) => {
      const head = { tree: 'head', rank: limits.map(() => 3) };
      const bad = { tree: 'bad', rank: forced(claim) };
      const good = { tree: 'good', rank: limits.map(() => 2) };
      return rules.decide(head, [bad], limits) === null && rules.decide(head, [bad, good], limits) === 'good';
    }),
};

export const lawNames = Object.keys(laws);

/** Runs every law on `rules` with a fixed seed; returns the laws that were broken, each with the smallest counterexample found. */
export function ruleSuite(rules: Rules, numRuns = 1_000): Failure[] {
  return Object.entries(laws).flatMap(([law, property]) => {
    const details = fc.check(property(rules), { numRuns, seed: 20_250_601 });
    if (!details.failed) return [];
    const error = details.errorInstance instanceof Error && details.counterexample === null ? details.errorInstance.message : '';
    return [{ law, counterexample: `${fc.stringify(details.counterexample)}${error}` }];
  });
}
