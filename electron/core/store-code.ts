// What the store refuses, in codes of the contract.
import type { ErrorCode } from '#shared/contract/errors.ts';
import { assertNever } from '#shared/lib/assert.ts';
import type { StoreError, StoreErrorKind } from '#electron/store/errors.ts';

/** `internal` where Pawl is to blame, `unavailable` where another engine or another try may help. A full disk is full for every engine. */
export function storeCode({ kind }: StoreError): ErrorCode {
  switch (kind) {
    case 'conflict':
    case 'not_found':
    case 'incompatible':
    case 'closed':
      return kind;
    case 'full':
      return 'conflict';
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

const ofTheMachine: readonly StoreErrorKind[] = ['full', 'io', 'readonly', 'corrupt', 'lost'];

/** Whether the machine has taken something away from the store: a loop that ends for it is none of Pawl's faults. */
export const isOfTheMachine = ({ kind }: StoreError): boolean => ofTheMachine.includes(kind);
