// A small kill campaign; `npm run soak` has the large one.
import { beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '#electron/build.ts';
import { createRandom } from '#shared/lib/random.ts';
import { killCampaign } from '../support/kill-campaign.ts';

beforeAll(() => ensureBuilt(), 120_000);

test('a run that is killed and resumed ends at the chain of an undisturbed run', async () => {
  const random = createRandom(['kill campaign', Date.now()]);
  const report = await killCampaign(
    3,
    4,
    () => random.next(),
    () => {},
  );
  expect(report.faults).toEqual([]);
  expect(report.kills).toBe(3);
}, 180_000);
