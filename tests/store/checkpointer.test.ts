// When the writer checkpoints: not after every write, because the next commit then waits for the disk twice.
import { expect, test, vi } from 'vitest';
import { createCheckpointer } from '#electron/store/checkpointer.ts';
import { database } from './support/database.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

test('a few writes stay in the log, more are moved once it is quiet, many at once', async () => {
  const db = database();
  const checkpoint = vi.spyOn(db, 'checkpoint');
  const checkpointer = createCheckpointer(db);
  const before = timers();
  for (let i = 0; i < 15; i++) checkpointer.wrote();
  expect(timers()).toBe(before);
  checkpointer.wrote();
  expect(timers()).toBe(before + 1);
  await vi.waitFor(() => expect(checkpoint).toHaveBeenCalledTimes(1));

  for (let i = 0; i < 64; i++) checkpointer.wrote();
  expect(checkpoint).toHaveBeenCalledTimes(1);
  await vi.waitFor(() => expect(checkpoint).toHaveBeenCalledTimes(2));

  const idle = timers();
  for (let i = 0; i < 16; i++) checkpointer.wrote();
  expect(timers()).toBe(idle + 1);
  checkpointer.stop();
  expect(timers()).toBe(idle);
});
