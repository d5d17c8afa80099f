// The record of one choice among several runs: which took part, where each ended, what the cross-check came to, and which was picked.
import { z } from 'zod';
import { TestResult } from './crosscheck.ts';
import { Count, RunId, Sha } from './ids.ts';
import { StopReason } from './transition.ts';
import { NoVerdictCode, Rank } from './verdict.ts';

/** A run that took part; everything about its end is null where nothing was certified. */
const SelectedRun = z.strictObject({
  run: RunId,
  seed: Count,
  stop: StopReason.nullable(),
  end: z.strictObject({ bundle: Sha, seq: Count, tree: Sha, potential: Count, rank: Rank }).nullable(),
});

/** Why there was no cross-check. */
export const NoCrosscheck = z.enum([
  /** No two runs tie in potential and rank. */
  'one_finalist',
  /** All that tie ended at the same tree. */
  'one_tree',
  'not_declared',
  /** None of the finalists has added a test. */
  'no_tests',
  /** It would run candidates' code, and there is no sandbox here. */
  'no_sandbox',
  'no_program',
  'not_asked',
]);
export type NoCrosscheck = z.infer<typeof NoCrosscheck>;

const Execution = z.strictObject({
  id: z.string(),
  nonce: z.string(),
  startedAt: z.string(),
  durationMs: z.number().min(0),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  /** The report as it was read, and what was written beside it: stored objects. */
  report: Sha.nullable(),
  output: Sha.nullable(),
  result: z.string(),
});

/** The tests of one finalist on one tree. */
const Cell = z.strictObject({
  /** Positions in `finalists`; `target` null: the base that all runs began with. */
  author: Count,
  target: Count.nullable(),
  /** What the report had to repeat: the contract with a test for each obligation, and the tree that was put together; null: it could not be. */
  contract: Sha,
  tree: Sha.nullable(),
  executions: z.array(Execution),
  result: z.discriminatedUnion('kind', [
    /** 0 passes, 1 does not, for each of the author's tests. */
    z.strictObject({ kind: z.literal('ranked'), rank: Rank }),
    z.strictObject({ kind: z.literal('none'), code: NoVerdictCode, message: z.string() }),
  ]),
});
export type SelectionCell = z.infer<typeof Cell>;

const Finalist = z.strictObject({
  tree: Sha,
  /** Positions in `runs` of those that ended at this tree. */
  runs: z.array(Count).min(1),
  tests: z.array(z.strictObject({ path: z.string(), sha: Sha })),
  /** Tests that it has added beyond those, which were not run. */
  omitted: Count,
  /** Other finalists of whose counting tests it does not pass all. */
  failedAuthors: Count,
  /** Of `ofTests` counting tests of others, so many are not passed. */
  failedTests: Count,
  ofTests: Count,
});

const MadeCrosscheck = z.strictObject({
  kind: z.literal('made'),
  /** Of a `command`, as it was found; null for pure-js. */
  program: z.strictObject({ path: z.string(), version: z.string() }).nullable(),
  finalists: z.array(Finalist).min(2),
  /** Trees of further finalists, which came too late to be checked. */
  leftOut: z.array(Sha),
  cells: z.array(Cell),
  /** A line for every test: whose it is, whether it counts, and what it came to on each finalist. */
  results: z.array(z.strictObject({ author: Count, path: z.string(), counts: z.boolean(), on: z.array(TestResult) })),
});
export type MadeCrosscheck = z.infer<typeof MadeCrosscheck>;

const Crosscheck = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none'), reason: NoCrosscheck, message: z.string() }),
  MadeCrosscheck,
]);

export const Selection = z.strictObject({
  format: z.literal('pawl.selection/1'),
  /** ISO 8601 UTC. */
  at: z.string(),
  contract: Sha,
  /** The tree that all runs began with. */
  base: Sha,
  /** In the order in which they were run. */
  runs: z.array(SelectedRun).min(1),
  /** Positions in `runs` of those that certified something, best first; the first is the picked one. */
  order: z.array(Count),
  /** What put the first before the second; null where nothing was certified. */
  decidedBy: z.enum(['only', 'potential', 'rank', 'crosscheck', 'tree', 'order']).nullable(),
  crosscheck: Crosscheck,
});
export type Selection = z.infer<typeof Selection>;

/** A selection under the SHA-256 of its RFC 8785 JSON, which is its name. */
export const NamedSelection = z.strictObject({ sha: Sha, selection: Selection });
export type NamedSelection = z.infer<typeof NamedSelection>;
