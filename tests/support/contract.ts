// Contracts and budgets that say only what a test is about. What a test pins for good (goldens, the defaults of task.toml) it writes out.
import type { Budget } from '#shared/domain/budget.ts';
import type { ContractBody } from '#shared/domain/contract.ts';
import type { Obligation } from '#shared/domain/obligation.ts';
import { sha256Text } from '#shared/lib/hash.ts';

/** A count of at most 9 that everybody may see. */
export const obligationOf = (key: string, changes: Partial<Obligation> = {}): Obligation => ({
  key,
  title: `Title of ${key}`,
  cap: 9,
  kind: 'count',
  visibility: 'full',
  onCandidateTimeout: 'cap',
  missing: 'malformed',
  aggregate: 'worst',
  ...changes,
});

type Parts = 'verifier' | 'artifact' | 'measurement';
export type ContractChanges = Partial<Omit<ContractBody, Parts>> & { readonly [K in Parts]?: Partial<ContractBody[K]> };

/** A contract of data that a pure-js verifier measures once; any file may change. */
export function contractBodyOf(
  obligations: readonly Obligation[],
  { verifier, artifact, measurement, ...changes }: ContractChanges = {},
): ContractBody {
  return {
    format: 'pawl.contract/1',
    name: 'test',
    version: 1,
    previous: null,
    instruction: sha256Text('instruction'),
    obligations: [...obligations],
    advisory: [],
    from: obligations.map(() => null),
    verifier: {
      kind: 'pure-js',
      command: [],
      file: 'verifier/check.js',
      runsCandidate: false,
      isolation: 'none',
      adapter: null,
      report: null,
      files: [],
      env: [],
      timeoutsMs: { setup: 1_000, transfer: 1_000, run: 1_000, parse: 1_000 },
      limits: { memoryMb: 64, cpuS: 5, processes: 8, fileMb: 8, outputKb: 64 },
      ...verifier,
    },
    artifact: {
      allowEmpty: false,
      maxFiles: 100,
      maxBytes: 1_000_000,
      writable: ['**'],
      protectedPaths: [],
      schema: null,
      ...artifact,
    },
    measurement: { preflightRuns: 1, confirmRuns: 1, paired: false, infraRetries: 0, ...measurement },
    auto: [],
    ...changes,
  };
}

/** A budget of so many attempts and no other limit. */
export const budgetOf = (attempts: number, changes: Partial<Budget> = {}): Budget => ({
  attempts,
  rounds: null,
  requests: null,
  promptTokens: null,
  completionTokens: null,
  verifierRuns: null,
  verifierMs: null,
  wallMs: null,
  ...changes,
});
