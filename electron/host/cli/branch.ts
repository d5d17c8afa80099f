// `pawl branch`: a new run from a certified bundle, with the options of `pawl run`. What is not said is as in the run that it comes from.
import type { ProposerKind } from '#shared/domain/header.ts';
import type { CliIo, CommonOptions } from './io.ts';
import { startRun } from './run.ts';
import { withEngine } from './with-engine.ts';

export type BranchOptions = {
  readonly proposer?: ProposerKind | undefined;
  readonly slots?: number | undefined;
  readonly seed?: number | undefined;
  readonly attempts?: number | undefined;
  readonly unsandboxed?: true | undefined;
};

/** `ref`: `RUN/SEQ` or an unambiguous beginning of the bundle's id. Exit codes as for `pawl run`. */
export async function branch(io: CliIo, options: CommonOptions, ref: string, given: BranchOptions): Promise<number> {
  const { from, header } = await withEngine(io, options, ['closed', 'unavailable'], async ({ client }) => {
    const { run, seq } = await client.call('run.resolveBundle', { ref });
    const parent = await client.call('run.get', { run });
    return { from: { run, seq }, header: parent.header };
  });
  io.err(
    `Branching from bundle ${from.seq} of ${from.run}: a new run under the same contract; its verifier runs from the store's copies.\n`,
  );
  const unsandboxed = given.unsandboxed ?? header.unsandboxed;
  return startRun(io, options, {
    from,
    proposer: given.proposer ?? header.proposer.kind,
    slots: given.slots ?? (given.proposer === 'human' ? 1 : header.slots),
    seed: given.seed ?? header.seed,
    ...(given.attempts === undefined ? {} : { attempts: given.attempts }),
    ...(unsandboxed === undefined ? {} : { unsandboxed }),
  });
}
