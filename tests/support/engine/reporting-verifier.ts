// A scripted verifier whose executions leave what a real one leaves: a report with the nonce, judged by the real judge. A replay needs it.
import { judgeReport, verdictOf } from '#electron/verifiers/judge.ts';
import { noExecution, type Execution } from '#electron/verifiers/runner-contract.ts';
import { noGuarantees } from '#electron/verifiers/sandbox/api.ts';
import type { Verification, VerifierService } from '#electron/verifiers/api.ts';
import { sha256Hex, sha256Text } from '#shared/lib/hash.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { NoVerdictCode, SandboxRecord } from '#shared/domain/verdict.ts';
import { assertNever } from '#shared/lib/assert.ts';
import { bytesOf } from './builders.ts';
import { State } from './scripted-verifier.ts';

export type ReportingVerifier = VerifierService & {
  /** Trees in the order in which they were verified. */
  readonly verified: Sha[];
};

export type ReportingOptions = {
  /** Tells the executions of two verifiers apart. */
  readonly name?: string;
  /** Changes what a tree says, by the number (from 1) of its execution. */
  readonly override?: (tree: Sha, time: number, state: State) => State;
  /** Whether executions write something beside their report. */
  readonly output?: (tree: Sha, time: number) => string;
  /** What every execution says of the sandbox of its candidate. */
  readonly sandbox?: SandboxRecord;
};

export function createReportingVerifier({
  name = 'v',
  override = (_tree, _time, state) => state,
  output = (tree) => `looked at ${tree}\n`,
  sandbox,
}: ReportingOptions = {}): ReportingVerifier {
  const verified: Sha[] = [];
  return {
    verified,
    concurrency: 2,
    lost: () => false,
    resolveProgram: () => Promise.resolve({ error: 'scripted' }),
    sandbox: () =>
      Promise.resolve({
        available: false,
        backend: null,
        version: null,
        experimental: false,
        guarantees: noGuarantees,
        message: 'scripted',
        remedy: null,
      }),
    verify: async ({ contract, tree, files }, signal): Promise<Verification> => {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      verified.push(tree);
      const time = verified.filter((t) => t === tree).length;
      const file = files.find(({ path }) => path === 'state.json');
      const state = override(tree, time, State.parse(JSON.parse(new TextDecoder().decode(file?.bytes))));
      const id = `vrun_${name}_${verified.length}`;
      const nonce = sha256Text(id).slice(0, 32);
      const written = bytesOf(output(tree, time));
      const base: Execution = {
        ...noExecution,
        startedAt: '2026-01-01T00:00:00.000Z',
        durationMs: 1.25,
        ending: 'returned',
        output: written.length === 0 ? null : written,
      };
      const report = (values: readonly number[], echo: string): Uint8Array =>
        bytesOf(
          JSON.stringify({
            nonce: echo,
            tree,
            contract: contract.sha,
            values: Object.fromEntries(contract.obligations.map(({ key }, i) => [key, values[i] ?? 0])),
            advisory: Object.fromEntries(contract.advisory.map(({ key }, i) => [key, i + 1])),
            details: Object.fromEntries(contract.obligations.map(({ key }, i) => [key, `${values[i] ?? 0} left`])),
          }),
        );
      const execution: Execution = signal.aborted
        ? { ...base, ending: 'aborted' }
        : 'rank' in state
          ? { ...base, report: report(state.rank, nonce) }
          : { ...base, ...failure(state.noVerdict, report([], 'another nonce')) };
      const judgement = judgeReport({ contract, nonce, tree, execution });
      const blobs = [execution.report, execution.output].flatMap((bytes) => (bytes === null ? [] : [{ sha: sha256Hex(bytes), bytes }]));
      const [reportSha, outputSha] = [execution.report, execution.output].map((bytes) => (bytes === null ? null : sha256Hex(bytes)));
      return {
        verdict: verdictOf(judgement, {
          id,
          durationMs: base.durationMs,
          output: outputSha ?? null,
          ...(sandbox === undefined ? {} : { sandbox }),
        }),
        runs: [
          {
            id,
            nonce,
            tree,
            startedAt: base.startedAt,
            durationMs: base.durationMs,
            exitCode: execution.exitCode,
            signal: execution.signal,
            report: reportSha ?? null,
            output: outputSha ?? null,
            result: judgement.kind === 'ranked' ? 'ranked' : judgement.code,
          },
        ],
        blobs,
      };
    },
  };
}

function failure(code: NoVerdictCode, wrongEcho: Uint8Array): Partial<Execution> {
  switch (code) {
    case 'crash':
      return { ending: 'threw', message: 'scripted' };
    case 'malformed':
      return { report: bytesOf('no JSON') };
    case 'attestation':
      return { report: wrongEcho };
    case 'tampered':
      return { tampered: ['verifier/check.js'], report: wrongEcho };
    case 'verifier_timeout':
      return { ending: 'timeout' };
    case 'setup_timeout':
      return { ending: 'setup_timeout' };
    case 'infra':
    case 'transfer':
    case 'parse':
    case 'budget':
    case 'aborted':
      return { ending: 'infra', message: 'scripted' };
    default:
      return assertNever(code, 'code');
  }
}
