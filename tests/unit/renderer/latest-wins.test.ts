import { expect, test } from 'vitest';
import { createLatestWins } from '#renderer/client/latest-wins.ts';

test('starts at once, then runs only the newest wish', async () => {
  const limiter = createLatestWins();
  const ran: number[] = [];
  const open: (() => void)[] = [];
  const work = (i: number) => () =>
    new Promise<void>((resolve) => {
      ran.push(i);
      open.push(resolve);
    });
  for (let i = 0; i < 50; i++) limiter.submit(work(i));
  expect(ran).toEqual([0]);
  open.shift()?.();
  await expect.poll(() => ran).toEqual([0, 49]);
  open.shift()?.();
  await expect
    .poll(() => {
      limiter.submit(work(100));
      return ran.includes(100);
    })
    .toBe(true);
});
