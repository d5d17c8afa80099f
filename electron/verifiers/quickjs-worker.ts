// Thread of the runner that executes pure-js verifiers in QuickJS: a fresh runtime and context for each, no access to anything of the
// host. The verifier sees ECMAScript without Date and without Math.random (the same files must give the same report; a call of either
// fails loudly), one global function to define, `verify`, and the object that it is called with.
import { parentPort } from 'node:worker_threads';
import { DefaultIntrinsics, Scope, type QuickJSContext, type QuickJSHandle, type VmCallResult } from 'quickjs-emscripten';
import { z } from 'zod/mini';
import { runCandidate, RunRequest } from './quickjs-candidate.ts';
import { createEngine, OutOfMemory, type Engine } from './quickjs-engine.ts';
import { messageOf } from '#shared/lib/message-of.ts';

const Job = z.object({
  id: z.number(),
  file: z.string(),
  files: z.array(z.object({ path: z.string(), bytes: z.custom<Uint8Array>((value) => value instanceof Uint8Array) })),
  nonce: z.string(),
  tree: z.string(),
  contract: z.string(),
  runMs: z.number(),
  memoryBytes: z.number(),
  reportBytes: z.number(),
  /** Of one call of `pawl.run`. */
  resultBytes: z.number(),
  /** Whether the verifier may run the candidate's code, by `pawl.run`. */
  runsCandidate: z.boolean(),
});
export type WorkerJob = z.infer<typeof Job>;

export type WorkerAnswer = {
  readonly id: number;
  readonly ending: 'returned' | 'threw' | 'out_of_memory' | 'timeout';
  readonly message: string;
  readonly report: Uint8Array | null;
  readonly reportProblem: string | null;
  /** Error text with its stack. */
  readonly output: Uint8Array | null;
  readonly durationMs: number;
  /** The thread is not to be used again: its memory has grown (it never shrinks), or QuickJS failed inside. */
  readonly spent: boolean;
};

const stackBytes = 512 * 1024;
/** A thread whose WebAssembly memory has grown by more is replaced, because only its end gives that back at once. */
const keptBytes = 32 * 1024 * 1024;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Text of a file, or null where it is not UTF-8: a verifier must not mistake replaced bytes for content. */
const textOf = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
};

class Failure extends Error {
  readonly stackText: string;
  constructor(message: string, stackText: string) {
    super(message);
    this.stackText = stackText;
  }
}

// Gives the report as JSON text, or what in it JSON has no number for: it would write null, and nobody would find the division by zero.
const prepare = `(() => {
  delete Math.random;
  const { stringify } = JSON;
  const { isFinite } = Number;
  return (report) => {
    let root, values, advisory, noNumber;
    const text = stringify(report, function (key, value) {
      if (root === undefined) root = value;
      else if (this === root && key === 'values') values = value;
      else if (this === root && key === 'advisory') advisory = value;
      if (typeof value === 'number' && !isFinite(value) && noNumber === undefined) {
        const place = this === values ? 'values.' : this === advisory ? 'advisory.' : '';
        noNumber = (key === '' ? 'it' : place + key) + ' is ' + value + '; write a finite number';
      }
      return value;
    });
    return noNumber === undefined ? text : { noNumber };
  };
})()`;

const threwNull = 'it threw null';

/** What was thrown, in words. Reading it may run the verifier's own getters; the deadline holds for them too. */
const describeError = (vm: QuickJSContext, error: QuickJSHandle): Failure => {
  const text = (key: string): string =>
    vm.getProp(error, key).consume((handle) => (vm.typeof(handle) === 'string' ? vm.getString(handle) : ''));
  const type = vm.typeof(error);
  if (vm.sameValue(error, vm.null)) return new Failure(threwNull, '');
  if (type !== 'object')
    return new Failure(`it threw ${type === 'string' ? JSON.stringify(vm.getString(error).slice(0, 500)) : `a value of type ${type}`}`, '');
  const name = text('name') || 'Error';
  const message = text('message').slice(0, 2_000);
  return new Failure(message === '' ? name : `${name}: ${message}`, `${name}: ${message}\n${text('stack').slice(0, 8_000)}`);
};

/** What is wrong with the argument of `pawl.run`. */
const problemOf = (issue: z.core.$ZodIssue): string => {
  const place = issue.path.map(String).join('.') || 'its argument';
  return issue.code === 'unrecognized_keys'
    ? `${issue.keys.join(', ')} is unknown`
    : `${place} is ${issue.code === 'invalid_type' ? `not of type ${issue.expected}` : 'not allowed'}`;
};

/** `candidate` is the instance in which candidate code runs, for a job that runs some. */
const run = (engine: Engine, candidate: Engine | null, job: WorkerJob): WorkerAnswer => {
  const start = performance.now();
  let interrupted = false;
  let spent = false;
  const state = { broken: false };
  const hasGrown = (one: Engine | null): boolean => one !== null && one.grownBytes() > keptBytes;
  const answer = (rest: Partial<WorkerAnswer> & Pick<WorkerAnswer, 'ending'>): WorkerAnswer => ({
    id: job.id,
    message: '',
    report: null,
    reportProblem: null,
    output: null,
    durationMs: performance.now() - start,
    spent: spent || state.broken || hasGrown(engine) || hasGrown(candidate),
    ...rest,
  });
  const source = job.files.find(({ path }) => path === job.file);
  const program = source === undefined ? null : textOf(source.bytes);
  if (program === null) return answer({ ending: 'threw', message: `${job.file} is missing or not UTF-8 text` });
  engine.limit(job.memoryBytes);
  try {
    return Scope.withScope((scope) => {
      const runtime = scope.manage(engine.quickjs.newRuntime());
      // Refuses a single block that is too large; the memory of the instance refuses everything else.
      runtime.setMemoryLimit(job.memoryBytes);
      runtime.setMaxStackSize(stackBytes);
      runtime.setInterruptHandler(() => {
        interrupted ||= performance.now() - start > job.runMs;
        return interrupted;
      });
      const vm = scope.manage(runtime.newContext({ intrinsics: { ...DefaultIntrinsics, Date: false } }));
      const value = (result: VmCallResult<QuickJSHandle>): QuickJSHandle => {
        if (result.error === undefined) return scope.manage(result.value);
        throw describeError(vm, scope.manage(result.error));
      };
      const get = (object: QuickJSHandle, key: string) => scope.manage(vm.getProp(object, key));

      // Taken before the verifier's program runs, so that it cannot replace them for itself by accident.
      const json = get(vm.global, 'JSON');
      const parse = get(json, 'parse');
      const stringify = get(json, 'stringify');
      const write = value(vm.evalCode(prepare, 'pawl:prepare', { type: 'global' }));
      value(vm.evalCode(program, job.file, { type: 'global' }));
      // Evaluated, not read from the global object: `const verify = ...` lives beside it.
      const verify = value(vm.evalCode('typeof verify === "function" ? verify : undefined', 'pawl:verify', { type: 'global' }));
      if (vm.typeof(verify) !== 'function') throw new Failure(`${job.file} defines no function verify(pawl)`, '');

      // As one JSON text, because a string handed over directly ends at its first NUL.
      const input = JSON.stringify({
        files: Object.fromEntries(job.files.map(({ path, bytes }) => [path, textOf(bytes)])),
        nonce: job.nonce,
        tree: job.tree,
        contract: job.contract,
      });
      const pawl = value(vm.callFunction(parse, vm.undefined, scope.manage(vm.newString(input))));
      if (candidate !== null) {
        const artifact = new Map(
          job.files.flatMap(({ path, bytes }): [string, string][] => {
            const text = path.startsWith('artifact/') ? textOf(bytes) : null;
            return text === null ? [] : [[path, text]];
          }),
        );
        const host = vm.newFunction('run', (request) => {
          // Read as JSON text too, so that no getter or proxy of the verifier's takes part in it.
          const given = value(vm.callFunction(stringify, vm.undefined, request));
          const parsed = RunRequest.safeParse(vm.typeof(given) === 'string' ? JSON.parse(vm.getString(given)) : null);
          if (!parsed.success) throw new Error(`pawl.run: ${parsed.error.issues.map(problemOf).join('; ')}`);
          const results = runCandidate(candidate, parsed.data, artifact, {
            expired: () => performance.now() - start > job.runMs,
            memoryMb: job.memoryBytes / (1024 * 1024),
            resultBytes: job.resultBytes,
            state,
          });
          if (performance.now() - start > job.runMs) {
            interrupted = true;
            throw new Error('pawl.run: the time of the verification is over');
          }
          const answered = JSON.stringify(parsed.data.calls === undefined ? results[0] : results);
          return value(vm.callFunction(parse, vm.undefined, scope.manage(vm.newString(answered)))).dup();
        });
        vm.setProp(pawl, 'run', scope.manage(host));
      }
      const returned = value(vm.callFunction(verify, vm.undefined, pawl));
      const promise = vm.getPromiseState(returned);
      if (promise.type !== 'fulfilled' || promise.notAPromise !== true) {
        if (promise.type === 'fulfilled') scope.manage(promise.value);
        if (promise.type === 'rejected') scope.manage(promise.error);
        throw new Failure('verify() returned a promise; it must return the report itself', '');
      }
      const text = value(vm.callFunction(write, vm.undefined, returned));
      // It may have caught what told it so.
      if (interrupted) return answer({ ending: 'timeout' });
      const noNumber = vm.typeof(text) === 'object' ? get(text, 'noNumber') : null;
      if (noNumber !== null) return answer({ ending: 'returned', reportProblem: vm.getString(noNumber).slice(0, 300) });
      if (vm.typeof(text) !== 'string') throw new Failure('verify() returned nothing that JSON can hold; it must return the report', '');
      const tooLong = answer({ ending: 'returned', reportProblem: `it is longer than ${job.reportBytes} bytes` });
      // Looked at before it is copied out: the text itself may be as large as the VM's memory.
      if (vm.getNumber(get(text, 'length')) > job.reportBytes) return tooLong;
      const report = encoder.encode(vm.getString(text));
      return report.length > job.reportBytes ? tooLong : answer({ ending: 'returned', report });
    });
  } catch (error) {
    if (interrupted) return answer({ ending: 'timeout' });
    const outOfMemory = answer({ ending: 'out_of_memory', message: 'out of memory' });
    if (error instanceof OutOfMemory) return outOfMemory;
    if (error instanceof Failure) {
      // What has no room for an error throws null.
      if (error.message.startsWith('InternalError: out of memory') || (engine.refused() && error.message === threwNull)) return outOfMemory;
      return answer({ ending: 'threw', message: error.message, output: error.stackText === '' ? null : encoder.encode(error.stackText) });
    }
    // Not the verifier's exception but one of QuickJS itself (its own memory or stack): nothing in this thread is to be trusted now.
    spent = true;
    if (engine.refused()) return answer({ ending: 'out_of_memory', message: 'out of memory' });
    const message = messageOf(error);
    return answer({ ending: 'threw', message: `QuickJS failed inside: ${message.slice(0, 500)}` });
  }
};

/** Serves the thread's port: one job in, one answer out, one at a time. */
export async function serveQuickJs(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('quickjs-worker.ts runs as a thread of the runner');
  let engine = await createEngine();
  // Made when first needed; jobs come one at a time, so none overtakes another meanwhile.
  let candidate: Engine | null = null;
  port.on('message', async (message: unknown) => {
    const job = Job.parse(message);
    // Memory never shrinks: every job begins where nothing has grown, so that its limit means the same whatever ran before.
    if (engine.grownBytes() > 0) engine = await createEngine();
    if (job.runsCandidate && (candidate === null || candidate.grownBytes() > 0)) candidate = await createEngine();
    port.postMessage(run(engine, job.runsCandidate ? candidate : null, job));
  });
  port.postMessage('ready');
}
