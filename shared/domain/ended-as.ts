// How a run that has stopped stands: the same word must not say success and failure.
import { assertNever } from '../lib/assert.ts';
import type { StopReason } from './transition.ts';

export type Ended = 'done' | 'stopped' | 'failed';

/** `done`: nothing is left to fix. `failed`: it could not go on. `stopped`: a limit or a person ended it. */
export function endedAs(stop: StopReason | null): Ended {
  switch (stop) {
    case 'zero_rank':
      return 'done';
    case 'verifier_dead':
    case 'contract_changed':
      return 'failed';
    case 'budget':
    case 'user':
    case 'stalled':
    case null:
      return 'stopped';
    default:
      return assertNever(stop, 'stop reason');
  }
}
