// The last step before an error leaves the engine: what the store refuses gets a code of the contract, everything unexpected an id in the log.
import type { Contract } from '#shared/contract/contract.ts';
import { RpcError } from '#shared/contract/errors.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import { StoreError } from '#electron/store/errors.ts';
import type { Log } from './log.ts';
import { storeCode } from './store-code.ts';
import { messageOf } from '#shared/lib/message-of.ts';

/** What keeps a store from being opened, naming its database; anything unexpected as it is. */
export function openingError(error: unknown, file: string): unknown {
  if (!(error instanceof StoreError)) return error;
  const code = storeCode(error);
  return code === 'internal' ? error : new RpcError(code === 'incompatible' ? code : 'unavailable', error.message, { file });
}

/** Any error as one that crosses the contract. `name` is the procedure. */
function toRpcError(error: unknown, name: string, log: Pick<Log, 'internal'>): RpcError {
  if (error instanceof RpcError) return error;
  const code = error instanceof StoreError ? storeCode(error) : 'internal';
  const message = messageOf(error);
  if (code !== 'internal') return new RpcError(code, message);
  return new RpcError('internal', `${name} failed inside the engine: ${message} (log ${log.internal(error, name)})`);
}

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** The same handlers, whose failures are all RpcErrors: same names, parameters and results, only what is thrown differs. */
export function guardHandlers(handlers: Handlers<Contract>, log: Pick<Log, 'internal'>): Handlers<Contract> {
  return new Proxy(handlers, {
    get: (target, name) => {
      const handler: unknown = Reflect.get(target, name);
      if (typeof handler !== 'function') return handler;
      return (...input: unknown[]): unknown => {
        const failed = (error: unknown): never => {
          throw toRpcError(error, String(name), log);
        };
        try {
          const result: unknown = Reflect.apply(handler, undefined, input);
          return isStream(result) ? guardStream(result, failed) : Promise.resolve(result).catch(failed);
        } catch (error) {
          return failed(error);
        }
      };
    },
  });
}

async function* guardStream(items: AsyncIterable<unknown>, failed: (error: unknown) => never): AsyncGenerator<unknown, void, void> {
  try {
    yield* items;
  } catch (error) {
    failed(error);
  }
}
