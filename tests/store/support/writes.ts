// Every write of the store with the state that it starts from: what the tests make fail, or die, at each of its steps.
import type { WritableDb } from '#electron/store/db.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import { recover } from '#electron/store/write/recover.ts';
import { addReverification, setDecisionReplay } from '#electron/store/write/replays.ts';
import { addSelection } from '#electron/store/write/selections.ts';
import { setSettings } from '#electron/store/write/settings.ts';
import { resumeRun, stopRun } from '#electron/store/write/stop-run.ts';
import type { Selection } from '#shared/domain/selection.ts';
import { ensure } from '#shared/lib/assert.ts';
import { hashJson, sha256Hex, sha256Text } from '#shared/lib/hash.ts';
import { bytesOf, largeText } from '../../support/engine/builders.ts';
import { createScenario, type Scenario, type SlotSpec } from './scenario.ts';

const large = (seed: number) => {
  const bytes = bytesOf(largeText(seed));
  return { sha: sha256Hex(bytes), bytes };
};

export const later = '2026-03-01T00:00:00.000Z';

export const four: readonly SlotSpec[] = [
  { kind: 'ranked', text: 'winner', rank: [1, 2, 2], output: 'said' },
  { kind: 'ranked', text: 'worse', rank: [3, 3, 3] },
  { kind: 'invalid' },
  { kind: 'no_verdict', text: 'crashes' },
];

export const threeCounts = (i = 0): Scenario =>
  createScenario({ i, caps: [4, 4, 4], genesis: [2, 2, 2], header: { budget: { attempts: 40 } } });

export type StoreWrite = {
  readonly name: string;
  /** Brings the database to where the write begins; what it returns is the write, to be called any number of times. */
  readonly prepare: (db: WritableDb) => (db: WritableDb) => unknown;
  /** What becomes of it when it is done once more after it was done: it is refused, finds nothing to do, or is another write of its own. */
  readonly again: 'refused' | 'nothing' | 'another';
  /** Blobs that it writes into files. */
  readonly files: number;
};

const begun = (db: WritableDb, s: Scenario): void => {
  createRun(db, s.create());
};
const opened = (db: WritableDb, s: Scenario): void => {
  begun(db, s);
  openRound(db, s.open(4));
};
const proposed = (db: WritableDb, s: Scenario): void => {
  opened(db, s);
  storeProposals(db, s.proposals(4));
};

/** A choice among the runs of `scenarios` whose cross-check names one report. */
const selectionOf = (scenarios: readonly Scenario[], report: string): Selection => {
  const ends = scenarios.map((s) => s.head());
  const [first] = ends;
  return {
    format: 'pawl.selection/1',
    at: later,
    contract: first?.contract ?? '',
    base: first?.tree ?? '',
    runs: scenarios.map(({ run }, i) => {
      const { id: bundle, seq, tree, potential, rank } = ensure(ends[i], 'an end');
      return { run, seed: i, stop: null, end: { bundle, seq, tree, potential, rank } };
    }),
    order: [0, 1],
    decidedBy: 'order',
    crosscheck: {
      kind: 'made',
      program: null,
      finalists: ends.map(({ tree }, i) => ({ tree, runs: [i], tests: [], omitted: 0, failedAuthors: 0, failedTests: 0, ofTests: 0 })),
      leftOut: [],
      cells: [
        {
          author: 0,
          target: null,
          contract: sha256Text('derived'),
          tree: first?.tree ?? null,
          executions: [
            { id: 'e', nonce: 'ab', startedAt: later, durationMs: 1, exitCode: 0, signal: null, report, output: null, result: 'ranked' },
          ],
          result: { kind: 'ranked', rank: [0] },
        },
      ],
      results: [],
    },
  };
};

export const storeWrites: readonly StoreWrite[] = [
  {
    name: 'createRun',
    prepare: () => {
      const input = threeCounts().create();
      return (db) => createRun(db, { ...input, blobs: [...input.blobs, large(1), large(2)] });
    },
    again: 'refused',
    files: 2,
  },
  {
    name: 'openRound',
    prepare: (db) => {
      const s = threeCounts();
      begun(db, s);
      const input = s.open(4);
      return (to) => openRound(to, input);
    },
    again: 'refused',
    files: 0,
  },
  {
    name: 'storeProposals',
    prepare: (db) => {
      const s = threeCounts();
      opened(db, s);
      const input = s.proposals(4);
      const items = input.items.map((item, i) => (i === 2 ? { ...item, response: large(3) } : item));
      return (to) => storeProposals(to, { ...input, items });
    },
    again: 'refused',
    files: 1,
  },
  {
    name: 'commitRound',
    prepare: (db) => {
      const s = threeCounts();
      proposed(db, s);
      const input = s.commit(four.map((spec) => (spec.kind === 'ranked' ? { ...spec, text: largeText(spec.rank[0] ?? 0) } : spec)));
      return (to) => commitRound(to, input);
    },
    again: 'refused',
    files: 2,
  },
  {
    name: 'commitRound with the end of the run',
    prepare: (db) => {
      const s = threeCounts();
      proposed(db, s);
      const input = s.commit(four, { reason: 'budget', note: 'spent' });
      return (to) => commitRound(to, input);
    },
    again: 'refused',
    files: 0,
  },
  {
    name: 'commitRound with what automatic commands left',
    prepare: (db) => {
      const s = threeCounts();
      proposed(db, s);
      const input = s.commit(four);
      const [request, output] = [large(6), large(7)];
      const tree = s.head().tree;
      const autos = {
        registrations: [{ n: 1, position: 0, record: request.sha, refusal: null }],
        outputs: [{ n: 2, position: 0, tree, record: output.sha }],
      };
      return (to) => commitRound(to, { ...input, blobs: [...input.blobs, request, output], autos });
    },
    again: 'refused',
    files: 2,
  },
  {
    name: 'stopRun',
    prepare: (db) => {
      const s = threeCounts();
      begun(db, s);
      return (to) => stopRun(to, { run: s.run, at: later, reason: 'user', note: null, event: { type: 'stop', body: { reason: 'user' } } });
    },
    again: 'refused',
    files: 0,
  },
  {
    name: 'resumeRun',
    prepare: (db) => {
      const s = threeCounts();
      begun(db, s);
      stopRun(db, { run: s.run, at: later, reason: 'user', note: null, event: { type: 'stop', body: { reason: 'user' } } });
      const event = { type: 'resume' as const, body: { from: s.head().id, nextN: 1 } };
      return (to) => resumeRun(to, { run: s.run, at: later, event });
    },
    again: 'another',
    files: 0,
  },
  {
    name: 'recover',
    prepare: (db) => {
      proposed(db, threeCounts());
      return (to) => recover(to, later);
    },
    again: 'nothing',
    files: 0,
  },
  {
    name: 'addReverification',
    prepare: (db) => {
      const s = threeCounts();
      begun(db, s);
      const report = large(4);
      const execution = {
        id: 'again',
        nonce: 'ab',
        startedAt: later,
        durationMs: 1,
        exitCode: 0,
        signal: null,
        report: report.sha,
        output: null,
        result: 'ranked',
        rank: [2, 2, 2],
      };
      return (to) => addReverification(to, { run: s.run, seq: 0, blobs: [report], executions: [execution] });
    },
    again: 'another',
    files: 1,
  },
  {
    name: 'addSelection',
    prepare: (db) => {
      const scenarios = [threeCounts(0), threeCounts(1)];
      for (const s of scenarios) begun(db, s);
      const report = large(5);
      const selection = selectionOf(scenarios, report.sha);
      return (to) => addSelection(to, { sha: hashJson(selection), selection, blobs: [report], trees: [] });
    },
    again: 'refused',
    files: 1,
  },
  {
    name: 'setDecisionReplay',
    prepare: (db) => {
      const s = threeCounts();
      begun(db, s);
      const found = { at: later, events: 3, lastEvent: sha256Text('last'), transitions: 0, mismatches: 0, missing: 0 };
      return (to) => setDecisionReplay(to, { run: s.run, ...found });
    },
    again: 'another',
    files: 0,
  },
  {
    name: 'setSettings',
    prepare: () => (db) => setSettings(db, { theme: 'dark', language: 'ko' }),
    again: 'another',
    files: 0,
  },
];
