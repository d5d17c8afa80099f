// What every benchmark reports: ratios measured in one run on one machine, against a limit measured beside them.

export type BenchRow = {
  readonly label: string;
  readonly medianMs: number;
  readonly p95Ms: number;
  /** Against the limit measured in the same interleaved run; null for the limit itself. */
  readonly ratio: number | null;
  /** Largest ratio that is good enough; null where the row is only shown. */
  readonly goal: number | null;
  readonly ok: boolean;
};
export type BenchReport = {
  readonly name: string;
  readonly rows: readonly BenchRow[];
  readonly notes?: readonly string[];
  readonly skipped?: string;
};

/** q-quantile (0..1) of unsorted samples, nearest rank. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] ?? Number.NaN;
}

/** Aligned text of a report. */
export function formatReport(report: BenchReport): string {
  if (report.skipped !== undefined) return `${report.name}: SKIPPED, ${report.skipped}`;
  const width = Math.max(...report.rows.map((r) => r.label.length));
  const lines = report.rows.map((r) => {
    const ratio = r.ratio === null ? '       ' : `x${r.ratio.toFixed(2)}`.padStart(7);
    const goal = r.goal === null ? '' : `  goal <= x${r.goal.toFixed(2)}  ${r.ok ? 'ok' : 'MISSED'}`;
    return `  ${r.label.padEnd(width)}  median ${r.medianMs.toFixed(3).padStart(8)} ms  p95 ${r.p95Ms.toFixed(3).padStart(8)} ms  ${ratio}${goal}`;
  });
  return [report.name, ...lines, ...(report.notes ?? []).map((note) => `  ${note}`)].join('\n');
}
