// What it costs to commit a round durably: the store's own commitRound (every row, trigger and event) against the least that any store
// on SQLite would do, one transaction that inserts the same blobs into a WAL database with synchronous=FULL, measured beside it.
import { closeSync, fdatasyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import type { CommitRound } from '#electron/store/api.ts';
import { openWritable } from '#electron/store/db.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { commitRound } from '#electron/store/write/commit-round.ts';
import { createRun } from '#electron/store/write/create-run.ts';
import { openRound, storeProposals } from '#electron/store/write/open-round.ts';
import { createRandom } from '#shared/lib/random.ts';
import { createScenario, type SlotSpec } from '../store/support/scenario.ts';
import { type BenchReport, type BenchRow, formatReport, quantile } from './report.ts';

const obligations = 7;
const manyObligations = 10_000;
const manyRounds = 12;
const cap = 1_000;
const candidateBytes = 20_000;
const oneSlotGoal = 1.4;
const fourSlotsGoal = 2;
const warmUp = 100;
const measured = 400;
/** One sample in as many comes right after a checkpoint; of the writer's own commits it is fewer. */
const checkpointedEvery = 4;

const words = 'timeout retries endpoint cache buffer limit window depth threshold interval region shard replica quorum lease weight'.split(
  ' ',
);

const line = (random: () => number): string =>
  `    "${words[Math.floor(random() * words.length)] ?? ''}_${Math.floor(random() * 1_000)}": ${Math.floor(random() * 100_000)},`;

// JSON like that of a configuration: words and numbers, compressible about 3 to 1.
const seedText = (random: () => number): string => {
  const lines: string[] = [];
  for (let size = 0; size < candidateBytes; size += (lines.at(-1)?.length ?? 0) + 1) lines.push(line(random));
  return lines.join('\n');
};

// An attempt edits a few places of its base.
const edited = (text: string, random: () => number): string => {
  const lines = text.split('\n');
  for (let i = 0; i < 4; i++) lines[Math.floor(random() * lines.length)] = line(random);
  return lines.join('\n');
};

type Bare = {
  commit(blobs: readonly { readonly sha: string; readonly bytes: Uint8Array }[]): void;
  checkpoint(): void;
  touch(): void;
  close(): void;
};

const openBare = (file: string): Bare => {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('wal_autocheckpoint = 0');
  db.exec('CREATE TABLE blob (sha TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT; CREATE TABLE touched (n INTEGER PRIMARY KEY) STRICT');
  const touch = db.prepare('INSERT INTO touched DEFAULT VALUES');
  const begin = db.prepare('BEGIN IMMEDIATE');
  const insert = db.prepare('INSERT INTO blob VALUES (?, ?)');
  const commit = db.prepare('COMMIT');
  return {
    commit: (blobs) => {
      begin.run();
      for (const { sha, bytes } of blobs) insert.run(sha, bytes);
      commit.run();
    },
    checkpoint: () => db.pragma('wal_checkpoint(PASSIVE)'),
    touch: () => touch.run(),
    close: () => db.close(),
  };
};

const timed = (samples: number[], fn: () => void): void => {
  const begin = performance.now();
  fn();
  samples.push(performance.now() - begin);
};

// A run with one commit in every round; the other slots are rejected in turn for each of the common reasons.
const openRun = (dir: string, slots: number, random: () => number, m = obligations) => {
  mkdirSync(dir);
  const db = openWritable(join(dir, 'pawl.db'), join(dir, 'blobs'));
  migrate(db);
  const genesis = Array.from({ length: m }, () => cap);
  const scenario = createScenario({
    i: slots,
    caps: genesis,
    genesis,
    seedText: seedText(random),
    header: { slots, budget: { attempts: 1_000_000 } },
  });
  createRun(db, scenario.create());
  const specs = (): SlotSpec[] => {
    const head = scenario.head().rank;
    const at = head.findIndex((r) => r > 0);
    const text = scenario.textOf(scenario.head().tree) ?? '';
    return Array.from({ length: slots }, (_, slot): SlotSpec => {
      const rank = head.map((r, i) =>
        slot === 0 ? (i === at ? r - 1 : r) : i === slot ? Math.min(cap, r + 1) : slot === 3 && i === at ? r - 1 : r,
      );
      return {
        kind: 'ranked',
        text: edited(text, random),
        rank,
        output: `checked ${m} obligations, slot ${slot}, ${random()}\n`,
      };
    });
  };
  return {
    /** Everything up to the commit; then only that is left to be timed. `checkpointed`: the log is empty then. */
    prepare: (checkpointed: boolean): CommitRound => {
      db.checkpoint();
      openRound(db, scenario.open(slots));
      storeProposals(db, scenario.proposals(slots));
      if (checkpointed) db.checkpoint();
      return scenario.commit(specs());
    },
    commit: (input: CommitRound) => {
      commitRound(db, input);
    },
    done: (input: CommitRound) => {
      scenario.apply(input);
    },
    close: () => db.close(),
  };
};

const shuffle = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);

/**
 * Interleaved rounds in one process, in shuffled order. Ratios are medians of the store's commit over the median of the bare transaction
 * with the same plain blobs: one blob for one slot, the four blobs in one transaction for four slots. Both sides find the same log: one
 * that was begun again by an earlier write (one fsync in each transaction), or, in rows of their own, one that was just checkpointed (two).
 */
export async function benchCommit(): Promise<BenchReport> {
  const dir = mkdtempSync(join(tmpdir(), 'pawl-bench-commit-'));
  const generator = createRandom(['bench commit', 1]);
  const random = () => generator.next();
  const fd = openSync(join(dir, 'appended'), 'a');
  const bares = new Map([1, 4].map((n) => [n, openBare(join(dir, `bare-${n}.db`))]));
  const runs = new Map([1, 4].map((n) => [n, openRun(join(dir, `run-${n}`), n, random)]));
  const samples = new Map<string, number[]>();
  const of = (label: string): number[] => {
    const known = samples.get(label) ?? [];
    samples.set(label, known);
    return known;
  };
  const many = openRun(join(dir, 'run-many'), 1, random, manyObligations);
  try {
    for (let i = 0; i < manyRounds; i++) {
      const input = many.prepare(false);
      timed(of('many'), () => many.commit(input));
      many.done(input);
    }
    const ofMany = of('many');
    for (let i = 0; i < warmUp + measured; i++) {
      if (i === warmUp) {
        samples.clear();
        samples.set('many', ofMany);
      }
      for (const n of shuffle([1, 4], random)) {
        const run = runs.get(n);
        const bare = bares.get(n);
        if (run === undefined || bare === undefined) throw new Error(`no databases for ${n} slots`);
        const checkpointed = i % checkpointedEvery === 0;
        const input = run.prepare(checkpointed);
        bare.checkpoint();
        if (!checkpointed) bare.touch();
        const log = checkpointed ? ', checkpointed' : '';
        const blobs = input.blobs.filter(({ bytes }) => bytes.length >= candidateBytes / 2);
        if (blobs.length !== n) throw new Error(`${blobs.length} candidates for ${n} slots`);
        const hashes = blobs.map(({ bytes }) => ({ sha: hash('sha256', bytes), bytes }));
        const variants = [
          () => timed(of(`bare ${n}${log}`), () => bare.commit(hashes)),
          () => timed(of(`commit ${n}${log}`), () => run.commit(input)),
          () =>
            timed(of(`append ${n}${log}`), () => {
              for (const { bytes } of blobs) writeSync(fd, bytes);
              fdatasyncSync(fd);
            }),
        ];
        for (const variant of shuffle(variants, random)) variant();
        run.done(input);
      }
      // Lets the collector and other work run between rounds, not inside one.
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
  } finally {
    for (const side of [...bares.values(), ...runs.values(), many]) side.close();
    closeSync(fd);
    rmSync(dir, { recursive: true, force: true });
  }
  const row = (label: string, key: string, against: string | null, goal: number | null): BenchRow => {
    const medianMs = quantile(of(key), 0.5);
    const ratio = against === null ? null : medianMs / quantile(of(against), 0.5);
    return { label, medianMs, p95Ms: quantile(of(key), 0.95), ratio, goal, ok: goal === null || ratio === null || ratio <= goal };
  };
  const four = row('', 'commit 4', 'bare 1', null);
  // Shown beside the goal: a store without rounds would have made each attempt durable by itself.
  const fourTimes: BenchRow = { ...four, ratio: four.ratio === null ? null : four.ratio / 4 };
  // A ratio to a transaction that is nearly all fsync says more of the disk than of the store: what the store adds is work of the processor.
  const added = (n: number, goal: number): string => {
    const bareMs = quantile(of(`bare ${n}`), 0.5);
    const addedMs = quantile(of(`commit ${n}`), 0.5) - bareMs;
    return `${n} ${n === 1 ? 'slot' : 'slots'}: ${addedMs.toFixed(2)} ms added; the goal holds where the bare transaction takes ${(addedMs / (goal - 1)).toFixed(2)} ms or more, here it takes ${bareMs.toFixed(2)} ms`;
  };
  return {
    name: 'commit',
    notes: [added(1, oneSlotGoal), added(4, fourSlotsGoal)],
    rows: [
      row('bare WAL FULL transaction, one blob of 20 KB', 'bare 1', null, null),
      row('append + fdatasync, the same bytes', 'append 1', 'bare 1', null),
      row('commitRound, one slot', 'commit 1', 'bare 1', oneSlotGoal),
      row('bare WAL FULL transaction, four blobs of 20 KB in one', 'bare 4', null, null),
      row('append + fdatasync, the same bytes', 'append 4', 'bare 4', null),
      row('commitRound, four slots, against one bare transaction', 'commit 4', 'bare 4', fourSlotsGoal),
      { ...fourTimes, label: 'the same, against four bare transactions of one blob' },
      row('bare, right after a checkpoint, one blob', 'bare 1, checkpointed', null, null),
      row('commitRound, right after a checkpoint, one slot', 'commit 1, checkpointed', 'bare 1, checkpointed', null),
      row('bare, right after a checkpoint, four blobs', 'bare 4, checkpointed', null, null),
      row('commitRound, right after a checkpoint, four slots', 'commit 4, checkpointed', 'bare 4, checkpointed', null),
      row(`commitRound, one slot, ${manyObligations.toLocaleString('en')} obligations`, 'many', 'bare 1', null),
    ],
  };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(`${formatReport(await benchCommit())}\n`);
}
