// SQLite's plan of a query: which index it uses, and that it neither scans nor sorts.
import type { Query, ReadableDb, SqlValue } from '#electron/store/db.ts';

/**
 * What is wrong with a plan: a scan, a sort, or a search that is not on what `uses` names, in order. Empty when every step is a search on
 * the intended key.
 */
export function planProblems(
  db: ReadableDb,
  query: Query<never> | Query<unknown>,
  values: readonly SqlValue[],
  uses: readonly RegExp[],
): string[] {
  const steps = db.plan(query.text, ...values);
  const problems = steps.filter((step) => /\bSCAN (?!CONSTANT ROW)|TEMP B-TREE|AUTOMATIC/.test(step));
  const searches = steps.filter((step) => step.startsWith('SEARCH'));
  if (searches.length !== uses.length) problems.push(`${searches.length} searches instead of ${uses.length}: ${searches.join('; ')}`);
  for (const [i, pattern] of uses.entries()) {
    const step = searches[i] ?? 'nothing';
    if (!pattern.test(step)) problems.push(`${step} instead of ${String(pattern)}`);
  }
  return problems;
}

export function namesOf(db: ReadableDb, type: 'table' | 'trigger' | 'index', table?: string): string[] {
  return db
    .all<{ name: string }>(
      { text: `SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%' AND (? IS NULL OR tbl_name = ?) ORDER BY name` },
      type,
      table ?? null,
      table ?? null,
    )
    .map(({ name }) => name);
}

export const byKey = /USING INTEGER PRIMARY KEY \(rowid[=<>]/;
