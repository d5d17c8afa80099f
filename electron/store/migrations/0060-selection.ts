// Choices among several runs: what `pawl run --rollouts` picked, with the cross-check behind it. They certify nothing.
import { frozen, guarded, type Migration } from './migration.ts';

export const selection: Migration = {
  version: 60,
  name: 'selection',
  sql: `
CREATE TABLE selection (
  no       INTEGER PRIMARY KEY,
  -- of the body, which is canonical JSON (shared/domain/selection.ts)
  sha      TEXT NOT NULL UNIQUE CHECK (length(sha) = 64),
  contract TEXT NOT NULL REFERENCES contract (sha),
  body     TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
${frozen('selection')}
${guarded('selection', 'SELECT 1 FROM selection WHERE sha = NEW.sha UNION ALL SELECT 1 FROM selection WHERE no = NEW.no')}

CREATE TABLE selection_run (
  selection INTEGER NOT NULL REFERENCES selection (no),
  -- in the order in which the runs were made
  position  INTEGER NOT NULL CHECK (position >= 0),
  run       INTEGER NOT NULL REFERENCES run (no),
  -- where it ended; NULL where it certified nothing
  bundle    INTEGER REFERENCES bundle (key),
  PRIMARY KEY (selection, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX selection_of_run ON selection_run (run);
${frozen('selection_run')}
CREATE TRIGGER selection_run_insert BEFORE INSERT ON selection_run BEGIN
  SELECT RAISE(ABORT, 'selection_run is immutable: the row exists')
  WHERE EXISTS (SELECT 1 FROM selection_run WHERE selection = NEW.selection AND position = NEW.position);
  SELECT RAISE(ABORT, 'selection: a run was held to another contract')
  WHERE (SELECT contract FROM run WHERE no = NEW.run) IS NOT (SELECT contract FROM selection WHERE no = NEW.selection);
  SELECT RAISE(ABORT, 'selection: the end of a run is no bundle of it') WHERE NEW.bundle >> 32 <> NEW.run;
END;
`,
};
