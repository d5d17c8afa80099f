// Replays, relations and servers as a fake core answers them: nothing was ever replayed, no run has relatives, and what would execute or ask
// a server is refused.
import { RpcError } from '#shared/contract/errors.ts';
import type { auditContract } from '#shared/contract/audit.ts';
import type { replayContract } from '#shared/contract/replay.ts';
import type { serverContract } from '#shared/contract/server.ts';
import type { Handlers } from '#shared/rpc/types.ts';

const refuse = (): never => {
  throw new RpcError('unavailable', 'this fake has no verifier, no server and nothing to replay');
};

export const fakeReplay: Handlers<typeof replayContract & typeof auditContract & typeof serverContract> = {
  'audit.run': refuse,
  'server.doctor': refuse,
  'replay.decisions': refuse,
  'replay.status': () => Promise.resolve({ state: 'never' as const, at: null, transitions: 0, mismatches: 0, missing: 0 }),
  'replay.verifier': refuse,
  'replay.verifyBundle': () => Promise.reject(new RpcError('unavailable', 'this fake has no verifier')),
  'replay.reverifications': () => Promise.resolve([]),
  'run.resolveBundle': () => Promise.reject(new RpcError('not_found', 'this fake names no bundles')),
  'run.relatives': () => Promise.resolve({ parent: null, branches: [] }),
  'run.divergence': () => Promise.resolve({ common: null, first: null }),
};
