// What `pawl run` was asked for, as the start of one run or of several.
import type { RunStart } from '#shared/contract/run.ts';
import type { OtherLimits } from '#shared/domain/budget.ts';
import { givenModelOption, modelChoice, type ModelOptions } from './model-options.ts';
import { UsageError, type CliIo, type CommonOptions } from './io.ts';
import { startRollouts } from './rollouts.ts';
import { startRun } from './run.ts';
import { withEngine } from './with-engine.ts';

export type RunOptions = {
  readonly task: string;
  readonly proposer: 'search' | 'openai' | 'command' | 'recorded' | 'human';
  readonly model: ModelOptions;
  readonly slots?: number | undefined;
  readonly seed: number;
  readonly attempts?: number | undefined;
  readonly limits?: OtherLimits | undefined;
  readonly command?: string | undefined;
  /** Seconds. */
  readonly commandTimeout?: number | undefined;
  /** Id of a run, or a beginning of it. */
  readonly from?: string | undefined;
  readonly rollouts?: number | undefined;
  readonly quarantine?: string[] | undefined;
  readonly median?: string[] | undefined;
  readonly unsandboxed?: true | undefined;
};

const usualSlots = 4;

/** Runs it. Options that belong to another proposer, or that miss, are usage errors. */
export async function run(io: CliIo, options: CommonOptions, given: RunOptions): Promise<number> {
  const { task, proposer, seed, attempts, limits, quarantine, median, rollouts } = given;
  const { command, commandTimeout, from } = given;
  if (proposer === 'command' && command === undefined)
    throw new UsageError('--proposer command needs --command CMD, the program that proposes', '--command');
  if (proposer === 'recorded' && from === undefined)
    throw new UsageError('--proposer recorded needs --from RUN, whose responses are proposed again', '--from');
  const modelOption = givenModelOption(given.model);
  if (proposer !== 'openai' && modelOption !== null) throw new UsageError(`${modelOption} belongs to --proposer openai`, modelOption);
  if (proposer !== 'command' && command !== undefined) throw new UsageError('--command belongs to --proposer command', '--command');
  if (proposer !== 'command' && commandTimeout !== undefined)
    throw new UsageError('--command-timeout belongs to --proposer command', '--command-timeout');
  if (proposer !== 'recorded' && from !== undefined)
    throw new UsageError('--from belongs to --proposer recorded; "pawl branch" begins at a bundle of a run', '--from');
  if (proposer === 'recorded' && rollouts !== undefined)
    throw new UsageError('--rollouts would propose the same record every time; it belongs to the other proposers', '--rollouts');
  if (proposer === 'human' && rollouts !== undefined)
    throw new UsageError('--rollouts would wait for you in every run; it belongs to the other proposers', '--rollouts');
  const record = from === undefined ? null : await sourceOf(io, options, from);
  const start: RunStart = {
    task,
    proposer,
    // The record's rounds are those of its run unless somebody wants others.
    slots: given.slots ?? record?.slots ?? (proposer === 'human' ? 1 : usualSlots),
    seed,
    ...(attempts === undefined ? {} : { attempts }),
    ...(limits === undefined ? {} : { limits }),
    ...(quarantine === undefined ? {} : { quarantine }),
    ...(median === undefined ? {} : { median }),
    ...(given.unsandboxed === undefined ? {} : { unsandboxed: given.unsandboxed }),
    ...(record === null ? {} : { record: record.id }),
    ...(proposer === 'openai' ? { server: modelChoice(given.model) } : {}),
    ...(command === undefined
      ? {}
      : { command: { command, ...(commandTimeout === undefined ? {} : { timeoutMs: commandTimeout * 1_000 }) } }),
  };
  return rollouts === undefined ? startRun(io, options, start) : startRollouts(io, options, start, rollouts);
}

const sourceOf = (io: CliIo, options: CommonOptions, prefix: string): Promise<{ readonly id: string; readonly slots: number }> =>
  withEngine(io, options, ['closed', 'unavailable'], async ({ client }) => {
    const { run: id } = await client.call('run.resolve', { prefix });
    return client.call('run.get', { run: id });
  });
