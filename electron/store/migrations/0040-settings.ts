// Settings of the interface.
import type { Migration } from './migration.ts';

export const settings: Migration = {
  version: 40,
  name: 'settings',
  sql: `
CREATE TABLE setting (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;
`,
};
