// What can go wrong across the contract. Expected failures of an operation carry one of these codes.
import { z } from 'zod';
import { messageOf } from '../lib/message-of.ts';

/** `unstable`: measurements of the same tree disagree, and somebody has to choose how to go on. */
const errorCodes = [
  'bad_input',
  'not_found',
  'conflict',
  'unstable',
  'cancelled',
  'closed',
  'unavailable',
  'incompatible',
  'internal',
] as const;
export const ErrorCode = z.enum(errorCodes);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** Where the fault lies, as far as it can be named: shown to people and printed by `--json`. */
export const ErrorWhere = z.strictObject({ file: z.string().optional(), field: z.string().optional() });
export type ErrorWhere = z.infer<typeof ErrorWhere>;

/** An error that crosses the contract. `message` says what is wrong and what to do. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: ErrorCode;
  readonly where: ErrorWhere;
  constructor(code: ErrorCode, message: string, where: ErrorWhere = {}) {
    super(message);
    this.code = code;
    this.where = where;
  }
}

/** A failure as the error of a call: its own where it is one, else `internal`. */
export const asRpcError = (cause: unknown): RpcError => (cause instanceof RpcError ? cause : new RpcError('internal', messageOf(cause)));
