// How far a run is, on stderr: a bar that rewrites itself on a terminal, one line per commit elsewhere.
import type { RunSummary } from '#shared/contract/run.ts';
import type { CliIo } from './io.ts';

/** What of a run is shown. */
export type ProgressFacts = {
  readonly transitions: number;
  readonly counts: { readonly commit: number };
  readonly budget: { readonly max: { readonly attempts: number | null } };
  readonly head: { readonly seq: number; readonly potential: number } | null;
  readonly stop: RunSummary['stop'];
};

export type Progress = { update(run: ProgressFacts): void; end(): void };

const redrawMs = 100;
const barWidth = 24;

/** `now` in ms; the tests give their own. */
export function createProgress(io: Pick<CliIo, 'err' | 'errColumns'>, now: () => number = () => performance.now()): Progress {
  const columns = io.errColumns;
  let drawnAt = -Infinity;
  let drawn = false;
  let seq = 0;
  return {
    update: (run) => {
      const max = run.budget.max.attempts ?? 0;
      const where = `${run.transitions}/${max} attempts, ${run.counts.commit} commits, potential ${run.head?.potential ?? '-'}`;
      if (columns === null) {
        if (run.head === null || run.head.seq <= seq) return;
        ({ seq } = run.head);
        io.err(`commit ${seq}: ${where}\n`);
        return;
      }
      if (now() - drawnAt < redrawMs && run.stop === null) return;
      drawnAt = now();
      drawn = true;
      const filled = max === 0 ? 0 : Math.min(barWidth, Math.floor((run.transitions / max) * barWidth));
      io.err(`\r\x1b[K${`[${'='.repeat(filled)}${' '.repeat(barWidth - filled)}] ${where}`.slice(0, columns - 1)}`);
    },
    end: () => {
      if (drawn) io.err('\n');
      drawn = false;
    },
  };
}
