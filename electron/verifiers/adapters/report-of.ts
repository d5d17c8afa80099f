// The report that is judged and stored, made of what an adapter found. The tool knows nothing of nonce, tree and contract: the runner,
// which laid out a fresh folder for this one verification and saw that the tool's report was not there before, writes them itself.
import { hash } from 'node:crypto';
import { type AdapterFile, type AdapterResult, isProblem, type Wanted } from './adapter.ts';

/** Cloned to the thread that runs the adapter. */
export type AdaptJob = {
  readonly adapter: string;
  readonly obligations: readonly Wanted[];
  readonly advisory: readonly string[];
  readonly report: Uint8Array | null;
  /** Why the report was not read although there is one. */
  readonly reportProblem: string | null;
  readonly exitCode: number | null;
  readonly files: readonly AdapterFile[];
  readonly nonce: string;
  readonly tree: string;
  readonly contract: string;
};

/** The report of `job` for a result that was found in whatever way. */
export function reportOf(job: Omit<AdaptJob, 'files' | 'obligations' | 'advisory' | 'reportProblem'>, result: AdapterResult): Uint8Array {
  const { nonce, tree, contract } = job;
  const adapter = { name: job.adapter, exitCode: job.exitCode, report: job.report === null ? null : hash('sha256', job.report, 'hex') };
  const found = isProblem(result)
    ? { problem: { code: result.problem, message: result.message } }
    : { values: result.values, advisory: result.advisory, details: result.details };
  return new TextEncoder().encode(JSON.stringify({ nonce, tree, contract, adapter, ...found }));
}
