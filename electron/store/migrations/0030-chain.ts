// The event chain of each run, the salts behind its commitments, and the counter over all runs.
import { firstPrev } from '#shared/domain/event-chain.ts';
import { frozen, guarded, type Migration } from './migration.ts';

export const chain: Migration = {
  version: 30,
  name: 'event chain',
  sql: `
CREATE TABLE event (
  -- run.no << 32 | seq
  key  INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  -- of the line's bytes
  sha  TEXT NOT NULL CHECK (length(sha) = 64),
  line TEXT NOT NULL
) STRICT;
${frozen('event')}
CREATE TRIGGER event_insert BEFORE INSERT ON event BEGIN
  SELECT RAISE(ABORT, 'event is immutable: the row exists') WHERE EXISTS (SELECT 1 FROM event WHERE key = NEW.key);
  SELECT RAISE(ABORT, 'event: of no run') WHERE NEW.key & 4294967295 = 0 AND NOT EXISTS (SELECT 1 FROM run WHERE no = NEW.key >> 32);
  -- A line is canonical JSON with the keys at, body, prev, seq, type in this order, so that its end shows the chain without parsing it.
  SELECT RAISE(ABORT, 'event: seq is not dense, or prev is not the hash of the line before')
  FROM (SELECT '},"prev":"' || CASE NEW.key & 4294967295 WHEN 0 THEN '${firstPrev}' ELSE (SELECT sha FROM event WHERE key = NEW.key - 1) END
    || '","seq":' || (NEW.key & 4294967295) || ',"type":"' || NEW.type || '"}' AS tail)
  -- without a line before, tail is NULL
  WHERE tail IS NULL OR substr(NEW.line, -length(tail)) <> tail;
END;

CREATE TABLE salt (
  -- run.no << 32 | position, from 0
  key        INTEGER PRIMARY KEY,
  commitment TEXT NOT NULL CHECK (length(commitment) = 64),
  salt       BLOB NOT NULL CHECK (length(salt) = 32),
  object     TEXT NOT NULL CHECK (length(object) = 64)
) STRICT;
${frozen('salt')}
${guarded('salt', 'SELECT 1 FROM salt WHERE key = NEW.key')}

CREATE TABLE journal (
  seq  INTEGER PRIMARY KEY,
  run  INTEGER NOT NULL REFERENCES run (no),
  type TEXT NOT NULL
) STRICT;
${frozen('journal')}
${guarded('journal', 'SELECT 1 FROM journal WHERE seq = NEW.seq')}
`,
};
