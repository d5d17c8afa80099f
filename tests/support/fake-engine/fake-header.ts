// The header that a start would have, with the refusals by field that the engine makes before anything is measured.
import { RpcError } from '#shared/contract/errors.ts';
import type { RunStart } from '#shared/contract/run.ts';
import { budgetWith } from '#shared/domain/budget.ts';
import { headerSha } from '#shared/domain/bundle-id.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { fakeTask } from './fake-job.ts';
import { fakeSha } from './fake-run.ts';

function optionsOf({ proposer, command, record }: RunStart, operators: readonly string[]): RunHeader['proposer']['options'] {
  switch (proposer) {
    case 'search':
      if (operators.length === 0) throw new RpcError('bad_input', 'the search needs at least one operator', { field: 'search.operators' });
      return { operators: [...operators] };
    case 'command':
      if (command === undefined)
        throw new RpcError('bad_input', 'the proposer "command" needs the command that is to be run', { field: 'command' });
      return { command: command.command, timeoutMs: command.timeoutMs ?? 600_000, sandboxed: false, tokens: 'not metered' };
    case 'recorded':
      if (record === undefined)
        throw new RpcError('bad_input', 'the proposer "recorded" needs the run whose responses it gives again', { field: 'record' });
      return { record: fakeSha(`record ${record}`) };
    case 'human':
      return {};
    case 'openai':
      throw new RpcError('bad_input', 'the proposer "openai" does not exist in this version', { field: 'proposer' });
    default:
      return proposer satisfies never;
  }
}

export function fakeHeader(input: RunStart): { header: RunHeader; json: string; sha: string } {
  const info = fakeTask(input.task ?? '');
  if (input.proposer === 'human' && input.slots !== 1)
    throw new RpcError('bad_input', `a person proposes one candidate at a time, so slots is 1 and not ${input.slots}`, { field: 'slots' });
  const header: RunHeader = {
    format: 'pawl.header/1',
    contract: info.contractSha,
    seedTree: info.seedTree,
    proposer: { kind: input.proposer, version: 1, options: optionsOf(input, info.operators) },
    slots: input.slots,
    seed: input.seed,
    budget: budgetWith(info.budget, input),
    verifierDeadAfter: 8,
    parent: null,
    verifierProgram: null,
    ...(input.unsandboxed === true ? { unsandboxed: true } : {}),
  };
  return { header, json: canonicalJson(header), sha: headerSha(header) };
}
