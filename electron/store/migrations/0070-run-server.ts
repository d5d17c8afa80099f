// Where the model server of a run was last reached: a fact about this machine, in no hash and no package, so that a run can go on.
import type { Migration } from './migration.ts';

export const runServer: Migration = {
  version: 70,
  name: 'run server',
  sql: `
CREATE TABLE run_server (
  run          INTEGER PRIMARY KEY REFERENCES run (no),
  base_url     TEXT NOT NULL,
  -- name of the environment variable that holds the key; never the key
  key_variable TEXT
) STRICT;
`,
};
