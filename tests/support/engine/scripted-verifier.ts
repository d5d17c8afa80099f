// A verifier that reads its verdict out of the candidate itself, and ends in whatever order a test wants.
import { z } from 'zod';
import { sha256Hex } from '#shared/lib/hash.ts';
import { createRandom } from '#shared/lib/random.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { NoVerdictCode, type Verdict } from '#shared/domain/verdict.ts';
import type { Verification, VerifierService, VerifyRequest } from '#electron/verifiers/api.ts';
import { noGuarantees } from '#electron/verifiers/sandbox/api.ts';
import { bytesOf } from './builders.ts';

/** What `state.json` may say. `salt` only tells trees apart. */
export const State = z.union([
  z.strictObject({ rank: z.array(z.number()), salt: z.number().optional() }),
  z.strictObject({ noVerdict: NoVerdictCode, salt: z.number().optional() }),
]);
export type State = z.infer<typeof State>;

export type ScriptedVerifier = VerifierService & {
  /** Trees in the order in which their verification began. */
  readonly began: Sha[];
  readonly ended: Sha[];
  readonly mostAtOnce: () => number;
};

export type ScriptedVerifierOptions = {
  /** Seed of the order in which verifications under way end; absent: in order of their beginning. */
  readonly order?: number;
  readonly concurrency?: number;
  /** Changes what a tree says, by the number (from 1) of its measurement. */
  readonly override?: (tree: Sha, time: number, state: State) => State;
  /** Called as each verification begins. */
  readonly onBegin?: (tree: Sha, begun: number) => void;
  /** What each execution says that it took. */
  readonly durationMs?: (begun: number) => number;
  /** Executions that a verification reports (a retry of the service's own), default 1. */
  readonly executions?: (begun: number) => number;
  /** Never ends a verification by itself: only an abort does. */
  readonly hang?: (begun: number) => boolean;
};

export function createScriptedVerifier(options: ScriptedVerifierOptions = {}): ScriptedVerifier {
  const random = createRandom(['scripted-verifier', options.order ?? 0]);
  const waiting: (() => void)[] = [];
  const times = new Map<Sha, number>();
  const began: Sha[] = [];
  const ended: Sha[] = [];
  let open = 0;
  let most = 0;
  let pumping = false;
  const pump = () => {
    if (pumping) return;
    pumping = true;
    setImmediate(() => {
      pumping = false;
      const at = options.order === undefined ? 0 : waiting.length === 0 ? 0 : random.int(waiting.length);
      waiting.splice(at, 1)[0]?.();
      if (waiting.length > 0) pump();
    });
  };
  const turn = (signal: AbortSignal, hang: boolean) =>
    new Promise<'done' | 'aborted'>((resolve) => {
      if (signal.aborted) {
        resolve('aborted');
        return;
      }
      signal.addEventListener('abort', () => resolve('aborted'), { once: true });
      if (hang) return;
      waiting.push(() => resolve('done'));
      pump();
    });

  return {
    began,
    ended,
    mostAtOnce: () => most,
    concurrency: options.concurrency ?? 4,
    lost: () => false,
    resolveProgram: () => Promise.resolve({ error: 'scripted' }),
    sandbox: () =>
      Promise.resolve({
        available: false,
        backend: null,
        version: null,
        experimental: false,
        guarantees: noGuarantees,
        message: 'scripted',
        remedy: null,
      }),
    verify: async (request, signal) => {
      const { tree } = request;
      began.push(tree);
      const number = began.length;
      const time = (times.get(tree) ?? 0) + 1;
      times.set(tree, time);
      most = Math.max(most, ++open);
      options.onBegin?.(tree, number);
      const how = await turn(signal, options.hang?.(number) ?? false);
      open--;
      const executions = options.executions?.(number) ?? 1;
      const durationMs = options.durationMs?.(number) ?? 1;
      const ids = Array.from({ length: executions }, (_, i) => `vr-${tree.slice(0, 12)}-${number}-${i}`);
      if (how === 'aborted') return verification(request, { noVerdict: 'aborted' }, ids, durationMs);
      ended.push(tree);
      const state = stateOf(request);
      return verification(request, options.override?.(tree, time, state) ?? state, ids, durationMs);
    },
  };
}

function stateOf({ files }: VerifyRequest): State {
  const file = files.find(({ path }) => path === 'state.json');
  return State.parse(JSON.parse(new TextDecoder().decode(file?.bytes)));
}

// Obligations are called o0, o1, ... after their place in the state's rank: a contract that lost some of them is answered with the others.
function rankUnder({ contract }: VerifyRequest, rank: number[]): number[] {
  return contract.previous === null ? rank : contract.obligations.flatMap(({ key }) => rank[Number(key.slice(1))] ?? []);
}

function verification(request: VerifyRequest, state: State, ids: readonly string[], durationMs: number): Verification {
  const { tree } = request;
  const output = bytesOf(`output about ${tree}`);
  const sha = sha256Hex(output);
  const refs = ids.map((id) => ({ id, durationMs, output: sha }));
  const verdict: Verdict =
    'rank' in state
      ? {
          kind: 'ranked',
          rank: rankUnder(request, state.rank),
          runs: refs,
          stable: true,
          advisory: {},
          details: { o0: `details of ${tree.slice(0, 8)}` },
        }
      : { kind: 'no_verdict', code: state.noVerdict, message: 'scripted', runs: refs };
  return {
    verdict,
    runs: ids.map((id) => ({
      id,
      nonce: id,
      tree,
      startedAt: '2026-01-01T00:00:00.000Z',
      durationMs,
      exitCode: 0,
      signal: null,
      report: null,
      output: sha,
      result: verdict.kind,
    })),
    blobs: [{ sha, bytes: output }],
  };
}
