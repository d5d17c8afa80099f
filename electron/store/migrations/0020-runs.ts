// Governed runs: contract, run with its counters, certified chain, verdicts, transitions, exploration memory, the open round.
// The database itself re-checks every commit; semantics.md, section 10.
import { budgetDimensions } from '#shared/domain/budget.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { amountColumns } from '../amounts.ts';
import { frozen, guarded, type Migration, oneOf } from './migration.ts';

const max = amountColumns('max');
const used = amountColumns('used');
const over = amountColumns('over');
const counts = outcomes.map((outcome) => `n_${outcome}`);

const stopReasons = ['zero_rank', 'budget', 'user', 'verifier_dead', 'contract_changed', 'stalled'];
const verdictKinds = ['ranked', 'invalid', 'no_verdict'];

const runIdentity = [
  'no',
  'id',
  'contract',
  'header_sha',
  'parent',
  'proposer',
  'slots',
  'seed',
  'task_id',
  'task_title',
  'task_path',
  'started_at',
  ...max,
];

// Facts about a new rank against the caps and, for a commit, the parent's rank. Element by element is three times faster for a few
// obligations; but finding the i-th element walks the array, so that long ranks take one pass over all three and a GROUP BY instead
// (10,000 obligations: 40 ms instead of a second).
const shortRank = 64;

const shortRankFacts = `
    SELECT
      count(*) AS arity,
      sum(type <> 'integer' OR typeof(key) <> 'integer') AS ill_typed,
      sum(value < 0 OR coalesce(value > caps ->> key, 1)) AS out_of_caps,
      sum(value) AS potential,
      sum(coalesce(value > old ->> key, 1)) AS worse,
      sum(value < old ->> key) AS better
    FROM (SELECT (SELECT caps FROM contract WHERE sha = NEW.contract) AS caps, (SELECT rank FROM bundle WHERE key = NEW.key - 1 AND NEW.edge = 'commit') AS old)
      CROSS JOIN json_each(NEW.rank)`;

const longRankFacts = `
    SELECT
      sum(new_type IS NOT NULL) AS arity,
      sum(new_type IS NOT NULL AND (new_type <> 'integer' OR typeof(key) <> 'integer')) AS ill_typed,
      sum(new_value < 0 OR new_value > cap OR (new_type IS NOT NULL AND cap IS NULL)) AS out_of_caps,
      sum(new_value) AS potential,
      sum(new_value > old_value OR (new_type IS NOT NULL AND old_value IS NULL)) AS worse,
      sum(new_value < old_value) AS better
    FROM (
      SELECT key, max(CASE source WHEN 0 THEN value END) AS new_value, max(CASE source WHEN 0 THEN type END) AS new_type,
        max(CASE source WHEN 1 THEN value END) AS cap, max(CASE source WHEN 2 THEN value END) AS old_value
      FROM (
        SELECT 0 AS source, key, value, type FROM json_each(NEW.rank)
        UNION ALL SELECT 1, key, value, type FROM json_each((SELECT caps FROM contract WHERE sha = NEW.contract))
        UNION ALL SELECT 2, key, value, type FROM json_each((SELECT rank FROM bundle WHERE key = NEW.key - 1 AND NEW.edge = 'commit'))
      )
      GROUP BY key
    )`;

const rankTrigger = (name: string, when: string, facts: string): string => `
CREATE TRIGGER ${name} BEFORE INSERT ON bundle WHEN ${when} BEGIN
  SELECT CASE
    WHEN arity IS NOT (SELECT m FROM contract WHERE sha = NEW.contract) THEN RAISE(ABORT, 'bundle: the rank has not one value per obligation')
    WHEN ill_typed <> 0 THEN RAISE(ABORT, 'bundle: a value of the rank is not an integer')
    WHEN out_of_caps <> 0 THEN RAISE(ABORT, 'bundle: a value of the rank is below 0 or above its cap')
    WHEN potential IS NOT NEW.potential THEN RAISE(ABORT, 'bundle: the potential is not the sum of the rank')
    WHEN NEW.edge = 'commit' AND worse <> 0 THEN RAISE(ABORT, 'bundle: an obligation gets worse')
    WHEN NEW.edge = 'commit' AND coalesce(better, 0) = 0 THEN RAISE(ABORT, 'bundle: no obligation gets better')
  END FROM (${facts});
END;`;

export const runs: Migration = {
  version: 20,
  name: 'runs',
  sql: `
CREATE TABLE contract (
  sha  TEXT NOT NULL PRIMARY KEY CHECK (length(sha) = 64),
  m    INTEGER NOT NULL CHECK (m >= 1),
  -- JSON array, one cap per obligation
  caps TEXT NOT NULL CHECK (json_valid(caps) AND json_array_length(caps) = m),
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
${frozen('contract')}
${guarded('contract', 'SELECT 1 FROM contract WHERE sha = NEW.sha')}

CREATE TABLE run (
  no          INTEGER PRIMARY KEY CHECK (no BETWEEN 1 AND 1048576),
  id          TEXT NOT NULL UNIQUE,
  contract    TEXT NOT NULL REFERENCES contract (sha),
  header_sha  TEXT NOT NULL,
  -- id of the bundle that it branches from
  parent      TEXT,
  proposer    TEXT NOT NULL,
  slots       INTEGER NOT NULL,
  seed        INTEGER NOT NULL,
  task_id     TEXT NOT NULL,
  task_title  TEXT NOT NULL,
  task_path   TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  updated_at  TEXT NOT NULL,
  stop        TEXT CHECK (${oneOf('stop', stopReasons)}),
  -- a JSON string, so that any text survives
  note        TEXT,
  head        INTEGER REFERENCES bundle (key),
  events      INTEGER NOT NULL DEFAULT 0,
  last_event  TEXT NOT NULL,
  salts       INTEGER NOT NULL DEFAULT 0,
  rounds      INTEGER NOT NULL DEFAULT 0,
  transitions INTEGER NOT NULL DEFAULT 0,
  memories    INTEGER NOT NULL DEFAULT 0,
  ${counts.map((c) => `${c} INTEGER NOT NULL DEFAULT 0`).join(',\n  ')},
  ${max.map((c) => `${c} INTEGER`).join(',\n  ')},
  ${used.map((c) => `${c} INTEGER NOT NULL DEFAULT 0`).join(',\n  ')},
  ${over.map((c) => `${c} INTEGER NOT NULL DEFAULT 0`).join(',\n  ')},
  CHECK (max_attempts IS NOT NULL),
  -- I9; a NULL limit is no limit
  ${budgetDimensions.map((d) => `CONSTRAINT "used ${d} is within the budget" CHECK (used_${d} BETWEEN 0 AND coalesce(max_${d}, 9007199254740991))`).join(',\n  ')},
  -- I4, I5
  CONSTRAINT "one outcome per transition" CHECK (transitions = ${counts.join(' + ')}),
  CONSTRAINT "commits + memory entries = transitions" CHECK (transitions = n_commit + memories)
) STRICT;
${frozen('run', runIdentity)}
${guarded('run', 'SELECT 1 FROM run WHERE id = NEW.id UNION ALL SELECT 1 FROM run WHERE no = NEW.no')}
CREATE TRIGGER run_begins BEFORE INSERT ON run WHEN NEW.head IS NOT NULL OR NEW.transitions <> 0 OR NEW.events <> 0 BEGIN
  SELECT RAISE(ABORT, 'run: begins without a head, transitions and events');
END;
CREATE TRIGGER run_head BEFORE UPDATE OF head ON run BEGIN
  SELECT RAISE(ABORT, 'run: the head moves only to its own child') WHERE CASE
    WHEN OLD.head IS NULL THEN NEW.head IS NOT (NEW.no << 32)
    ELSE NEW.head IS NOT OLD.head + 1 OR (SELECT parent FROM bundle WHERE key = NEW.head) IS NOT (SELECT id FROM bundle WHERE key = OLD.head)
  END;
END;
CREATE TRIGGER run_stop BEFORE UPDATE OF stop ON run WHEN OLD.stop IS NOT NULL AND NEW.stop IS NOT OLD.stop BEGIN
  SELECT RAISE(ABORT, 'run: its stop is final; only a stop by the user can be taken back') WHERE NOT (OLD.stop = 'user' AND NEW.stop IS NULL);
END;

CREATE TABLE header (
  run  INTEGER PRIMARY KEY REFERENCES run (no),
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
${frozen('header')}
${guarded('header', 'SELECT 1 FROM header WHERE run = NEW.run')}

CREATE TABLE verdict (
  no        INTEGER PRIMARY KEY,
  sha       TEXT NOT NULL UNIQUE CHECK (length(sha) = 64),
  tree      TEXT REFERENCES tree (sha),
  contract  TEXT NOT NULL REFERENCES contract (sha),
  kind      TEXT NOT NULL CHECK (${oneOf('kind', verdictKinds)}),
  code      TEXT,
  -- bundle that opened the era, and the sparse difference to its rank: (coordinate, difference) pairs
  era       INTEGER REFERENCES bundle (key) DEFERRABLE INITIALLY DEFERRED,
  rank      TEXT CHECK (json_type(rank) = 'array'),
  potential INTEGER,
  -- the verdict without kind, code and rank
  body      TEXT NOT NULL CHECK (json_valid(body)),
  CHECK ((kind = 'ranked') = (rank IS NOT NULL) AND (rank IS NULL) = (potential IS NULL) AND (rank IS NULL) = (era IS NULL)),
  CHECK ((kind = 'ranked') = (code IS NULL)),
  CHECK (kind <> 'ranked' OR tree IS NOT NULL)
) STRICT;
${frozen('verdict')}
${guarded('verdict', 'SELECT 1 FROM verdict WHERE sha = NEW.sha UNION ALL SELECT 1 FROM verdict WHERE no = NEW.no')}

CREATE TABLE verifier_run (
  -- verdict.no << 16 | position
  key         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL,
  nonce       TEXT NOT NULL,
  tree        TEXT NOT NULL REFERENCES tree (sha),
  started_at  TEXT NOT NULL,
  duration_ms REAL NOT NULL CHECK (duration_ms >= 0),
  exit_code   INTEGER,
  signal      TEXT,
  report      TEXT REFERENCES blob (sha),
  output      TEXT REFERENCES blob (sha),
  result      TEXT NOT NULL
) STRICT;
${frozen('verifier_run')}
CREATE TRIGGER verifier_run_insert BEFORE INSERT ON verifier_run BEGIN
  SELECT RAISE(ABORT, 'verifier_run is immutable: the row exists') WHERE EXISTS (SELECT 1 FROM verifier_run WHERE key = NEW.key);
  SELECT RAISE(ABORT, 'verifier_run: of no verdict') WHERE NOT EXISTS (SELECT 1 FROM verdict WHERE no = NEW.key >> 16);
END;

CREATE TABLE bundle (
  -- run.no << 32 | seq
  key          INTEGER PRIMARY KEY,
  id           TEXT NOT NULL CHECK (length(id) = 64),
  edge         TEXT NOT NULL CHECK (${oneOf('edge', ['genesis', 'commit', 'recertify'])}),
  -- number of the transition that committed it
  transition   INTEGER,
  potential    INTEGER NOT NULL,
  era          INTEGER NOT NULL,
  -- the bundle that opened the era
  era_start    INTEGER NOT NULL REFERENCES bundle (key),
  parent       TEXT,
  contract     TEXT NOT NULL REFERENCES contract (sha),
  tree         TEXT NOT NULL REFERENCES tree (sha),
  verdict      TEXT NOT NULL REFERENCES verdict (sha),
  summary      TEXT NOT NULL,
  latent       TEXT,
  rank         TEXT NOT NULL CHECK (json_type(rank) = 'array'),
  summary_text TEXT NOT NULL,
  CHECK ((edge = 'commit') = (transition IS NOT NULL)),
  CHECK ((edge = 'commit') = (era_start <> key)),
  CHECK (edge = 'genesis' OR parent IS NOT NULL)
) STRICT;
${frozen('bundle')}
CREATE TRIGGER bundle_insert BEFORE INSERT ON bundle BEGIN
  SELECT RAISE(ABORT, 'bundle is immutable: the row exists') WHERE EXISTS (SELECT 1 FROM bundle WHERE key = NEW.key);
  SELECT RAISE(ABORT, 'bundle: its verdict is not a ranked one of this tree under this contract')
  WHERE NOT EXISTS (SELECT 1 FROM verdict v WHERE v.sha = NEW.verdict AND v.tree = NEW.tree AND v.contract = NEW.contract AND v.potential = NEW.potential);
END;
${rankTrigger('bundle_short_rank', `json_array_length(NEW.rank) <= ${shortRank}`, shortRankFacts)}
${rankTrigger('bundle_long_rank', `json_array_length(NEW.rank) > ${shortRank}`, longRankFacts)}
CREATE TRIGGER bundle_genesis BEFORE INSERT ON bundle WHEN NEW.edge = 'genesis' BEGIN
  SELECT RAISE(ABORT, 'bundle: a genesis opens its run') WHERE NEW.key & 4294967295 <> 0 OR NEW.era <> 0
    OR NOT EXISTS (SELECT 1 FROM run r WHERE r.no = NEW.key >> 32 AND r.head IS NULL AND r.contract = NEW.contract AND r.parent IS NEW.parent);
END;
CREATE TRIGGER bundle_commit BEFORE INSERT ON bundle WHEN NEW.edge = 'commit' BEGIN
  SELECT RAISE(ABORT, 'bundle: not the child of the head, in its run, era and contract') WHERE NOT EXISTS (
    SELECT 1 FROM run r JOIN bundle p ON p.key = r.head WHERE r.no = NEW.key >> 32 AND p.key = NEW.key - 1
      AND p.id = NEW.parent AND p.contract = NEW.contract AND p.era = NEW.era AND p.era_start = NEW.era_start);
END;
CREATE TRIGGER bundle_recertify BEFORE INSERT ON bundle WHEN NEW.edge = 'recertify' BEGIN
  SELECT RAISE(ABORT, 'bundle: recertify keeps the tree and opens an era under another contract') WHERE NOT EXISTS (
    SELECT 1 FROM run r JOIN bundle p ON p.key = r.head WHERE r.no = NEW.key >> 32 AND p.key = NEW.key - 1
      AND p.id = NEW.parent AND p.tree = NEW.tree AND p.contract <> NEW.contract AND p.era = NEW.era - 1);
END;

CREATE TABLE transition (
  -- run.no << 32 | n
  key            INTEGER PRIMARY KEY,
  -- position in outcomes (shared/domain/transition.ts)
  outcome        INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 9),
  round          INTEGER NOT NULL CHECK (round >= 1),
  slot           INTEGER NOT NULL CHECK (slot >= 0),
  base           INTEGER NOT NULL REFERENCES bundle (key),
  bundle         INTEGER REFERENCES bundle (key),
  duplicate_of   INTEGER,
  source         TEXT NOT NULL CHECK (${oneOf('source', ['fresh', 'cache', 'none'])}),
  -- of the verdict, repeated here so that lists read one row; the rank against the genesis of the base's era
  kind           TEXT CHECK (${oneOf('kind', verdictKinds)}),
  code           TEXT,
  potential      INTEGER,
  rank           TEXT,
  -- charged amounts, then the overshoot if any
  cost           TEXT NOT NULL CHECK (json_type(cost) = 'array'),
  -- the lines of its round in the event chain
  event_from     INTEGER NOT NULL,
  event_to       INTEGER NOT NULL,
  tree           TEXT REFERENCES tree (sha),
  verdict        TEXT REFERENCES verdict (sha),
  request        TEXT REFERENCES blob (sha),
  response       TEXT REFERENCES blob (sha),
  features_shown TEXT,
  CHECK ((outcome = 0) = (bundle IS NOT NULL)),
  CHECK ((verdict IS NULL) = (kind IS NULL)),
  CHECK ((rank IS NOT NULL) = (kind IS 'ranked') AND (rank IS NULL) = (potential IS NULL)),
  CHECK (outcome <> 0 OR (rank IS NOT NULL AND source = 'fresh'))
) STRICT;
${frozen('transition')}
CREATE TRIGGER transition_insert BEFORE INSERT ON transition BEGIN
  SELECT RAISE(ABORT, 'transition is immutable: the row exists') WHERE EXISTS (SELECT 1 FROM transition WHERE key = NEW.key);
  SELECT RAISE(ABORT, 'transition: numbers are dense from 1') WHERE NEW.key & 4294967295 = 0
    OR (NEW.key & 4294967295 > 1 AND NOT EXISTS (SELECT 1 FROM transition WHERE key = NEW.key - 1));
  SELECT RAISE(ABORT, 'transition: its base is not the head') WHERE (SELECT head FROM run WHERE no = NEW.key >> 32) IS NOT NEW.base;
END;
CREATE TRIGGER transition_commit BEFORE INSERT ON transition WHEN NEW.bundle IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'transition: its bundle is not what it committed') WHERE NOT EXISTS (SELECT 1 FROM bundle b
    WHERE b.key = NEW.bundle AND b.key = NEW.base + 1 AND b.transition = NEW.key & 4294967295 AND b.tree = NEW.tree AND b.verdict = NEW.verdict);
END;

CREATE TABLE memory (
  -- the key of its transition
  key  INTEGER PRIMARY KEY REFERENCES transition (key),
  id   TEXT NOT NULL CHECK (length(id) = 64),
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
${frozen('memory')}
CREATE TRIGGER memory_insert BEFORE INSERT ON memory BEGIN
  SELECT RAISE(ABORT, 'memory is immutable: the row exists') WHERE EXISTS (SELECT 1 FROM memory WHERE key = NEW.key);
  SELECT RAISE(ABORT, 'memory: only of a transition that did not commit') WHERE (SELECT outcome FROM transition WHERE key = NEW.key) IS NOT NULL
    AND (SELECT outcome FROM transition WHERE key = NEW.key) = 0;
END;

CREATE TABLE memory_use (
  transition INTEGER NOT NULL REFERENCES transition (key),
  position   INTEGER NOT NULL,
  -- id of the memory entry that the proposer was shown
  entry      TEXT NOT NULL CHECK (length(entry) = 64),
  PRIMARY KEY (transition, position)
) STRICT, WITHOUT ROWID;
${frozen('memory_use')}
${guarded('memory_use', 'SELECT 1 FROM memory_use WHERE transition = NEW.transition AND position = NEW.position')}

-- Slots of the last round of each run. It is open while they have no transitions (numbers above those of run.transitions); rows go when the
-- next round opens, not between a decision and its commit. What they said stands in the event chain.
CREATE TABLE round_slot (
  -- run.no << 32 | n
  key        INTEGER PRIMARY KEY,
  round      INTEGER NOT NULL,
  slot       INTEGER NOT NULL,
  draw       INTEGER NOT NULL,
  reserved   TEXT NOT NULL CHECK (json_type(reserved) = 'array'),
  event_from INTEGER NOT NULL,
  request    TEXT REFERENCES blob (sha),
  response   TEXT REFERENCES blob (sha)
) STRICT;
`,
};
