// What automatic commands said about trees, and which ones proposers asked for. None of it decides anything.
import { RegisterRefusal } from '#shared/domain/auto-registry.ts';
import { frozen, guarded, type Migration, oneOf } from './migration.ts';

export const autoCommands: Migration = {
  version: 80,
  name: 'automatic commands',
  sql: `
CREATE TABLE auto_output (
  transition INTEGER NOT NULL REFERENCES transition (key),
  -- in the order in which they were run
  position   INTEGER NOT NULL CHECK (position >= 0),
  tree       TEXT NOT NULL REFERENCES tree (sha),
  -- canonical JSON (shared/domain/auto-evidence.ts)
  record     TEXT NOT NULL REFERENCES blob (sha),
  PRIMARY KEY (transition, position)
) STRICT, WITHOUT ROWID;
${frozen('auto_output')}
${guarded('auto_output', 'SELECT 1 FROM auto_output WHERE transition = NEW.transition AND position = NEW.position')}

CREATE TABLE auto_registration (
  transition INTEGER NOT NULL REFERENCES transition (key),
  position   INTEGER NOT NULL CHECK (position BETWEEN 0 AND 63),
  record     TEXT NOT NULL REFERENCES blob (sha),
  -- NULL: it holds
  refusal    TEXT CHECK (${oneOf('refusal', RegisterRefusal.options)}),
  PRIMARY KEY (transition, position)
) STRICT, WITHOUT ROWID;
${frozen('auto_registration')}
${guarded('auto_registration', 'SELECT 1 FROM auto_registration WHERE transition = NEW.transition AND position = NEW.position')}
`,
};
