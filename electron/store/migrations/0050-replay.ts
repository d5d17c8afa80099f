// What replays and branches add: where a run branched from, what re-running the verifier came to, and the last decision replay of each run.
import { frozen, guarded, type Migration } from './migration.ts';

export const replay: Migration = {
  version: 50,
  name: 'replay and branch',
  sql: `
-- Bundles are named on the command line by the beginning of their id.
CREATE INDEX bundle_id ON bundle (id);

-- A header names its parent by id, which equal histories share; this is the very bundle, and how much of its run the branch may know.
CREATE TABLE branch (
  run         INTEGER PRIMARY KEY REFERENCES run (no),
  parent      INTEGER NOT NULL REFERENCES bundle (key),
  -- of the parent's run when the branch was made; their verdicts are the cache that it begins with
  transitions INTEGER NOT NULL CHECK (transitions >= 0)
) STRICT;
CREATE INDEX branch_parent ON branch (parent);
${frozen('branch')}
${guarded('branch', 'SELECT 1 FROM branch WHERE run = NEW.run')}
CREATE TRIGGER branch_insert BEFORE INSERT ON branch BEGIN
  SELECT RAISE(ABORT, 'branch: the header of the run names another parent') WHERE NOT EXISTS (
    SELECT 1 FROM run r JOIN bundle b ON b.key = NEW.parent WHERE r.no = NEW.run AND r.parent = b.id AND r.contract = b.contract);
  SELECT RAISE(ABORT, 'branch: its parent is of a later run') WHERE NEW.parent >> 32 >= NEW.run;
END;

-- One execution of the verifier on a certified tree, made after the fact. It certifies nothing.
CREATE TABLE reverification (
  no          INTEGER PRIMARY KEY,
  bundle      INTEGER NOT NULL REFERENCES bundle (key),
  id          TEXT NOT NULL,
  nonce       TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  duration_ms REAL NOT NULL CHECK (duration_ms >= 0),
  exit_code   INTEGER,
  signal      TEXT,
  report      TEXT REFERENCES blob (sha),
  output      TEXT REFERENCES blob (sha),
  -- ranked, or the code of why there is no rank
  result      TEXT NOT NULL,
  rank        TEXT CHECK (json_type(rank) = 'array'),
  CHECK ((result = 'ranked') = (rank IS NOT NULL))
) STRICT;
CREATE INDEX reverification_bundle ON reverification (bundle);
${frozen('reverification')}
${guarded('reverification', 'SELECT 1 FROM reverification WHERE no = NEW.no')}

-- The last decision replay of a run on this machine. It says something about the run only while the run ends where it ended then.
CREATE TABLE decision_replay (
  run         INTEGER PRIMARY KEY REFERENCES run (no),
  at          TEXT NOT NULL,
  events      INTEGER NOT NULL,
  last_event  TEXT NOT NULL,
  transitions INTEGER NOT NULL,
  mismatches  INTEGER NOT NULL CHECK (mismatches >= 0),
  missing     INTEGER NOT NULL CHECK (missing >= 0)
) STRICT;
`,
};
