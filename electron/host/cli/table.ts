// Aligned plain text for terminals and pipes.
import { plain } from './io.ts';

/** Rows as columns, two spaces apart; numbers (and headings over them) to the right, the last column unpadded. */
export function table(rows: readonly (readonly (string | number)[])[], rightAligned: ReadonlySet<number> = new Set()): string {
  const cells = rows.map((row) => row.map((cell) => plain(String(cell)).replaceAll(/[\n\t]+/g, ' ')));
  const widths: number[] = [];
  for (const row of cells) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  return cells
    .map((row) =>
      row
        .map((cell, i) => (rightAligned.has(i) ? cell.padStart(widths[i] ?? 0) : i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}
