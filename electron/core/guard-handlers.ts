// The last step before an error leaves the engine: what the store refuses gets a code of the contract, everything unexpected an id in the log.
import { RpcError, type ErrorCode } from '#shared/contract/errors.ts';
import { assertNever } from '#shared/lib/assert.ts';
import type { CallContext } from '#shared/rpc/types.ts';
import { StoreError } from '#electron/store/errors.ts';
import type { Log } from './log.ts';

function codeOf({ kind }: StoreError): ErrorCode {
  switch (kind) {
    case 'conflict':
    case 'not_found':
    case 'incompatible':
    case 'closed':
      return kind;
    case 'full':
    case 'readonly':
      return 'unavailable';
    case 'constraint':
    case 'immutable':
    case 'corrupt':
    case 'other':
      return 'internal';
    default:
      return assertNever(kind, 'kind of store error');
  }
}

/** Any error as one that crosses the contract. `name` is the procedure. */
export function toRpcError(error: unknown, name: string, log: Pick<Log, 'internal'>): RpcError {
  if (error instanceof RpcError) return error;
  const code = error instanceof StoreError ? codeOf(error) : 'internal';
  const message = error instanceof Error ? error.message : String(error);
  if (code !== 'internal') return new RpcError(code, message);
  return new RpcError('internal', `${name} failed inside the engine: ${message} (log ${log.internal(error, name)})`);
}

type AnyHandlers = { readonly [name: string]: (input: never, context: CallContext) => unknown };

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** The same handlers, whose failures are all RpcErrors. */
export function guardHandlers<H extends AnyHandlers>(handlers: H, log: Pick<Log, 'internal'>): H {
  const guarded = Object.entries(handlers).map(([name, handler]) => {
    const call = (input: never, context: CallContext): unknown => {
      const failed = (error: unknown): never => {
        throw toRpcError(error, name, log);
      };
      try {
        const result = handler(input, context);
        return isStream(result) ? guardStream(result, failed) : Promise.resolve(result).catch(failed);
      } catch (error) {
        return failed(error);
      }
    };
    return [name, call];
  });
  // Same names, same parameters, same results: only what is thrown differs.
  return Object.fromEntries(guarded) as H;
}

async function* guardStream(items: AsyncIterable<unknown>, failed: (error: unknown) => never): AsyncGenerator<unknown, void, void> {
  try {
    yield* items;
  } catch (error) {
    failed(error);
  }
}
