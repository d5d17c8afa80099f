import { expect, test } from 'vitest';
import { openWritable, sql } from '#electron/store/db.ts';
import { applicationId, migrate, migrations } from '#electron/store/migrations/migrate.ts';
import { temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { namesOf } from './support/plan.ts';

test('migration 40 makes the settings', () => {
  const dir = temporaryFolder();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db, 40);
  expect(db.userVersion).toBe(40);
  expect(namesOf(db, 'table')).toContain('setting');
  expect(() => db.run(sql('INSERT INTO setting VALUES (?, ?)'), 'theme', 'not JSON')).toThrow(/CHECK/);
  db.close();
});

test('versions go in steps of ten, each name once, and every step can be taken alone', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, i) => 10 * (i + 1)));
  const dir = temporaryFolder();
  for (const { version } of migrations) {
    const db = openWritable(databaseFile(dir), dir);
    migrate(db, version);
    expect(db.userVersion).toBe(version);
    migrate(db, version);
    expect(db.get(sql<{ application_id: number }>('PRAGMA application_id'))?.application_id).toBe(applicationId);
    db.close();
  }
});

test('a step that fails leaves the version before it', () => {
  const dir = temporaryFolder();
  let left = 3;
  const failing = openWritable(databaseFile(dir), dir, {
    beforeStep: (step) => {
      if (step.kind === 'statement' && step.text.includes('CREATE TABLE') && --left === 0) throw new Error('no space');
    },
  });
  expect(() => migrate(failing)).toThrow(/no space/);
  expect(failing.userVersion).toBe(20);
  expect(namesOf(failing, 'table')).not.toContain('event');
  failing.close();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db);
  expect(db.userVersion).toBe(migrations.at(-1)?.version);
  db.close();
});
