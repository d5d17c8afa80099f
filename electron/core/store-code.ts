// What the store refuses, in codes of the contract.
import type { ErrorCode } from '#shared/contract/errors.ts';
import { assertNever } from '#shared/lib/assert.ts';
import type { StoreError } from '#electron/store/errors.ts';

/** `unavailable` where the machine is to blame, `internal` where Pawl is. */
export function storeCode({ kind }: StoreError): ErrorCode {
  switch (kind) {
    case 'conflict':
    case 'not_found':
    case 'incompatible':
    case 'closed':
      return kind;
    case 'full':
    case 'io':
    case 'readonly':
    case 'corrupt':
    case 'lost':
      return 'unavailable';
    case 'constraint':
    case 'immutable':
    case 'other':
      return 'internal';
    default:
      return assertNever(kind, 'kind of store error');
  }
}
