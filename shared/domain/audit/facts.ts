// What an audit is decided from: a run as a decision replay made it again from its sources, and what it found to be different.
import type { Amounts } from '../budget.ts';
import type { Contract } from '../contract.ts';
import type { RunHeader } from '../header.ts';
import type { Outcome } from '../transition.ts';
import type { Rank } from '../verdict.ts';
import type { FindingBook } from './findings.ts';
import type { RequestCheck } from './request.ts';

/** One attempt as it was recomputed. */
export type AuditAttempt = {
  readonly n: number;
  readonly round: number;
  readonly outcome: Outcome;
  readonly rank: Rank | null;
  /** null: no request is stored, because the attempt was ended before. */
  readonly request: RequestCheck | null;
  /** Entries of the exploration memory that its proposer was shown. */
  readonly retrieved: number;
  readonly answer: AuditAnswer;
  /** How often its request was sent again, and how often of these although the server had answered. */
  readonly resent: number;
  readonly resentFreely: number;
  /** Executions of the verifier on the candidate and on the base beside it. */
  readonly executions: number;
  /** Those that repeated one which had ended in a fault. */
  readonly afterFault: number;
  /** Measurements of the candidate after the first, and of the base. */
  readonly confirming: number;
  readonly ofBase: number;
  /** Lines that it changes, for a candidate that could have been committed; null for others, and where bytes changed that are no lines. */
  readonly lines: number | null;
  /** Of a commit: files that both trees have and of which nothing is left. */
  readonly rewritten: readonly string[];
  /** Keys of the advisory values in its verdict, where the verdict was measured for this attempt. */
  readonly advisory: readonly string[];
};

/** What a stored response says about what its proposer had read. */
export type AuditAnswer =
  /** No response, or one without a change. */
  | { readonly kind: 'none' }
  /** Every edit quotes what it replaces, and the base has that there. */
  | { readonly kind: 'quoting' }
  /** Every file of the base that it changes stood whole in the request. */
  | { readonly kind: 'shown' }
  /** Edits that do not apply, since the base has other bytes there or no such file; or a changed file that was not in the request. */
  | { readonly kind: 'unread'; readonly message: string }
  /** Whole files. */
  | { readonly kind: 'whole' };

export type AuditFacts = {
  /** null: the header, the contract or the seed cannot be read, and nothing was recomputed. */
  readonly declared: { readonly header: RunHeader; readonly contract: Contract } | null;
  /** The stored contract that this one names as the one before it; null without one, or where it is not stored. */
  readonly previous: Contract | null;
  readonly findings: FindingBook;
  /** In order of n. */
  readonly attempts: readonly AuditAttempt[];
  /** The measurement of the seed; null where none is stored. */
  readonly seed: { readonly executions: number; readonly afterFault: number; readonly ranked: boolean } | null;
  readonly used: Amounts;
  readonly overshoot: Amounts;
  readonly rounds: number;
  readonly bundles: number;
  readonly events: number;
  readonly resumes: number;
  /** Requests, responses, reports and outputs whose bytes were read. */
  readonly natives: number;
  /** Taken as recorded: executions that the host ended, verdicts of the runs that this one branched from. */
  readonly host: number;
  readonly ancestors: number;
};
