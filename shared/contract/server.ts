// Model servers: what one is and can do, found out by asking it.
import { z } from 'zod';
import { Count } from '#shared/domain/ids.ts';
import { stream } from './procedure.ts';
import { ServerAddress } from './run.ts';

/** What the doctor looks at, in its order. */
export const doctorChecks = [
  'alive',
  'model',
  'counting',
  'smoke',
  'reasoning',
  'accounting',
  'tools',
  'structured',
  'seed',
  'determinism',
  'throughput',
  'liveness',
] as const;

/**
 * `ok`: as it should be. `note`: a fact that somebody has to know and that stands in the way of nothing. `failed`: runs against this server
 * would fail. `skipped`: not found out, because of an earlier check or because the server has nothing to ask.
 */
export const DoctorCheck = z.strictObject({
  check: z.enum(doctorChecks),
  status: z.enum(['ok', 'note', 'failed', 'skipped']),
  /** Which of the ways in which this check can end, such as `truncated_in_reasoning`; for programs. */
  code: z.string(),
  /** The same in words, and what to do about it. */
  message: z.string(),
  /** What it was decided from. */
  facts: z.record(z.string(), z.json()),
});
export type DoctorCheck = z.infer<typeof DoctorCheck>;

/** What `pawl doctor --json` prints. It is about one moment: a server that is loaded answers differently from one that is not. */
export const DoctorReport = z.strictObject({
  format: z.literal('pawl.doctor/1'),
  /** Wall clock, ISO 8601 UTC. */
  at: z.string(),
  baseUrl: z.string(),
  version: z.string().nullable(),
  model: z.string().nullable(),
  maxModelLen: Count.nullable(),
  /** No check has failed. */
  healthy: z.boolean(),
  checks: z.array(DoctorCheck).length(doctorChecks.length),
  requests: Count,
  ms: z.number().min(0),
});
export type DoctorReport = z.infer<typeof DoctorReport>;

export const DoctorItem = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('check'), check: DoctorCheck }),
  z.strictObject({ kind: z.literal('report'), report: DoctorReport }),
]);
export type DoctorItem = z.infer<typeof DoctorItem>;

export const serverContract = {
  /** Asks a server a few small questions, one check at a time, and reports at the end. Stores nothing and decides nothing. */
  'server.doctor': stream(z.strictObject({ server: ServerAddress, model: z.string().min(1).optional() }), DoctorItem),
} as const;
