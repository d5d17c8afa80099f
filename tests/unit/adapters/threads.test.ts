// Threads that die of what they read.
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import type { AdaptJob } from '#electron/verifiers/adapters/adapt.ts';
import { type AdapterThreads, createAdapterThreads } from '#electron/verifiers/adapters/adapter-thread.ts';
import { bytesOf, nonce } from './support.ts';

const job = (report: string): AdaptJob => ({
  adapter: 'junit',
  obligations: [],
  advisory: [],
  report: bytesOf(report),
  reportProblem: null,
  exitCode: 0,
  files: [],
  nonce,
  tree: 't',
  contract: 'c',
});

// Does what the report says, and answers with the number of jobs that it has had.
const code = `
  const { parentPort } = require('node:worker_threads');
  let jobs = 0;
  parentPort.on('message', ({ report }) => {
    const word = Buffer.from(report).toString();
    jobs++;
    if (word === 'throw') throw new Error('out of stack');
    if (word === 'exit') process.exit(3);
    if (word === 'memory') { const all = []; for (;;) all.push(new Array(1e5).fill({})); }
    if (word === 'loop') for (;;);
    parentPort.postMessage(Buffer.from(String(jobs)));
  });
  parentPort.postMessage('ready');
`;

let made = 0;
let threads: AdapterThreads;
const start = (): AdapterThreads => {
  made = 0;
  threads = createAdapterThreads(() => {
    made++;
    return new Worker(code, { eval: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 } });
  });
  return threads;
};
afterEach(async () => {
  await threads.close();
});
const never = new AbortController().signal;
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe('threads', () => {
  test('are used again, one for each job at a time', async () => {
    const { adapt } = start();
    expect(textOf(await adapt(job('a'), 20_000, never))).toBe('1');
    expect(textOf(await adapt(job('b'), 20_000, never))).toBe('2');
    const both = await Promise.all([adapt(job('c'), 20_000, never), adapt(job('d'), 20_000, never)]);
    expect(both.map(textOf).toSorted()).toEqual(['1', '3']);
    expect(made).toBe(2);
  });
  test.each<[string, RegExp]>([
    ['throw', /out of stack/],
    ['exit', /code 3/],
    ['memory', /memory limit/],
    ['loop', /timeouts_ms.parse/],
  ])('one that is made to %s is a report without a verdict, and the next job has another', async (word, message) => {
    const { adapt } = start();
    const report: unknown = JSON.parse(textOf(await adapt(job(word), word === 'loop' ? 50 : 20_000, never)));
    expect(report).toMatchObject({ nonce, problem: { code: 'parse', message: expect.stringMatching(message) } });
    expect(textOf(await adapt(job('a'), 20_000, never))).toBe('1');
    expect(made).toBe(2);
  });
  test('an abort ends the thread', async () => {
    const { adapt } = start();
    const controller = new AbortController();
    const running = adapt(job('loop'), 20_000, controller.signal);
    controller.abort();
    expect(JSON.parse(textOf(await running))).toMatchObject({ problem: { code: 'aborted' } });
    expect(JSON.parse(textOf(await adapt(job('a'), 20_000, controller.signal)))).toMatchObject({ problem: { code: 'aborted' } });
  });
});
