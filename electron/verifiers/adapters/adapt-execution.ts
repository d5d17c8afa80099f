// Between an execution and its adapter, in the runner.
import { noExecution, type AdapterSpec, type CommandJob, type Execution, type FilesJob } from '../runner-contract.ts';
import type { AdapterThreads } from './adapter-thread.ts';

/**
 * The execution with the report that the adapter made of the tool's. One that did not end by itself is left as it is: what a tool left
 * that was ended from outside is no report.
 */
export async function adaptExecution(
  job: CommandJob,
  spec: AdapterSpec,
  execution: Execution,
  threads: AdapterThreads,
  signal: AbortSignal,
): Promise<Execution> {
  const { ending, exitCode, report: toolReport, reportProblem, tampered } = execution;
  if (ending !== 'exited' || execution.signal !== null || tampered.length > 0) return { ...execution, report: null, toolReport };
  const report = await threads.adapt({ ...given(job, spec), report: toolReport, reportProblem, exitCode }, spec.parseMs, signal);
  return { ...execution, report, reportProblem: null, toolReport };
}

/** An execution that is nothing but its adapter. */
export async function adaptFiles(job: FilesJob, threads: AdapterThreads, signal: AbortSignal): Promise<Execution> {
  const startedAt = new Date().toISOString();
  const start = performance.now();
  if (signal.aborted) return { ...noExecution, startedAt, ending: 'aborted' };
  const nothing = { report: null, reportProblem: null, exitCode: null };
  const report = await threads.adapt({ ...given(job, job.adapter), ...nothing }, Math.min(job.adapter.parseMs, job.runMs), signal);
  return { ...noExecution, startedAt, durationMs: performance.now() - start, ending: 'returned', report };
}

const given = ({ files, nonce, tree, contract }: CommandJob | FilesJob, { name, obligations, advisory }: AdapterSpec) => ({
  adapter: name,
  obligations,
  advisory,
  files: files.map(({ path, bytes }) => ({ path, bytes })),
  nonce,
  tree,
  contract,
});
