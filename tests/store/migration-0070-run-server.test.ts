import { expect, test } from 'vitest';
import { openWritable } from '#electron/store/db.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { getRunServer, selectRunServer } from '#electron/store/read/run-servers.ts';
import { setRunServer } from '#electron/store/write/run-servers.ts';
import { start, temporaryFolder } from './support/database.ts';
import { databaseFile } from './support/files.ts';
import { namesOf } from './support/plan.ts';
import { createScenario } from './support/scenario.ts';

test('migration 70 makes the servers of runs, found by key', () => {
  const dir = temporaryFolder();
  const db = openWritable(databaseFile(dir), dir);
  migrate(db, 70);
  expect(db.userVersion).toBe(70);
  expect(namesOf(db, 'table')).toContain('run_server');
  expect(db.plan(selectRunServer.text, 'run')).toEqual([
    'SEARCH run_server USING INTEGER PRIMARY KEY (rowid=?)',
    'SCALAR SUBQUERY 1',
    expect.stringContaining('SEARCH run USING COVERING INDEX sqlite_autoindex_run_1 (id=?)'),
  ]);
  const scenario = createScenario({ caps: [9], genesis: [3] });
  start(db, scenario);
  const { run } = scenario;
  expect(getRunServer(db, run)).toBeNull();
  setRunServer(db, { run: run, baseUrl: 'http://127.0.0.1:8001/v1', keyVariable: null });
  setRunServer(db, { run: run, baseUrl: 'http://127.0.0.1:8002/v1', keyVariable: 'KEY' });
  expect(getRunServer(db, run)).toEqual({ baseUrl: 'http://127.0.0.1:8002/v1', keyVariable: 'KEY' });
  expect(() => setRunServer(db, { run: 'run_0192f0c4-1a2b-7000-8000-00000000ffff', baseUrl: 'x', keyVariable: null })).toThrow(
    /there is no run/,
  );
  db.close();
});
