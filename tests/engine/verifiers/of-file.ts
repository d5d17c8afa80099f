// One runner process for the tests of a file.
import { afterAll, afterEach, beforeAll } from 'vitest';
import { ensure } from '#shared/lib/assert.ts';
import { startVerifiers } from './support.ts';

type Verifiers = Awaited<ReturnType<typeof startVerifiers>>;

/** Started before the first test of the file that calls this, stopped after the last; a test that leaves something behind fails. */
export function verifiersOfFile(): Pick<Verifiers, 'tmpDir' | 'runner' | 'service' | 'leftovers'> {
  let started: Verifiers | null = null;
  const running = (): Verifiers => ensure(started, 'verifiers, which run inside tests only');
  beforeAll(async () => {
    started = await startVerifiers();
  });
  afterAll(() => running().stop());
  afterEach(() => {
    const left = running().leftovers();
    if (left.length > 0) throw new Error(`the test left ${left.join(', ')}`);
  });
  return {
    get tmpDir() {
      return running().tmpDir;
    },
    get runner() {
      return running().runner;
    },
    get service() {
      return running().service;
    },
    leftovers: () => running().leftovers(),
  };
}
