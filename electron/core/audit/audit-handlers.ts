// The procedures `audit.*` of the contract.
import type { auditContract } from '#shared/contract/audit.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import { type AuditDeps, auditStored } from './audit-run.ts';

export type AuditHandlerDeps = {
  readonly store: AuditDeps['store'];
  /** Aborted when the engine closes. */
  readonly closing: AbortSignal;
};

export function createAuditHandlers({ store, closing }: AuditHandlerDeps): Handlers<typeof auditContract> {
  return { 'audit.run': ({ run }, { signal }) => auditStored({ store }, run, AbortSignal.any([signal, closing])) };
}
