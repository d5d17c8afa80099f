// Single edits of a stored run, one field of one row each, and where a decision replay has to name them.
import type Database from 'better-sqlite3';
import type { DecisionReplayReport } from '#shared/contract/replay.ts';

type Value = number | string | Uint8Array | null;
export type Edit = { readonly table: string; readonly column: string; readonly rowid: number | string; readonly value: Value };

const span = 2 ** 32;

/**
 * Columns that no hash covers, because nothing of the run follows from them: what people called the task and where it lay, words about a
 * stop, when an execution began, numbers that only join rows.
 */
const uncovered: Readonly<Record<string, readonly string[]>> = {
  run: ['no', 'task_title', 'task_path', 'note', 'id'],
  header: ['run'],
  contract: [],
  verdict: ['no'],
  verifier_run: ['key', 'started_at'],
  bundle: ['key'],
  transition: ['key'],
  memory: ['key'],
  event: ['key'],
  salt: ['key'],
  auto_output: ['transition', 'position'],
  auto_registration: ['transition', 'position'],
  blob: ['no', 'dict'],
  tree: [],
};

export const tables = Object.keys(uncovered);

const keyOf: Readonly<Record<string, string>> = {
  run: 'no',
  header: 'run',
  contract: 'sha',
  verdict: 'no',
  verifier_run: 'key',
  bundle: 'key',
  transition: 'key',
  memory: 'key',
  event: 'key',
  salt: 'key',
  // Any number that says which row it is, and of which attempt.
  auto_output: '(transition + position * 281474976710656)',
  auto_registration: '(transition + position * 281474976710656)',
  blob: 'no',
  tree: 'sha',
};

/** Columns of a table that a replay covers. */
export function columnsOf(db: Database.Database, table: string): string[] {
  return db
    .prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(({ name }) => name)
    .filter((name) => !(uncovered[table] ?? []).includes(name));
}

export function rowsOf(db: Database.Database, table: string): (number | string)[] {
  const key = keyOf[table] ?? '';
  return db
    .prepare<[], { key: number | string }>(`SELECT ${key} AS key FROM ${table} ORDER BY ${key}`)
    .all()
    .map((row) => row.key);
}

export function valueAt(db: Database.Database, table: string, column: string, rowid: number | string): Value {
  const row = db
    .prepare<[number | string], { value: Value }>(`SELECT ${column} AS value FROM ${table} WHERE ${keyOf[table] ?? ''} = ?`)
    .get(rowid);
  if (row === undefined) throw new Error(`${table} has no row ${rowid}`);
  return row.value;
}

export function write(db: Database.Database, { table, column, rowid, value }: Edit): void {
  db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${keyOf[table] ?? ''} = ?`).run(value, rowid);
}

/** Puts back what stood there before an edit. */
export function takeBack(db: Database.Database, { value, ...edit }: Edit, before: Value): void {
  // A key that was edited has another name now.
  const renamed = keyOf[edit.table] === edit.column ? String(value) : edit.rowid;
  write(db, { ...edit, rowid: renamed, value: before });
}

/** Another value of the same kind; `pick` chooses the place in a text or bytes (0..1). */
export function changed(value: Value, pick: number): Value {
  if (value === null) return 1;
  if (typeof value === 'number') return Number.isInteger(value) ? value + 1 : value + 0.5;
  const at = Math.min(value.length - 1, Math.floor(pick * value.length));
  if (typeof value === 'string') {
    if (value === '') return 'x';
    const old = value[at] ?? '';
    return `${value.slice(0, at)}${old === '1' ? '2' : '1'}${value.slice(at + 1)}`;
  }
  const bytes = Uint8Array.from(value);
  if (bytes.length === 0) return Uint8Array.of(1);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}

/** Whether a report names the edit: the row, and where rows have fields of the same names, the field. */
export function names(report: DecisionReplayReport, db: Database.Database, { table, column, rowid }: Edit, before: Value): boolean {
  const found = [
    ...report.mismatches.map(({ where, field }) => ({ where, field })),
    ...report.missing.map(({ where, what }) => ({ where, field: what })),
  ];
  const n = Number(rowid) % span;
  const some = (where: RegExp, field: RegExp = /./) => found.some((f) => where.test(f.where) && field.test(f.field));
  const own = new RegExp(`^${column}(\\.|$)`);
  switch (table) {
    case 'run':
      if (column === 'contract') return some(/^(contract|run)$/, /^(sha|contract|body)$/);
      // The chain says it too, and neither follows from anything else.
      if (column === 'task_id') return some(/^event 0$/, /^body\.task$/);
      if (column === 'header_sha') return some(/^(header|run)$/, /^(sha|header_sha)$/);
      return some(/^run$/, own);
    case 'header':
      return some(/^header$/);
    case 'contract':
      return some(/^contract$/);
    case 'transition':
      // The rest of a cost is what the budget of the run says it sums up to.
      return some(new RegExp(`^transition ${n}$`), own) || (column === 'cost' && some(/^run$/, /^(used|over)_/));
    case 'auto_output':
      return some(new RegExp(`^automatic commands of transition ${n}$`), /^outputs/);
    case 'auto_registration':
      return some(new RegExp(`^automatic commands of transition ${n}$`), /^registrations/);
    case 'memory':
      return some(new RegExp(`^memory of transition ${n}$`));
    case 'bundle':
      return some(new RegExp(`^bundle ${n}$`), own);
    case 'event':
      return some(new RegExp(`^event ${n}$`));
    case 'salt':
      return some(new RegExp(`^salt ${n}$`));
    case 'verdict':
      return some(/^(verdict of|transition|the seed)/);
    case 'verifier_run':
      return some(/^verifier run/);
    case 'blob':
    case 'tree': {
      const sha = column === 'sha' ? String(before) : String(valueAt(db, table, 'sha', rowid));
      return found.some(({ where }) => where.includes(sha)) || (column === 'sha' && report.missing.length > 0);
    }
    default:
      throw new Error(`no rule for ${table}`);
  }
}
