// Inserting rows. One statement a row: SQLite collects the rows of a longer VALUES in a temporary table when the table has triggers, and
// that was slower for every table here.
import { sql, type SqlValue, type WritableDb } from '../db.ts';

/** Inserts rows with the values of `columns`, in order. Returns the rowid of the last one, 0 where there is none. */
export type InsertRows = (db: WritableDb, rows: readonly (readonly SqlValue[])[]) => number;

/** A function that inserts rows into `table`. */
export function insertInto(table: string, columns: readonly string[]): InsertRows {
  const insert = sql(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`);
  return (db, rows) => {
    let last = 0;
    for (const row of rows) last = Number(db.run(insert, ...row).lastInsertRowid);
    return last;
  };
}
