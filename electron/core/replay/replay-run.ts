// The row of a run: counters, head, budget and stop, which are sums over everything that was replayed.
import { budgetDimensions, type Amounts } from '#shared/domain/budget.ts';
import type { Fields } from '#shared/domain/replay.ts';
import { outcomes } from '#shared/domain/transition.ts';
import type { Json } from '#shared/lib/canonical-json.ts';
import type { ReplayHead } from '#electron/store/api.ts';
import { rowKey } from '#electron/store/keys.ts';
import type { Replaying } from './replay-round.ts';

const amounts = (prefix: string, of: Readonly<Record<keyof Amounts, number | null>>): Fields =>
  Object.fromEntries(budgetDimensions.map((d) => [`${prefix}_${d}`, of[d]]));

/** Titles, the task's folder and the note of a stop are in no hash and stand as they are. */
export function compareRun(state: Replaying, head: ReplayHead): void {
  const { header, contract, findings, chain } = state;
  // While a round is under way the run's row has counted its opening already.
  const open = head.open ? 1 : 0;
  const expected: Fields = {
    id: state.run,
    contract: contract.sha,
    header_sha: state.headerSha,
    started_at: chain.begun(),
    parent: header.parent,
    proposer: header.proposer.kind,
    slots: header.slots,
    seed: header.seed,
    head: state.head === null ? null : rowKey(state.no, state.head.seq),
    stop: state.stop,
    events: chain.count() + open,
    salts: state.salts,
    rounds: state.nextRound - 1,
    transitions: state.nextN - 1,
    memories: state.memories,
    ...Object.fromEntries(outcomes.map((o) => [`n_${o}`, state.counts[o]])),
    ...amounts('max', header.budget),
    ...amounts('used', state.used),
    ...amounts('over', state.overshoot),
    ...(head.open ? {} : { last_event: chain.last(), updated_at: chain.at() }),
  };
  const stored: Fields = Object.fromEntries(
    Object.keys(expected).map((column): [string, Json] => {
      const value = head.row[column] ?? null;
      return [column, value instanceof Uint8Array ? null : value];
    }),
  );
  findings.compare('run', stored, expected);
  findings.compare(
    'rows of the run',
    { events: head.events, salts: head.salts, transitions: head.transitions, bundles: head.bundles, memories: head.memories },
    {
      events: chain.count() + open,
      salts: state.salts,
      transitions: state.nextN - 1,
      bundles: state.bundles,
      memories: state.memories,
    },
  );
}
