import { expect, test } from 'vitest';
import { leastRoom, roomIn } from '#electron/core/room.ts';

const disk = (free: number, blocks = 1_000) => roomIn('/data', () => Promise.resolve({ bavail: free / 4_096, bsize: 4_096, blocks }));

test('there is room above what a round needs', async () => {
  expect(await disk(leastRoom)()).toBeNull();
  expect(await disk(leastRoom - 4_096)()).toBe('the disk of /data is full: 15 MB are left, and a round needs 16 MB');
  expect(await disk(0)()).toContain('0 MB are left');
});

test('a file system that says nothing has room', async () => {
  expect(await disk(0, 0)()).toBeNull();
  expect(await roomIn('/data', () => Promise.reject(new Error('ENOSYS')))()).toBeNull();
});
