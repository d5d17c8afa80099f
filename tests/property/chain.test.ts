// Properties of whole chains: what holds between any two bundles, transitions and lines of a run.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bundleId } from '#shared/domain/bundle-id.ts';
import { decideRound, finishRound, type SlotInput } from '#shared/domain/decide.ts';
import { parseEventLine, verifyEventChain } from '#shared/domain/event-chain.ts';
import { MemoryEntry } from '#shared/domain/memory.ts';
import { potential } from '#shared/domain/rank.ts';
import { outcomes } from '#shared/domain/transition.ts';
import type { Rank, Verdict } from '#shared/domain/verdict.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { hashJson, sha256Text } from '#shared/lib/hash.ts';
import { createRandom } from '#shared/lib/random.ts';
import { smallRun, world } from './support/small-run.ts';

const any = world(fc.oneof({ weight: 8, arbitrary: fc.nat({ max: 9 }) }, fc.constant('none' as const), fc.constant('stop' as const)));
const treesOnly = world(fc.nat({ max: 9 }));
const numRuns = 600;

const never = (): never => {
  throw new Error('the recorded line is not what it was written as');
};

test('every transition has one outcome, n is dense, commit if and only if a bundle, and transitions = commits + memory entries', () => {
  fc.assert(
    fc.property(any, (w) => {
      const { chain, transitions, memory } = smallRun(w);
      expect(transitions.map((t) => t.n)).toEqual(transitions.map((_, i) => i + 1));
      expect(transitions.every((t) => outcomes.includes(t.outcome) && (t.outcome === 'commit') === (t.bundle !== null))).toBe(true);
      const commits = transitions.filter((t) => t.outcome === 'commit');
      expect(commits.length + memory.length).toBe(transitions.length);
      expect(commits.map((t) => t.bundle)).toEqual(chain.slice(1).map((b) => b.id));
      const rounds = commits.map((t) => t.round);
      expect(new Set(rounds).size).toBe(rounds.length);
      for (const entry of memory) expect(MemoryEntry.parse(entry)).toEqual(entry);
      for (const { id, note, ...body } of memory) expect([hashJson(body), note]).toEqual([id, null]);
    }),
    { numRuns },
  );
});

test('along a chain no coordinate worsens, the potential falls, parents and seq link, ids recompute', () => {
  fc.assert(
    fc.property(any, (w) => {
      const { chain } = smallRun(w);
      for (const [i, b] of chain.entries()) {
        expect(bundleId(b)).toBe(b.id);
        expect(b.seq).toBe(i);
        const parent = chain[i - 1];
        expect(b.parent).toBe(parent?.id ?? null);
        expect(b.rank.every((r, k) => r <= (parent?.rank[k] ?? r))).toBe(true);
        expect(b.potential).toBeLessThan(parent?.potential ?? Number.POSITIVE_INFINITY);
      }
      expect(chain.length - 1).toBeLessThanOrEqual(chain[0]?.potential ?? 0);
    }),
    { numRuns },
  );
});

test('a rejection leaves the head as it was: every transition starts from the bundle of the last commit before its round', () => {
  fc.assert(
    fc.property(any, (w) => {
      const { chain, transitions } = smallRun(w);
      for (const t of transitions) {
        const before = transitions.filter((x) => x.round < t.round && x.bundle !== null).at(-1)?.bundle ?? chain[0]?.id;
        expect(t.base).toBe(before);
      }
    }),
    { numRuns },
  );
});

test('permanence: a verdict from the cache of its own chain never contends', () => {
  fc.assert(
    fc.property(any, (w) => {
      expect(smallRun(w).cachedContenders).toBe(0);
    }),
    { numRuns: 2_000 },
  );
});

test('the order in which slots finish changes nothing at all', () => {
  fc.assert(
    fc.property(any, fc.nat(), (w, seed) => {
      const random = createRandom(['arrival', seed]);
      const shuffle = (slots: readonly SlotInput[]): SlotInput[] =>
        slots
          .map((s) => ({ s, key: random.next() }))
          .sort((a, b) => a.key - b.key)
          .map(({ s }) => s);
      expect(smallRun(w, shuffle)).toEqual(smallRun(w));
    }),
    { numRuns },
  );
});

test('the order of slots within rounds does not change which trees are certified', () => {
  fc.assert(
    fc.property(treesOnly, (w) => {
      const turned = smallRun({ ...w, script: w.script.map((round) => round.toReversed()) });
      expect(turned.chain).toEqual(smallRun(w).chain);
    }),
    { numRuns },
  );
});

test('decision replay: the recorded lines alone give the same outcomes and winners', () => {
  fc.assert(
    fc.property(any, (w) => {
      const { lines, transitions } = smallRun(w);
      const records = lines.map((line) => {
        const parsed = parseEventLine(line);
        return parsed.ok ? parsed.value : never();
      });
      const obligations = w.task.limits.map((cap) => ({ cap }));
      let head: { id: string; contract: string; rank: Rank; tree: string } | null = null;
      const replayed: unknown[] = [];
      for (const record of records) {
        if (record.type === 'genesis') head = { id: record.body.bundle, contract: '', rank: record.body.rank, tree: record.body.tree };
        if (record.type !== 'round' || head === null) continue;
        const { round } = record.body;
        const recorded = records.flatMap((r) => (r.type === 'decision' && r.body.round === round ? [r.body] : []));
        const verdictOf = (n: number): { verdict: Verdict; contract: string } | null => {
          const found = records.find((r) => r.type === 'verdict' && r.body.n === n);
          if (found?.type !== 'verdict') return null;
          const { result, contract } = found.body;
          if (result.kind === 'invalid') return { contract, verdict: { ...result, message: '' } };
          if (result.kind === 'no_verdict') return { contract, verdict: { kind: 'no_verdict', code: result.code, message: '', runs: [] } };
          return { contract, verdict: { kind: 'ranked', rank: result.rank, stable: result.stable, runs: [], advisory: {}, details: {} } };
        };
        const contract = recorded.map((d) => verdictOf(d.n)?.contract).find((c) => c !== undefined) ?? '';
        const current = { ...head, contract };
        const decision = decideRound({
          head: current,
          obligations,
          slots: recorded.map((d) => ({
            slot: d.slot,
            tree: d.tree,
            contract,
            verdict: verdictOf(d.n)?.verdict ?? null,
            verdictSource: d.verdictSource,
            duplicateOf: d.duplicateOf,
            aborted: d.outcome === 'aborted',
          })),
        });
        const { slots, winner } = finishRound(decision, decision.contenders[0] ?? null, []);
        replayed.push(...slots.map((s) => [s.slot, s.outcome]));
        const won = recorded.find((d) => d.slot === winner);
        if (won !== undefined && won.rank !== null && won.tree !== null && won.bundle !== null) {
          head = { id: won.bundle, contract, rank: won.rank, tree: won.tree };
        }
      }
      expect(replayed).toEqual(transitions.map((t) => [t.slot, t.outcome]));
    }),
    { numRuns: 300 },
  );
});

test('equal histories have equal ids and lines', () => {
  fc.assert(
    fc.property(any, (w) => {
      const copy: typeof w = structuredClone(w);
      expect(canonicalJson([...smallRun(copy).lines])).toBe(canonicalJson([...smallRun(w).lines]));
    }),
    { numRuns: 200 },
  );
});

test('the event chain verifies, and any changed character, lost, doubled or swapped line is found', () => {
  fc.assert(
    fc.property(any, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 94 }), (w, where, at, by) => {
      const { lines } = smallRun(w);
      const good = verifyEventChain(lines);
      expect(good).toEqual({ ok: true, value: { count: lines.length, last: sha256Text(lines.at(-1) ?? '') } });
      const i = where % lines.length;
      const line = lines[i] ?? '';
      const k = at % line.length;
      // Another printable character in the place of this one.
      const other = String.fromCharCode(32 + ((line.charCodeAt(k) - 32 + by) % 95));
      const changed = lines.with(i, line.slice(0, k) + other + line.slice(k + 1));
      const verdict = verifyEventChain(changed);
      // A change in the last line that leaves an event behind shows in the hash of the last line, which is what is signed.
      expect(verdict).not.toEqual(good);
      expect(verdict.ok ? i : verdict.error.seq - i).toBe(verdict.ok ? lines.length - 1 : verdict.error.seq === i ? 0 : 1);
      expect(verifyEventChain(lines.toSpliced(i, 1))).not.toEqual(good);
      expect(verifyEventChain(lines.toSpliced(i, 0, line)).ok).toBe(false);
      expect(verifyEventChain([...lines.slice(1), ...lines.slice(0, 1)]).ok).toBe(false);
    }),
    { numRuns },
  );
});

test('a zero potential ends every script', () => {
  fc.assert(
    fc.property(any, (w) => {
      const { chain, transitions } = smallRun(w);
      const zero = chain.find((b) => potential(b.rank) === 0);
      expect(transitions.filter((t) => t.base === zero?.id)).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
