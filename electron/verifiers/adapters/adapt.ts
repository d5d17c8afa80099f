// Runs the adapter that a job names; the entry of the adapters' thread.
import { type AdapterResult, problem } from './adapter.ts';
import { adapterNamed } from './registry.ts';
import { type AdaptJob, reportOf } from './report-of.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type { AdaptJob } from './report-of.ts';

/** Runs the adapter of `job`. Never throws: an adapter that fails is a problem like others. */
export function adapt(job: AdaptJob): Uint8Array {
  return reportOf(job, resultOf(job));
}

function resultOf(job: AdaptJob): AdapterResult {
  const adapter = adapterNamed(job.adapter);
  if (adapter === undefined) return problem('infra', `the contract needs the adapter ${job.adapter}, which this version does not have`);
  if (job.reportProblem !== null) return problem('malformed', `the tool's report cannot be read: ${job.reportProblem}`);
  const { report, exitCode, nonce, obligations, advisory, files } = job;
  try {
    return adapter.run({ report, exitCode, nonce, obligations, advisory, files });
  } catch (error) {
    return problem('malformed', `the adapter ${adapter.name} could not read the report: ${messageOf(error)}`);
  }
}
