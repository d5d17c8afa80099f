// Connections: pragmas, cached statements, transactions. A ReadableDb cannot write; which one a function takes says what it may do.
import Database from 'better-sqlite3';
import { type BlobWriter, createBlobWriter } from './blob-files.ts';
import { StoreError, toStoreError } from './errors.ts';
import type { BeforeStep } from './write-step.ts';

export type SqlValue = number | string | Uint8Array | null;

/** A statement's text with the shape of its rows. STRICT tables give what the shape says. */
export type Query<Row> = { readonly text: string; readonly shape?: Row };

/** Names the shape of the rows that a statement gives. */
export function sql<Row = never>(text: string): Query<Row> {
  return { text };
}

type Prepared<Row> = Database.Statement<SqlValue[], Row>;

export type DbOptions = { readonly beforeStep?: BeforeStep };

// Every connection: foreign keys, and delete triggers that fire for REPLACE too. Without recursive_triggers `INSERT OR REPLACE` would
// overwrite an immutable row silently (semantics.md, section 10).
const everyConnection = [
  'foreign_keys = ON',
  'recursive_triggers = ON',
  'busy_timeout = 5000',
  'trusted_schema = OFF',
  'temp_store = MEMORY',
];

const open = (file: string, options: Database.Options): Database.Database => {
  try {
    const db = new Database(file, options);
    for (const pragma of everyConnection) db.pragma(pragma);
    return db;
  } catch (error) {
    throw toStoreError(error, file);
  }
};

export class ReadableDb {
  readonly file: string;
  /** Folder of the blobs that are too large for the database. */
  readonly blobsDir: string;
  protected readonly db: Database.Database;
  readonly #statements = new Map<string, Prepared<unknown>>();
  readonly #genesisRanks = new Map<number, number[]>();

  constructor(db: Database.Database, file: string, blobsDir: string) {
    this.db = db;
    this.file = file;
    this.blobsDir = blobsDir;
  }

  protected prepared(text: string): Prepared<unknown> {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.db.prepare<SqlValue[]>(text);
    this.#statements.set(text, statement);
    return statement;
  }

  #typed<Row>(query: Query<Row>): Prepared<Row> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where the shape that `sql` was given is believed
    return this.prepared(query.text) as Prepared<Row>;
  }

  get<Row>(query: Query<Row>, ...values: SqlValue[]): Row | undefined {
    return this.#typed(query).get(...values);
  }

  all<Row>(query: Query<Row>, ...values: SqlValue[]): Row[] {
    return this.#typed(query).all(...values);
  }

  iterate<Row>(query: Query<Row>, ...values: SqlValue[]): IterableIterator<Row> {
    return this.#typed(query).iterate(...values);
  }

  /** Rows as arrays, for the columns of large ranges. */
  iterateRaw<Row extends readonly SqlValue[]>(query: Query<Row>, ...values: SqlValue[]): IterableIterator<Row> {
    return this.#typed(query)
      .raw()
      .iterate(...values);
  }

  /** The steps of SQLite's plan, for the tests. */
  plan(text: string, ...values: SqlValue[]): string[] {
    return this.db
      .prepare<SqlValue[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values)
      .map(({ detail }) => detail);
  }

  /** Runs `fn` on one snapshot. */
  snapshot<T>(fn: () => T): T {
    return this.db.transaction(fn).deferred();
  }

  /** Genesis rank of an era, which never changes; `key` is the bundle that opened it. */
  genesisRank(key: number, read: (key: number) => number[]): number[] {
    const known = this.#genesisRanks.get(key);
    if (known !== undefined) return known;
    const rank = read(key);
    if (this.#genesisRanks.size >= 256) this.#genesisRanks.clear();
    this.#genesisRanks.set(key, rank);
    return rank;
  }

  get isOpen(): boolean {
    return this.db.open;
  }

  close(): void {
    this.db.close();
  }
}

export class WritableDb extends ReadableDb {
  /** Writes a blob that is too large for the database, before the row that names it; see blob-files.ts. */
  readonly writeBlobFile: BlobWriter;
  readonly #beforeStep: BeforeStep | undefined;

  constructor(db: Database.Database, file: string, blobsDir: string, { beforeStep }: DbOptions = {}) {
    super(db, file, blobsDir);
    this.#beforeStep = beforeStep;
    this.writeBlobFile = createBlobWriter(blobsDir, beforeStep);
  }

  /** Runs a statement that gives no rows; returns how many rows it changed and the rowid it inserted. */
  run(query: Query<never>, ...values: SqlValue[]): Database.RunResult {
    this.#beforeStep?.({ kind: 'statement', text: query.text });
    return this.prepared(query.text).run(...values);
  }

  /** Runs a statement that changes rows and gives them back (RETURNING). */
  returning<Row>(query: Query<Row>, ...values: SqlValue[]): Row[] {
    this.#beforeStep?.({ kind: 'statement', text: query.text });
    return this.all(query, ...values);
  }

  exec(text: string): void {
    this.#beforeStep?.({ kind: 'statement', text });
    this.db.exec(text);
  }

  /** All of `fn` or nothing, durable when it returns. Whatever goes wrong comes out as a StoreError. */
  transaction<T>(fn: () => T): T {
    try {
      this.run(sql('BEGIN IMMEDIATE'));
      const result = fn();
      this.run(sql('COMMIT'));
      return result;
    } catch (error) {
      if (this.db.inTransaction) this.prepared('ROLLBACK').run();
      throw toStoreError(error, this.file);
    }
  }

  /** Moves what is committed from the log into the database without waiting for readers. Returns the frames that are left. */
  checkpoint(): number {
    const [row] = this.all(sql<{ log: number; checkpointed: number }>('PRAGMA wal_checkpoint(PASSIVE)'));
    return row === undefined ? 0 : row.log - row.checkpointed;
  }

  /** Empties the log into the database. Where that fails (a full disk) the log stays, and whoever opens the database next finds all in it. */
  override close(): void {
    try {
      this.db.pragma('wal_checkpoint(TRUNCATE)');
    } catch {
      // Nothing is lost, and an open connection would keep the next one out.
    }
    super.close();
  }

  get userVersion(): number {
    return this.get(sql<{ user_version: number }>('PRAGMA user_version'))?.user_version ?? 0;
  }
}

/** Opens (or creates) the database for the one writer, without migrating it. Throws a StoreError that names the file. */
export function openWritable(file: string, blobsDir: string, options: DbOptions = {}): WritableDb {
  const db = open(file, {});
  try {
    const mode: unknown = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal')
      throw new StoreError('readonly', `${file}: the journal mode is ${String(mode)} and cannot be set to WAL on this file system`);
    // better-sqlite3 is built with NORMAL as the default of WAL: the last commits could vanish with the power.
    db.pragma('synchronous = FULL');
    // Checkpoints run between writes, not inside the one that happens to cross a threshold.
    db.pragma('wal_autocheckpoint = 0');
    db.pragma('journal_size_limit = 16777216');
    return new WritableDb(db, file, blobsDir, options);
  } catch (error) {
    db.close();
    throw toStoreError(error, file);
  }
}

/** Opens an existing database for reading only. */
export function openReadable(file: string, blobsDir: string): ReadableDb {
  return new ReadableDb(open(file, { readonly: true, fileMustExist: true }), file, blobsDir);
}
