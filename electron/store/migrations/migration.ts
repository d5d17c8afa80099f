// One step of the schema. Numbers go in steps of ten, so that a fix for an old version finds room.

export type Migration = {
  /** The schema version after this step (`PRAGMA user_version`). */
  readonly version: number;
  readonly name: string;
  /** Statements, run in one transaction together with the new version number. */
  readonly sql: string;
};

/**
 * A CHECK expression: the column is one of these words (or NULL). SQLite builds a table for every list of more than two after IN, once per
 * row that is inserted, which takes longer than the rest of the row.
 */
export function oneOf(column: string, words: readonly string[]): string {
  return words.map((word) => `${column} = '${word}'`).join(' OR ');
}

/** A trigger that refuses UPDATE or DELETE (of some columns) of a table that is written once. */
export function frozen(table: string, columns: readonly string[] = []): string {
  const of = columns.length === 0 ? '' : ` OF ${columns.join(', ')}`;
  const what = columns.length === 0 ? table : `${table} (${columns.slice(0, 3).join(', ')}${columns.length > 3 ? ', ...' : ''})`;
  return `
CREATE TRIGGER ${table}_no_update BEFORE UPDATE${of} ON ${table} BEGIN SELECT RAISE(ABORT, '${what} is immutable'); END;
CREATE TRIGGER ${table}_no_delete BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is immutable'); END;`;
}

/** A trigger that refuses to insert where a row with the same key exists: INSERT OR REPLACE would overwrite it. */
export function guarded(table: string, exists: string): string {
  return `
CREATE TRIGGER ${table}_no_replace BEFORE INSERT ON ${table} WHEN EXISTS (${exists}) BEGIN SELECT RAISE(ABORT, '${table} is immutable: the row exists'); END;`;
}
