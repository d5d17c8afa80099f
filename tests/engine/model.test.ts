// Sequences of commands and deaths against the reference model, a few; `npm run soak` has many.
import { expect, test } from 'vitest';
import { modelCampaign } from '../support/model-campaign.ts';

test('whatever is done, and whenever the engine dies, governor and store are where the model is', { timeout: 180_000 }, async () => {
  // The same sequences every time; fresh ones are the soak's. Known there: a stop that is asked for in the very write that uses up the budget
  // is recorded as `budget`, and the model says `user`.
  const report = await modelCampaign(25, 1);
  // The sequences did something.
  expect(report.sequences).toBe(25);
  expect(report.rounds).toBeGreaterThan(25);
  expect(report.crashes).toBeGreaterThan(10);
  expect(report.branches).toBeGreaterThan(0);
});
