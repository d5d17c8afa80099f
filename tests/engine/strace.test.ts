// Failures and deaths at system calls, one of each kind; `npm run soak` has many.
import { expect, test } from 'vitest';
import { createRandom } from '#shared/lib/random.ts';
import { everyInjected, straceCampaign, straceMissing } from '../support/strace-campaign.ts';

const missing = straceMissing();
if (missing !== null) process.stderr.write(`SKIPPED failures and deaths at system calls: ${missing}\n`);

test.skipIf(missing !== null)(
  'a process that fails or dies at a system call loses nothing that it acknowledged, and goes on to the same chain',
  { timeout: 180_000 },
  async () => {
    const random = createRandom(['strace', Date.now()]);
    const report = await straceCampaign(
      1,
      everyInjected,
      () => random.next(),
      () => {},
    );
    expect(report.faults).toEqual([]);
    expect(report.cases).toBe(everyInjected.length);
    expect(report.killed).toBe(everyInjected.filter(({ how }) => how === 'KILL').length);
    // A sync or a rename that fails is always one that a write waits for; other writes may be those of a checkpoint, which can be made later.
    expect(report.told).toBeGreaterThanOrEqual(2);
  },
);
