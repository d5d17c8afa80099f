// Bytes by their SHA-256, and trees (manifests) by the SHA-256 of their canonical JSON.
import { frozen, guarded, type Migration, oneOf } from './migration.ts';

export const blobs: Migration = {
  version: 10,
  name: 'blobs and trees',
  sql: `
CREATE TABLE blob (
  no    INTEGER PRIMARY KEY,
  sha   TEXT NOT NULL UNIQUE CHECK (length(sha) = 64),
  -- of the plain bytes
  size  INTEGER NOT NULL CHECK (size >= 0),
  codec TEXT NOT NULL CHECK (${oneOf('codec', ['raw', 'zstd', 'zstd-dict'])}),
  dict  TEXT REFERENCES blob (sha),
  -- NULL: in the file blobs/ab/<sha>
  bytes BLOB,
  CHECK ((codec = 'zstd-dict') = (dict IS NOT NULL))
) STRICT;
${frozen('blob')}
${guarded('blob', 'SELECT 1 FROM blob WHERE sha = NEW.sha UNION ALL SELECT 1 FROM blob WHERE no = NEW.no')}
CREATE TRIGGER blob_dict BEFORE INSERT ON blob WHEN NEW.dict IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'blob: a dictionary is stored without one') WHERE (SELECT dict FROM blob WHERE sha = NEW.dict) IS NOT NULL;
END;

CREATE TABLE tree (
  sha      TEXT NOT NULL PRIMARY KEY CHECK (length(sha) = 64),
  -- of the manifest's canonical JSON
  size     INTEGER NOT NULL CHECK (size > 0),
  codec    TEXT NOT NULL CHECK (${oneOf('codec', ['raw', 'zstd'])}),
  manifest BLOB NOT NULL
) STRICT, WITHOUT ROWID;
${frozen('tree')}
${guarded('tree', 'SELECT 1 FROM tree WHERE sha = NEW.sha')}
`,
};
