import { expect, test } from 'vitest';
import { getTransition } from '#electron/store/read/transitions.ts';
import { database, reader, round, start } from './support/database.ts';
import { createScenario } from './support/scenario.ts';

test('what is written is what is read', () => {
  const db = database();
  const s = createScenario({ caps: [5, 5, 5], genesis: [3, 2, 0] });
  start(db, s);
  round(db, s, [{ kind: 'ranked', text: 'a', rank: [2, 2, 0] }, { kind: 'ranked', text: 'b', rank: [3, 2, 1] }]);
  const r = reader(db);
  expect(getTransition(r, { run: s.run, n: 1 })?.transition).toEqual(s.transitions[0]);
});
