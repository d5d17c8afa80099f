import { expect, test } from 'vitest';
import { openWritable } from '#electron/store/db.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { selectJournal, selectLast } from '#electron/store/read/journal.ts';
import { selectEvents } from '#electron/store/read/transitions.ts';
import { temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { byKey, planProblems, namesOf } from './support/plan.ts';

test('migration 30 makes the event chain, salts and the journal', () => {
  const dir = temporaryFolder();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db, 30);
  expect(db.userVersion).toBe(30);
  expect(namesOf(db, 'table')).toEqual(expect.arrayContaining(['event', 'journal', 'salt']));
  expect(namesOf(db, 'trigger', 'event')).toEqual(['event_insert', 'event_no_delete', 'event_no_update']);
  expect(namesOf(db, 'trigger', 'salt')).toEqual(['salt_no_delete', 'salt_no_replace', 'salt_no_update']);
  expect(namesOf(db, 'trigger', 'journal')).toEqual(['journal_no_delete', 'journal_no_replace', 'journal_no_update']);
  expect(planProblems(db, selectEvents, [1, 2], [byKey])).toEqual([]);
  expect(planProblems(db, selectJournal, [1, 2], [byKey, byKey])).toEqual([]);
  expect(planProblems(db, selectLast, [], [/SEARCH journal/])).toEqual([]);
  db.close();
});
