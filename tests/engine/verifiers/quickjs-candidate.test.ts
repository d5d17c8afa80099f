// Candidate code behind `pawl.run`: what it may do, and what it tries.
import { describe, expect, test } from 'vitest';
import { ensure } from '#shared/lib/assert.ts';
import { makeContract, never, request, textFile } from './support.ts';
import { verifiersOfFile } from './of-file.ts';

const it = verifiersOfFile();

type Files = Readonly<Record<string, string>>;
const separate = { verifier: { runsCandidate: true, isolation: 'separate' }, obligations: [{ key: 'a', cap: 10 }] } as const;

/** What `expression` over `pawl` is inside the verifier, as its text for obligation a; and the verdict. */
const evaluate = async (files: Files, expression: string, timeoutsMs = { setup: 20_000, transfer: 20_000, run: 20_000, parse: 20_000 }) => {
  const verifier = textFile(
    'verifier/check.js',
    `function verify(pawl) {
      const found = ${expression};
      return { nonce: pawl.nonce, tree: pawl.tree, contract: pawl.contract, values: { a: 0 }, details: { a: JSON.stringify(found) } };
    }`,
  );
  const contract = makeContract({ ...separate, verifier: { ...separate.verifier, timeoutsMs } });
  const all = Object.entries(files).map(([path, text]) => textFile(path, text));
  return (await it.service.verify(request(contract, [verifier], all), never)).verdict;
};
const found = async (files: Files, expression: string): Promise<unknown> => {
  const verdict = await evaluate(files, expression);
  if (verdict.kind !== 'ranked') throw new Error(JSON.stringify(verdict));
  return JSON.parse(ensure(verdict.details['a'], 'a text'));
};
const call = (code: string, name = 'f', options = ''): Promise<unknown> =>
  found({ 'm.js': code }, `pawl.run({ entry: 'artifact/m.js', call: '${name}', args: [[1, 2], { b: 'ü\\u0000' }]${options} })`);
const failed = (name: string, message: RegExp = /^/) => ({
  ok: false,
  loaded: expect.any(Boolean),
  error: { name, message: expect.stringMatching(message) },
});

describe('pawl.run', () => {
  test('calls an export with JSON arguments and gives the JSON text of what it returns', async () => {
    expect(await call(`export function f(a, b) { return { sum: a[0] + a[1], b: b.b, none: undefined, nan: NaN }; }`)).toEqual({
      ok: true,
      json: '{"sum":3,"b":"ü\\u0000","nan":null}',
      loaded: true,
    });
    expect(await call('export default () => 1', 'default')).toEqual({ ok: true, json: '1', loaded: true });
  });

  test('loads modules of the artifact by relative paths, and nothing else', async () => {
    const files = {
      'src/a.js': `import { b } from './lib/b.js'; import { c } from '../c.js'; export const f = () => b + c;`,
      'src/lib/b.js': `export const b = 1;`,
      'c.js': `export const c = 2;`,
      'up.js': `import '../verifier/check.js'; export const f = () => 1;`,
      'far.js': `import '../../../etc/passwd'; export const f = () => 1;`,
      'bare.js': `import 'std'; export const f = () => 1;`,
    };
    const entry = (name: string) => found(files, `pawl.run({ entry: 'artifact/${name}', call: 'f' })`);
    expect(await entry('src/a.js')).toEqual({ ok: true, json: '3', loaded: true });
    for (const name of ['up.js', 'far.js', 'bare.js', 'none.js']) expect(await entry(name)).toEqual(failed('no_module'));
  });

  test('tells an error of a call from one of loading', async () => {
    expect(await call(`throw new RangeError('no'); export const f = () => 1;`)).toMatchObject({
      loaded: false,
      error: { name: 'RangeError' },
    });
    expect(await call(`export const f = () => { throw new RangeError('no'); };`)).toMatchObject({
      loaded: true,
      error: { name: 'RangeError' },
    });
  });

  test('takes other files than the artifact when they are given', async () => {
    expect(await found({ 'm.js': '' }, `pawl.run({ files: { 'x.js': 'export const f = () => 7' }, entry: 'x.js', call: 'f' })`)).toEqual({
      ok: true,
      json: '7',
      loaded: true,
    });
  });

  test('evaluates once for many calls, or freshly for each, and again after a limit was met', async () => {
    const files = { 'm.js': `let n = 0; export const f = () => ++n; export const loop = () => { n = 50; for (;;); };` };
    const run = (extra: string, calls: string) =>
      found(files, `pawl.run({ entry: 'artifact/m.js', steps: 100, ${extra} calls: ${calls} }).map((r) => r.json ?? r.error)`);
    expect(await run('', `[{ call: 'f' }, { call: 'f' }, { call: 'none' }, { call: 'f' }]`)).toEqual([
      '1',
      '2',
      { name: 'TypeError', message: 'it exports no function none' },
      '3',
    ]);
    expect(await run('fresh: true,', `[{ call: 'f' }, { call: 'f' }]`)).toEqual(['1', '1']);
    expect(await run('', `[{ call: 'f' }, { call: 'loop' }, { call: 'f' }]`)).toEqual(['1', 'timeout', '1']);
    expect(await run('', `[]`)).toEqual([]);
    const looping = `[{ call: 'loop' }, { call: 'f' }, { call: 'loop' }, { call: 'f' }]`;
    expect(await run('giveUpAfter: 2,', looping)).toEqual(['timeout', '1', 'timeout', 'timeout']);
    expect(await run('giveUpAfter: 3,', looping)).toEqual(['timeout', '1', 'timeout', '1']);
  });

  test('says what the verifier got wrong, as the failure of the verifier', async () => {
    expect(await evaluate({ 'm.js': '' }, `pawl.run({ entry: 'artifact/m.js', call: 'f', timeout: 3 })`)).toMatchObject({
      code: 'crash',
      message: expect.stringMatching(/pawl\.run: .*timeout/),
    });
    expect(await evaluate({ 'm.js': '' }, `pawl.run()`)).toMatchObject({ code: 'crash' });
  });

  test('is not there for a task that does not run its candidate', async () => {
    const verifier = textFile('verifier/check.js', `function verify(pawl) { return { found: typeof pawl.run }; }`);
    const { verdict } = await it.service.verify(request(makeContract(), [verifier]), never);
    expect(verdict).toMatchObject({ code: 'attestation' });
    const asks = textFile('verifier/check.js', `function verify(pawl) { pawl.run({}); }`);
    expect((await it.service.verify(request(makeContract(), [asks]), never)).verdict).toMatchObject({ code: 'crash' });
  });
});

describe('hostile candidates', () => {
  test.each<[string, string, unknown]>([
    ['an endless loop', `export const f = () => { for (;;); };`, { ok: false, loaded: expect.any(Boolean), error: 'timeout' }],
    ['an endless loop on loading', `for (;;);`, { ok: false, loaded: expect.any(Boolean), error: 'timeout' }],
    [
      'a loop that catches its interruption',
      `export const f = () => { for (;;) try { for (;;); } catch {} finally { continue; } };`,
      { ok: false, loaded: expect.any(Boolean), error: 'timeout' },
    ],
    [
      'an endless getter',
      `export const f = () => ({ get a() { for (;;); } });`,
      { ok: false, loaded: expect.any(Boolean), error: 'timeout' },
    ],
    [
      'an endless toJSON',
      `export const f = () => ({ toJSON() { for (;;); } });`,
      { ok: false, loaded: expect.any(Boolean), error: 'timeout' },
    ],
    [
      'an endless error message',
      `export const f = () => { throw { get message() { for (;;); } }; };`,
      { ok: false, loaded: expect.any(Boolean), error: 'timeout' },
    ],
    [
      'an endless regular expression',
      `export const f = () => /(a+)+$/.test('a'.repeat(60) + 'b');`,
      { ok: false, loaded: expect.any(Boolean), error: 'timeout' },
    ],
    [
      'a memory bomb',
      `export const f = () => { const all = []; for (;;) all.push(new Uint8Array(100000)); };`,
      { ok: false, loaded: true, error: 'memory' },
    ],
    [
      'a memory bomb of long strings',
      `export const f = () => { const s = []; for (;;) s.push('x'.repeat(100000) + s.length); };`,
      { ok: false, loaded: true, error: 'memory' },
    ],
    [
      'a memory bomb of small objects',
      `export const f = () => { const s = []; for (;;) s.push([s.length, {}]); };`,
      { ok: false, loaded: true, error: 'memory' },
    ],
    ['endless recursion', `export const f = () => f() + 1;`, failed('InternalError', /stack overflow/)],
    ['a throwing getter', `export const f = () => ({ get a() { throw new RangeError('no'); } });`, failed('RangeError', /no/)],
    ['a thrown text', `export const f = () => { throw 'text'; };`, failed('thrown', /text/)],
    ['a thrown proxy', `export const f = () => { throw new Proxy({}, { get() { throw 1; } }); };`, failed('Error')],
    ['a huge error message', `export const f = () => { throw new Error('x'.repeat(1e6)); };`, failed('Error', /1000000 characters/)],
    ['a function', `export const f = () => () => 1;`, failed('not_json')],
    ['nothing', `export const f = () => {};`, failed('not_json')],
    ['a symbol', `export const f = () => Symbol();`, failed('not_json')],
    ['a promise', `export const f = async () => 1;`, failed('promise')],
    ['a module that awaits', `await 1; export const f = () => 1;`, failed('promise')],
    ['a cycle', `export const f = () => { const a = []; a.push(a); return a; };`, failed('TypeError', /circular/)],
    ['a big integer', `export const f = () => 1n;`, failed('TypeError')],
    ['no syntax', `export const f = (`, failed('SyntaxError')],
    ['a NUL in its code', `export const f = () => 1;\0`, failed('no_module')],
  ])('%s', { timeout: 60_000 }, async (_, code, expected) => {
    expect(await call(code, 'f', ', steps: 300, timeoutMs: 30000, memoryMb: 4')).toEqual(expected);
  });

  test(
    'a small limit holds after a larger one was filled, within one verification and from one to the next',
    { timeout: 60_000 },
    async () => {
      const fill = `export const f = (n) => { const s = []; while (s.length < n) s.push('x'.repeat(1e6) + s.length); return s.length; };`;
      const run = (n: number, memoryMb: number) =>
        `pawl.run({ entry: 'artifact/m.js', call: 'f', args: [${n}], memoryMb: ${memoryMb}, timeoutMs: 30000 })`;
      const memory = { ok: false, loaded: true, error: 'memory' };
      const done = (n: number) => ({ ok: true, json: String(n), loaded: true });
      expect(await found({ 'm.js': fill }, `[${run(40, 8)}, ${run(40, 60)}, ${run(1000, 60)}]`)).toEqual([memory, done(40), memory]);
      expect(await found({ 'm.js': fill }, run(40, 8))).toEqual(memory);
      expect(await found({ 'm.js': fill }, `[${run(40, 60)}, ${run(40, 8)}]`)).toEqual([done(40), memory]);
    },
  );

  test('a result that is longer than a report may be is not copied', { timeout: 60_000 }, async () => {
    expect(await call(`export const f = () => 'x'.repeat(9e6);`, 'f', ', timeoutMs: 30000')).toEqual(failed('too_long'));
  });

  test('a result that is nested very deep is a text like any other', async () => {
    const nested = `export const f = () => { let a = []; for (let i = 0; i < 3000; i++) a = [a]; return a; };`;
    const expression = `(({ ok, json }) => [ok, json.length])(pawl.run({ entry: 'artifact/m.js', call: 'f', timeoutMs: 30000 }))`;
    expect(await found({ 'm.js': nested }, expression)).toEqual([true, 6_002]);
  });

  test('patched built-ins stay its own: arguments, results and later calls are as without them', async () => {
    const patched = `
      JSON.stringify = () => '{"forged":true}'; JSON.parse = () => 'forged'; Object.prototype.toJSON = () => 'forged';
      Array.prototype.toJSON = function () { return ['forged', this.length]; };
      Reflect.get = Reflect.apply = () => 'forged'; Function.prototype.call = Function.prototype.apply = () => 'forged';
      Object.defineProperty(Object.prototype, 'call', { get() { return 'forged'; }, set() {} });
      String.prototype.slice = () => 'forged'; Array.prototype[Symbol.iterator] = function* () { yield 'forged'; };
      export const f = (a, b) => String(a[0]) + a[1] + b.b; export const g = () => [1, 2];`;
    expect(await call(patched)).toEqual({ ok: true, json: '"12ü\\u0000"', loaded: true });
    // Its own toJSON may change what it answers: that is an answer like any other.
    expect(await call(patched, 'g')).toEqual({ ok: true, json: '["forged",2]', loaded: true });
    const after = await found(
      { 'm.js': patched },
      `[pawl.run({ entry: 'artifact/m.js', call: 'f', args: [[1, 2], {}] }).ok, [1, 2], JSON.stringify({ a: [3] }), {}.call === undefined]`,
    );
    expect(after).toEqual([true, [1, 2], '{"a":[3]}', true]);
  });

  test('sees nothing of the verifier, of pawl or of the host', async () => {
    const names = `export const f = () => [typeof pawl, typeof verify, typeof run, typeof process, typeof require, typeof std, typeof os, typeof Date, typeof Math.random, typeof fetch, typeof WebAssembly];`;
    expect(await call(names)).toEqual({ ok: true, json: JSON.stringify(Array.from({ length: 11 }, () => 'undefined')), loaded: true });
    const stack = `export const f = () => new Error().stack + String(f);`;
    expect(await call(stack)).toMatchObject({ ok: true, json: expect.not.stringMatching(/check\.js|verify/) });
  });

  test('cannot hold the verification past its deadline, and leaves a runner that works', { timeout: 60_000 }, async () => {
    const verdict = await evaluate(
      { 'm.js': `export const f = () => { for (;;); };` },
      `pawl.run({ entry: 'artifact/m.js', call: 'f', timeoutMs: 60000, steps: 1e9 })`,
      { setup: 5_000, transfer: 5_000, run: 300, parse: 5_000 },
    );
    // A candidate that is too slow takes the caps.
    expect(verdict).toMatchObject({ kind: 'ranked', rank: [10], details: { a: expect.stringContaining('not reached') } });
    expect(await call('export const f = () => 1')).toEqual({ ok: true, json: '1', loaded: true });
  });

  test('gives the same answer whatever ran before it', { timeout: 60_000 }, async () => {
    const bomb = `export const f = () => { globalThis.left = 1; const all = []; for (;;) all.push(new Uint8Array(100000)); };`;
    for (let i = 0; i < 3; i++) {
      await call(bomb);
      expect(await call('export const f = () => typeof left')).toEqual({ ok: true, json: '"undefined"', loaded: true });
    }
  });
});
