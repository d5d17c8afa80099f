import { expect, test } from 'vitest';
import { resolveTarget } from '#renderer/features/run/GoTo.tsx';
import { handRun } from './loaded.ts';

test('the hash of the seed leads to an attempt that was tried on it, and to the bundle itself', async () => {
  const run = await handRun(
    [2, 2],
    [
      { outcome: 'commit', rank: [1, 2], baseSeq: 0 },
      { outcome: 'tie', rank: [2, 2], baseSeq: 0 },
    ],
  );
  expect(resolveTarget(run, '0000')).toEqual({ n: 2, genesis: true });
  expect(resolveTarget(run, 'ffff')).toEqual({ n: 1, genesis: false });
  expect(resolveTarget(run, '2')).toEqual({ n: 2, genesis: false });
  for (const text of ['3', '0', 'abcd', 'x', '']) expect(resolveTarget(run, text)).toBeNull();
});
