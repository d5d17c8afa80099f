// What a start finds of rounds that a crash left open: their attempts become `aborted`, charged at their reservation.
import { z } from 'zod';
import type { JournalItem } from '#shared/contract/app.ts';
import { abortedMemory, abortedTransition } from '#shared/domain/aborted.ts';
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import { parseEventLine } from '#shared/domain/event-chain.ts';
import { Count, type RunId, type Sha } from '#shared/domain/ids.ts';
import type { Transition } from '#shared/domain/transition.ts';
import { Rank } from '#shared/domain/verdict.ts';
import { toAmounts } from '../amounts.ts';
import { sql, type WritableDb } from '../db.ts';
import { maxInRun, numberOf, rowKey } from '../keys.ts';
import { checkInstant } from './append.ts';
import { endRound } from './commit-round.ts';

type OpenRow = {
  key: number;
  round: number;
  slot: number;
  reserved: string;
  event_from: number;
  request: Sha | null;
  response: Sha | null;
};

const openRuns = sql<{ no: number }>(
  'SELECT DISTINCT r.no FROM round_slot s JOIN run r ON r.no = s.key >> 32 WHERE s.key & 4294967295 > r.transitions',
);
const selectOpen = sql<OpenRow>(
  'SELECT key, round, slot, reserved, event_from, request, response FROM round_slot WHERE key BETWEEN ? AND ? ORDER BY key',
);
const selectHead = sql<{ run: RunId; transitions: number; id: Sha; rank: string; contract: Sha }>(
  'SELECT r.id AS run, r.transitions, b.id, b.rank, b.contract FROM run r JOIN bundle b ON b.key = r.head WHERE r.no = ?',
);
const selectLines = sql<{ line: string }>('SELECT line FROM event WHERE key BETWEEN ? AND ? ORDER BY key');

type Shown = Pick<Transition, 'retrieved' | 'featuresShown'>;

// What the proposer was shown stands in the event `proposal`, if the round came that far.
const shownByAttempt = (db: WritableDb, no: number, from: number): Map<number, Shown> => {
  const shown = new Map<number, Shown>();
  for (const { line } of db.all(selectLines, rowKey(no, from), rowKey(no, maxInRun))) {
    const event = parseEventLine(line);
    if (event.ok && event.value.type === 'proposal') {
      const { n, retrieved, featuresShown } = event.value.body;
      shown.set(n, { retrieved, featuresShown });
    }
  }
  return shown;
};

const abortRound = (db: WritableDb, no: number, at: string): JournalItem[] => {
  const head = db.get(selectHead, no);
  if (head === undefined) return [];
  const open = db.all(selectOpen, rowKey(no, head.transitions + 1), rowKey(no, maxInRun));
  const first = open[0];
  if (first === undefined) return [];
  const { run, id: base, contract } = head;
  const baseRank = Rank.parse(JSON.parse(head.rank));
  const shown = shownByAttempt(db, no, first.event_from);
  const transitions = open.map(({ key, round, slot, reserved, request, response }) => {
    const n = numberOf(key);
    const charged = toAmounts(z.array(Count).parse(JSON.parse(reserved)));
    return abortedTransition({
      run,
      n,
      round,
      slot,
      base,
      request,
      response,
      retrieved: shown.get(n)?.retrieved ?? [],
      featuresShown: shown.get(n)?.featuresShown ?? null,
      cost: { charged, overshoot: noAmounts() },
    });
  });
  return db.transaction(() => [
    endRound(
      db,
      {
        run,
        at,
        round: first.round,
        blobs: [],
        trees: [],
        salts: [],
        verdicts: [],
        transitions,
        memory: transitions.map((t) => abortedMemory(t, contract, baseRank)),
        bundle: null,
        expectedHead: base,
        charged: transitions.reduce((sum, { cost }) => addAmounts(sum, cost.charged), noAmounts()),
        overshoot: noAmounts(),
        events: transitions.map(({ n, round, slot }) => ({
          type: 'decision' as const,
          body: {
            n,
            round,
            slot,
            base,
            outcome: 'aborted' as const,
            tree: null,
            rank: null,
            bundle: null,
            duplicateOf: null,
            verdictSource: 'none' as const,
          },
        })),
        stop: null,
      },
      { blobs: [], trees: [] },
      'recover',
    ),
  ]);
};

/** Ends every open round, one transaction per run; a second call finds nothing. Returns one item per run that it touched. */
export function recover(db: WritableDb, at: string): JournalItem[] {
  checkInstant(at);
  return db.all(openRuns).flatMap(({ no }) => abortRound(db, no, at));
}
