// Runs candidate code for a pure-js verifier, behind `pawl.run`. The candidate gets a QuickJS of its own: another WebAssembly instance
// (so not even a fault of QuickJS itself reaches the verifier's memory), a fresh runtime with its own limits, and nothing of ours in it.
// All that comes out is a JSON text that JSON.stringify made, taken before any candidate code ran, or why there is none.
import { DefaultIntrinsics, Scope, type QuickJSContext, type QuickJSHandle } from 'quickjs-emscripten';
import { z } from 'zod/mini';
import { OutOfMemory, type Engine } from './quickjs-engine.ts';

const Call = z.strictObject({ call: z.string(), args: z._default(z.array(z.unknown()), []) });

const positive = z.int().check(z.minimum(1));

/** What the verifier passes to `pawl.run`; either `call` (with `args`) or `calls`. */
export const RunRequest = z.strictObject({
  /** Text by path; all files of the artifact when absent. */
  files: z.optional(z.record(z.string(), z.string())),
  /** Path of the module whose exports are called, such as `artifact/src/csv.js`. */
  entry: z.string(),
  call: z.optional(z.string()),
  args: z.optional(z.array(z.unknown())),
  calls: z.optional(z.array(Call)),
  /** Each call in a runtime of its own, so that none sees what an earlier one left. */
  fresh: z._default(z.boolean(), false),
  /** Of evaluating the modules, and again of each call. */
  timeoutMs: z._default(positive, 1_000),
  /** The same as a number of QuickJS's own checks (one for about 10,000 jumps and calls), which no slow machine changes. */
  steps: z._default(positive, 1_000_000),
  memoryMb: z._default(positive, 32),
  /** After so many calls that met a limit the others are not made; they count as having met it too. */
  giveUpAfter: z._default(positive, 1_000_000),
});
export type RunRequest = z.infer<typeof RunRequest>;

type CallResult =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly error: { readonly name: string; readonly message: string } | 'timeout' | 'memory' };

/**
 * `json` is the JSON text of what the call returned. `loaded` says whether the modules had been evaluated: an error that a module throws on
 * loading is not the error that a call was expected to throw.
 */
export type RunResult = CallResult & { readonly loaded: boolean };

const stackBytes = 512 * 1024;
const maxMessage = 1_000;
const maxMemoryMb = 512;

/** A candidate's QuickJS failed inside; nothing more is run in it. */
type Broken = { broken: boolean };

type Loaded = { readonly scope: Scope; call(call: z.infer<typeof Call>): CallResult };

// Captures what is needed before the candidate can replace it. `call` takes the arguments as text, so that they are the candidate's own.
const helpers = `(() => {
  const { parse, stringify } = JSON;
  const { apply, get } = Reflect;
  delete Math.random;
  return {
    call(namespace, name, args) {
      const target = get(namespace, name);
      if (typeof target !== 'function') throw new TypeError('it exports no function ' + name);
      return apply(target, undefined, parse(args));
    },
    stringify: (value) => stringify(value),
  };
})()`;

class Stopped extends Error {
  readonly result: CallResult;
  constructor(result: CallResult) {
    super('stopped');
    this.result = result;
  }
}

const outOfMemory: CallResult = { ok: false, error: 'memory' };

const failure = (name: string, message: string): CallResult => ({ ok: false, error: { name, message } });

/** A string of the candidate's, or what stands for one that is too long to be copied. */
const textOf = (vm: QuickJSContext, handle: QuickJSHandle): string => {
  if (vm.typeof(handle) !== 'string') return '';
  const length = vm.getProp(handle, 'length').consume((value) => vm.getNumber(value));
  return length > maxMessage ? `(${length} characters)` : vm.getString(handle);
};

const describe = (vm: QuickJSContext, error: QuickJSHandle): { name: string; message: string } => {
  if (vm.typeof(error) !== 'object') return { name: 'thrown', message: textOf(vm, error) || `a value of type ${vm.typeof(error)}` };
  const read = (key: string): string => vm.getProp(error, key).consume((value) => textOf(vm, value));
  return { name: read('name') || 'Error', message: read('message') };
};

const resolve = (base: string, requested: string): string | null => {
  if (!requested.startsWith('./') && !requested.startsWith('../')) return null;
  const parts = base.split('/').slice(0, -1);
  for (const part of requested.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return null;
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
};

type Limits = { readonly timeoutMs: number; readonly steps: number; readonly memoryMb: number; readonly resultBytes: number };

const load = (engine: Engine, files: ReadonlyMap<string, string>, entry: string, limits: Limits, expired: () => boolean): Loaded => {
  const scope = new Scope();
  try {
    const bytes = Math.min(limits.memoryMb, maxMemoryMb) * 1024 * 1024;
    engine.limit(bytes);
    const runtime = scope.manage(engine.quickjs.newRuntime());
    runtime.setMemoryLimit(bytes);
    runtime.setMaxStackSize(stackBytes);
    let interrupted = false;
    let steps = 0;
    let start = performance.now();
    runtime.setInterruptHandler(() => {
      steps++;
      interrupted ||= steps > limits.steps || performance.now() - start > limits.timeoutMs || expired();
      return interrupted;
    });
    // QuickJS goes on without a module that its loader has not found; here that is an error.
    let missing: string | null = null;
    runtime.setModuleLoader(
      (name) => {
        const text = files.get(name);
        if (text !== undefined && !text.includes('\0')) return text;
        missing ??= `there is no module ${name.slice(0, 200)}`;
        return '';
      },
      (base, requested) => {
        const name = resolve(base, requested);
        if (name === null) missing ??= `cannot import ${JSON.stringify(requested.slice(0, 200))}: only ./ and ../ lead to files`;
        return name ?? requested;
      },
    );
    const vm = scope.manage(runtime.newContext({ intrinsics: { ...DefaultIntrinsics, Date: false } }));

    /** What was returned; throws a Stopped for everything else. */
    const value = (result: ReturnType<QuickJSContext['evalCode']>, within: Scope): QuickJSHandle => {
      if (result.error === undefined) {
        const handle = within.manage(result.value);
        // A loop that was interrupted may still have returned, from its own catch or finally.
        if (interrupted) throw new Stopped({ ok: false, error: 'timeout' });
        return handle;
      }
      const error = within.manage(result.error);
      if (interrupted) throw new Stopped({ ok: false, error: 'timeout' });
      // What has no room for an error throws null.
      if (engine.refused() && vm.sameValue(error, vm.null)) throw new Stopped(outOfMemory);
      const { name, message } = describe(vm, error);
      if (interrupted) throw new Stopped({ ok: false, error: 'timeout' });
      throw new Stopped(name === 'InternalError' && message === 'out of memory' ? outOfMemory : failure(name, message));
    };
    const notPromise = (handle: QuickJSHandle, within: Scope, what: string): QuickJSHandle => {
      const state = vm.getPromiseState(handle);
      if (state.type === 'fulfilled' && state.notAPromise === true) return handle;
      if (state.type === 'fulfilled') within.manage(state.value);
      if (state.type === 'rejected') within.manage(state.error);
      throw new Stopped(failure('promise', `${what}; only what is there at once can be used`));
    };

    const helper = value(vm.evalCode(helpers, 'run', { type: 'global' }), scope);
    const call = scope.manage(vm.getProp(helper, 'call'));
    const stringify = scope.manage(vm.getProp(helper, 'stringify'));
    const source = files.get(entry);
    if (source === undefined || source.includes('\0')) throw new Stopped(failure('no_module', `there is no module ${entry}`));
    const namespace = value(vm.evalCode(source, entry, { type: 'module' }), scope);
    if (missing !== null) throw new Stopped(failure('no_module', missing));
    notPromise(namespace, scope, 'a module awaits something');

    return {
      scope,
      call: (request) =>
        Scope.withScope((within) => {
          steps = 0;
          start = performance.now();
          const args = within.manage(vm.newString(JSON.stringify(request.args)));
          const name = within.manage(vm.newString(request.call));
          const returned = value(vm.callFunction(call, vm.undefined, namespace, name, args), within);
          notPromise(returned, within, 'the call returned a promise');
          const text = value(vm.callFunction(stringify, vm.undefined, returned), within);
          if (vm.typeof(text) !== 'string') return failure('not_json', 'the call returned nothing that JSON can hold');
          const length = within.manage(vm.getProp(text, 'length'));
          if (vm.getNumber(length) > limits.resultBytes)
            return failure('too_long', `the result is longer than ${limits.resultBytes} characters`);
          return { ok: true, json: vm.getString(text) };
        }),
    };
  } catch (error) {
    scope.dispose();
    throw error;
  }
};

/**
 * Runs the calls of `request` and answers each of them. The modules are evaluated once, and again after a call that ran into a limit (or
 * for each one, with `fresh`). Once QuickJS itself has failed, `state.broken` is set and every later call fails with `engine`.
 */
export function runCandidate(
  engine: Engine,
  request: RunRequest,
  artifact: ReadonlyMap<string, string>,
  { expired, memoryMb, resultBytes, state }: { expired: () => boolean; memoryMb: number; resultBytes: number; state: Broken },
): RunResult[] {
  const files = request.files === undefined ? artifact : new Map(Object.entries(request.files));
  const calls = request.calls ?? [{ call: request.call ?? 'default', args: request.args ?? [] }];
  const limits = { timeoutMs: request.timeoutMs, steps: request.steps, memoryMb: Math.min(request.memoryMb, memoryMb), resultBytes };
  let loaded: Loaded | null = null;
  /** Modules that cannot be evaluated cannot for any call. */
  let refused: RunResult | null = null;
  let met = 0;
  const drop = (): void => {
    const { scope } = loaded ?? { scope: null };
    loaded = null;
    scope?.dispose();
  };
  const results = calls.map((call): RunResult => {
    if (state.broken) return { ...failure('engine', 'QuickJS failed in an earlier call'), loaded: false };
    if (refused !== null) return refused;
    let evaluated = false;
    try {
      loaded ??= load(engine, files, request.entry, limits, expired);
      evaluated = true;
      const result = { ...loaded.call(call), loaded: true };
      if (request.fresh) drop();
      return result;
    } catch (error) {
      // Said by code of ours, before it wrote anything: that QuickJS can be left as any other.
      const stopped = error instanceof OutOfMemory ? new Stopped(outOfMemory) : error;
      if (stopped instanceof Stopped) {
        const result = { ...stopped.result, loaded: evaluated };
        const limit = !result.ok && typeof result.error === 'string';
        if (limit) met++;
        if (!evaluated || (limit && met >= request.giveUpAfter)) refused = result;
        if (evaluated && (request.fresh || limit)) {
          try {
            drop();
          } catch {
            state.broken = true;
          }
        }
        return result;
      }
      // Not the candidate's exception but one of QuickJS: its memory is not to be used again, not even to clean up.
      state.broken = true;
      loaded = null;
      return { ...(engine.refused() ? outOfMemory : failure('engine', 'QuickJS failed')), loaded: evaluated };
    }
  });
  if (!state.broken) {
    try {
      drop();
    } catch {
      state.broken = true;
    }
  }
  return results;
}
