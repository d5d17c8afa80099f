// From executions of the verifier to measurements: an execution is repeated after a fault that is not the candidate's, and the last one
// counts. Semantics, section 3, rule 4. Shared by the engine, which repeats, and by a replay, which finds the measurements again.
import { assertNever, ensure } from '../lib/assert.ts';
import { runsOf } from './aggregate.ts';
import type { NoVerdictCode, Verdict } from './verdict.ts';

/**
 * Whether an execution that ended so may be repeated. A broken echo, a malformed report, changed verifier files and a verifier that takes
 * too long are findings and are not tried again.
 */
export function isFault(code: NoVerdictCode): boolean {
  switch (code) {
    case 'setup_timeout':
    case 'transfer':
    case 'parse':
    case 'crash':
    case 'infra':
      return true;
    case 'malformed':
    case 'attestation':
    case 'tampered':
    case 'verifier_timeout':
    case 'budget':
    case 'aborted':
      return false;
    default:
      return assertNever(code, 'no_verdict code');
  }
}

/** The verdict of the executions of one measurement: what the last one found, with the runs of all. Throws without any. */
export function measurementVerdict(executions: readonly Verdict[]): Verdict {
  const last = ensure(executions.at(-1), 'an execution');
  return last.kind === 'invalid' ? last : { ...last, runs: executions.flatMap(runsOf) };
}
