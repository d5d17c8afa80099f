// What a decision replay tells to whoever wants more of it than its report: what it finds, and what it made again from the sources.
import type { SlotRecord } from '#electron/governor/round-records.ts';
import type { Measurement } from '#electron/governor/measure.ts';
import type { Proposed } from '#electron/governor/attempt.ts';
import type { ReplayTransition } from '#electron/store/api.ts';
import type { AuditFinding } from '#shared/domain/audit/places.ts';
import type { Amounts } from '#shared/domain/budget.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { TreeFile } from '#shared/domain/tree.ts';

/** One round, made again. */
export type ReplayedRound = {
  readonly round: number;
  /** The tree that its attempts start from. */
  readonly baseTree: Sha;
  readonly baseFiles: readonly TreeFile[];
  /** In slot order, with the bytes of request and response; empty bytes where a request is not stored. */
  readonly proposed: readonly Proposed[];
  /** In slot order; null: the round was not decided. */
  readonly slots: readonly SlotRecord[] | null;
  /** The rows of its transitions, by number. */
  readonly stored: ReadonlyMap<number, ReplayTransition>;
};

export type ReplayObserver = {
  /** Everything that is found, also beyond what a report lists. */
  finding(found: AuditFinding): void;
  /** Header, contract and seed could be read: the rest of the run will be replayed. `instruction` is null where its bytes are not there. */
  began(declared: { readonly header: RunHeader; readonly contract: Contract; readonly instruction: Uint8Array | null }): void;
  /** The measurements of the seed. */
  seed(measurements: readonly Measurement[]): void;
  round(round: ReplayedRound): void;
  resumed(): void;
  /** The sums over all attempts. */
  ended(sums: { readonly used: Amounts; readonly overshoot: Amounts }): void;
};
