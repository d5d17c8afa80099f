// Assertions on SQLite's plan: which index a query uses, and that it neither scans nor sorts.
import { expect } from 'vitest';
import type { Query, ReadableDb, SqlValue } from '#electron/store/db.ts';

/** Every step of the plan is a search (or a constant row); `uses` names what each search must be on, in order. */
export function expectPlan(db: ReadableDb, query: Query<never> | Query<unknown>, values: readonly SqlValue[], uses: readonly RegExp[]): void {
  const steps = db.plan(query.text, ...values);
  const text = steps.join('\n');
  expect(text).not.toMatch(/\bSCAN (?!CONSTANT ROW)/);
  expect(text).not.toMatch(/TEMP B-TREE|AUTOMATIC/);
  const searches = steps.filter((step) => step.startsWith('SEARCH'));
  expect(searches, text).toHaveLength(uses.length);
  for (const [i, pattern] of uses.entries()) expect(searches[i]).toMatch(pattern);
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
