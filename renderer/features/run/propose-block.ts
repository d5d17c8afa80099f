// Why a person cannot propose in a run right now.
import type { RunDetail } from '#shared/contract/run.ts';
import { assertNever } from '#shared/lib/assert.ts';
import type { Dictionary } from '#renderer/i18n/dictionary.ts';

/** The reason in words; null when a proposal is welcome. */
export function proposeBlock({ status, stop }: Pick<RunDetail, 'status' | 'stop'>, t: Dictionary): string | null {
  switch (status) {
    case 'waiting':
    case 'interrupted':
      return null;
    case 'stopped':
      return stop === null || stop === 'user' ? null : t.proposeEnded(t.stop[stop]);
    case 'running':
      return t.proposeLive;
    case 'not_started':
      return t.notStarted;
    default:
      return assertNever(status, 'status');
  }
}
