// The procedures `server.*` of the contract.
import type { serverContract } from '#shared/contract/server.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import type { ChatServers } from './chat-servers.ts';
import { examine } from './doctor.ts';

export function createServerHandlers({
  servers,
  closing,
}: {
  readonly servers: ChatServers;
  readonly closing: AbortSignal;
}): Handlers<typeof serverContract> {
  return {
    'server.doctor': ({ server: { baseUrl, keyVariable = null }, model }, { signal }) =>
      examine(servers.client({ baseUrl, keyVariable }), model, new Date().toISOString(), AbortSignal.any([signal, closing])),
  };
}
