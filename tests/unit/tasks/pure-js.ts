// A task's pure-js verifier, called directly. The verifier is the task's own code and runs in a context of Node; candidate code runs in
// QuickJS, by the function behind pawl.run.
import { createContext, runInContext } from 'node:vm';
import { ensure } from '#shared/lib/assert.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { LoadedTask } from '#electron/core/tasks/load-task.ts';
import { RunRequest, runCandidate } from '#electron/verifiers/quickjs-candidate.ts';
import { createEngine, type Engine } from '#electron/verifiers/quickjs-engine.ts';
import { TaskReport } from './task-report.ts';

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** `reportOf` runs the verifier on a candidate; `rankOf` is the same as a rank in the order of the contract. */
export async function pureJsVerifier(task: LoadedTask): Promise<{
  readonly reportOf: (files: readonly TreeFile[]) => Promise<TaskReport>;
  readonly rankOf: (files: readonly TreeFile[]) => Promise<number[]>;
}> {
  const program = ensure(
    task.verifierFiles.find(({ path }) => path === task.contract.verifier.file),
    'the verifier',
  );
  const context = createContext({});
  const verify: unknown = runInContext(`${decode(program.bytes)};verify`, context);
  if (typeof verify !== 'function') throw new Error('the verifier defines no verify()');
  let engine: Engine = await createEngine();
  const reportOf = async (files: readonly TreeFile[]): Promise<TaskReport> => {
    const artifact = new Map(files.map(({ path, bytes }) => [`artifact/${path}`, decode(bytes)]));
    const verifier = task.verifierFiles.map(({ path, bytes }): [string, string] => [path, decode(bytes)]);
    const state = { broken: false };
    const run = (request: unknown): unknown => {
      const parsed = RunRequest.parse(JSON.parse(JSON.stringify(request)));
      const results = runCandidate(engine, parsed, artifact, { expired: () => false, memoryMb: 512, resultBytes: 8 * 1024 * 1024, state });
      return parsed.calls === undefined ? results[0] : results;
    };
    const pawl = { files: Object.fromEntries([...artifact, ...verifier]), nonce: 'n1', tree: 't1', contract: 'c1', run };
    const report: unknown = verify(pawl);
    if (state.broken || engine.grownBytes() > 32 * 1024 * 1024) engine = await createEngine();
    return TaskReport.parse(JSON.parse(JSON.stringify(report)));
  };
  return {
    reportOf,
    rankOf: async (files) => {
      const { values } = await reportOf(files);
      return task.contract.obligations.map(({ key }) => ensure(values[key], `a value for ${key}`));
    },
  };
}
