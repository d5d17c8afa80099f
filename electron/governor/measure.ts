// One measurement of one tree: the verifier's execution, and its repetition where the fault was not the candidate's.
import { isFault, measurementVerdict } from '#shared/domain/executions.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { Verification, VerifierService, VerifyRequest } from '#electron/verifiers/api.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type Measurement = Verification & {
  /** Milliseconds of all executions, rounded up. */
  readonly ms: number;
  /** Executions that were repetitions after a fault. */
  readonly retries: number;
  /** Ended by a stop and therefore no measurement at all. */
  readonly aborted: boolean;
};

export type MeasureLimits = {
  /** Executions after the first that faults of ours may cause. */
  readonly retries: number;
  /** No repetition begins after so many milliseconds. */
  readonly deadlineMs: number;
};

/** Verifies once, and again after infrastructure faults while `limits` allow it. Never rejects: a verifier that cannot be reached gives `no_verdict/infra`. */
export async function measure(
  { verifiers, monotonicMs }: { verifiers: Pick<VerifierService, 'verify'>; monotonicMs: () => number },
  request: VerifyRequest,
  limits: MeasureLimits,
  signal: AbortSignal,
): Promise<Measurement> {
  const begun = monotonicMs();
  let all: Verification | null = null;
  for (let retries = 0; ; retries++) {
    const one = await verifyOnce(verifiers, request, signal);
    all = all === null ? one : joined(all, one);
    const { verdict } = all;
    const aborted = signal.aborted && verdict.kind === 'no_verdict';
    const again =
      verdict.kind === 'no_verdict' &&
      isFault(verdict.code) &&
      !aborted &&
      retries < limits.retries &&
      monotonicMs() - begun < limits.deadlineMs;
    if (again) continue;
    return { ...all, ms: Math.ceil(all.runs.reduce((sum, { durationMs }) => sum + durationMs, 0)), retries, aborted };
  }
}

async function verifyOnce(verifiers: Pick<VerifierService, 'verify'>, request: VerifyRequest, signal: AbortSignal): Promise<Verification> {
  try {
    return await verifiers.verify(request, signal);
  } catch (error) {
    const message = `the verifier could not be run: ${messageOf(error)}`;
    return {
      verdict: { kind: 'no_verdict', code: signal.aborted ? 'aborted' : 'infra', message: message.toWellFormed(), runs: [] },
      runs: [],
      blobs: [],
    };
  }
}

// The last execution decides; the record names all of them.
function joined(before: Verification, last: Verification): Verification {
  const blobs = new Map<Sha, Uint8Array>([...before.blobs, ...last.blobs].map(({ sha, bytes }) => [sha, bytes]));
  return {
    verdict: measurementVerdict([before.verdict, last.verdict]),
    runs: [...before.runs, ...last.runs],
    blobs: [...blobs].map(([sha, bytes]) => ({ sha, bytes })),
  };
}
