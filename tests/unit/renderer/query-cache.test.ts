import { afterEach, expect, test } from 'vitest';
import { createQueryCache, type QueryCache } from '#renderer/client/query-cache.ts';
import { createFakeEngine, type FakeEngine, type FakeEngineOptions } from '../../support/fake-engine/fake-engine.ts';

let open: { fake: FakeEngine; cache: QueryCache } | null = null;
afterEach(() => {
  open?.cache.close();
  open?.fake.engine.close();
});

function start(options: FakeEngineOptions) {
  const fake = createFakeEngine({ roundMs: 0, ...options });
  const cache = createQueryCache(fake.engine);
  open = { fake, cache };
  const asked = (name: string) => fake.calls.filter((call) => call === name).length;
  return { fake, cache, asked };
}
const live = { status: 'running' as const, count: 40, shown: 8 };
const first = { limit: 100 };

test('two watchers of one input make one request, whatever the order of its fields', async () => {
  const { cache, asked, fake } = start({ runs: [live] });
  const run = fake.jobs[0]?.id ?? '';
  const stop = [
    cache.watch('run.columns', { run, from: 1, to: 8, resolution: 1 }, () => {}),
    cache.watch('run.columns', { resolution: 1, to: 8, from: 1, run }, () => {}),
  ];
  await expect.poll(() => cache.read('run.columns', { run, from: 1, to: 8, resolution: 1 }).data?.count).toBe(8);
  expect(asked('run.columns')).toBe(1);
  for (const end of stop) end();
});

test('the journal refreshes what speaks of that run, and only while somebody looks', async () => {
  const { cache, asked, fake } = start({ runs: [live, { ...live, seed: 2 }] });
  const [a, b] = fake.jobs.map((job) => job.id);
  if (a === undefined || b === undefined) throw new Error('two runs');
  const stopA = cache.watch('run.get', { run: a }, () => {});
  const stopB = cache.watch('run.get', { run: b }, () => {});
  const stopList = cache.watch('run.list', first, () => {});
  await expect
    .poll(() => [cache.read('run.get', { run: a }).data?.transitions, cache.read('run.get', { run: b }).data?.transitions])
    .toEqual([8, 8]);
  await expect.poll(() => cache.read('run.list', first).data?.runs.length).toBe(2);
  fake.advance(a);
  await expect.poll(() => cache.read('run.get', { run: a }).data?.transitions).toBe(12);
  await expect.poll(() => cache.read('run.list', first).data?.runs[0]?.transitions).toBe(12);
  expect(asked('run.get')).toBe(3);
  stopA();
  fake.advance(a);
  await expect.poll(() => cache.read('run.list', first).data?.runs[0]?.transitions).toBe(16);
  expect(asked('run.get')).toBe(3);
  const again = cache.watch('run.get', { run: a }, () => {});
  await expect.poll(() => cache.read('run.get', { run: a }).data?.transitions).toBe(16);
  for (const end of [again, stopB, stopList]) end();
});

test('many changes make few requests', async () => {
  const { cache, asked, fake } = start({ runs: [{ status: 'running', count: 400, shown: 0 }] });
  const run = fake.jobs[0]?.id ?? '';
  const stop = cache.watch('run.get', { run }, () => {});
  await expect.poll(() => cache.read('run.get', { run }).data?.transitions).toBe(0);
  for (let i = 0; i < 90; i++) fake.advance(run);
  await expect.poll(() => cache.read('run.get', { run }).data?.transitions).toBe(360);
  expect(asked('run.get')).toBeLessThanOrEqual(4);
  stop();
});

test('what never changes is read once', async () => {
  const { cache, asked, fake } = start({ runs: [live] });
  const run = fake.jobs[0]?.id ?? '';
  await cache.load('run.transition', { run, n: 3 });
  fake.advance(run);
  await cache.load('run.transition', { run, n: 3 });
  const stop = cache.watch('run.transition', { run, n: 3 }, () => {});
  expect(cache.read('run.transition', { run, n: 3 }).data?.transition.n).toBe(3);
  expect(asked('run.transition')).toBe(1);
  stop();
});

test('an error keeps the old answer and goes away with the next good one', async () => {
  let fails = false;
  const { cache, fake } = start({ runs: [live], listFails: () => fails });
  const stop = cache.watch('run.list', first, () => {});
  await expect.poll(() => cache.read('run.list', first).data?.runs.length).toBe(1);
  fails = true;
  fake.advance(fake.jobs[0]?.id ?? '');
  await expect.poll(() => cache.read('run.list', first).error?.code).toBe('unavailable');
  expect(cache.read('run.list', first).data?.runs.length).toBe(1);
  fails = false;
  cache.refresh('run.list');
  await expect.poll(() => cache.read('run.list', first).error).toBeNull();
  expect(cache.read('run.list', first).data?.runs[0]?.transitions).toBe(12);
  stop();
});

test('after a lost connection everything in view is read again', async () => {
  const { cache, fake } = start({ runs: [live] });
  const run = fake.jobs[0]?.id ?? '';
  const stop = cache.watch('run.get', { run }, () => {});
  await expect.poll(() => cache.read('run.get', { run }).data?.transitions).toBe(8);
  fake.crash('', true);
  fake.advance(run);
  expect(cache.read('run.get', { run }).data?.transitions).toBe(8);
  fake.revive();
  await expect.poll(() => cache.read('run.get', { run }).data?.transitions, { timeout: 5_000 }).toBe(12);
  stop();
});
