// The automatic commands as an attempt uses them while it proposes, and on what it came to. What they say is evidence about a tree; it
// cannot change an outcome, and a command that fails, hangs or is ended by a stop changes nothing either.
import type { AutoOutput } from '#shared/domain/auto-evidence.ts';
import { type AutoCommand, autoCommands, register } from '#shared/domain/auto-registry.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { visibleText } from '#shared/domain/memory-entry.ts';
import { assertNever } from '#shared/lib/assert.ts';
import type { AutoDesk, Observation } from '#electron/proposers/proposer.ts';
import type { AutoService, VerifyRequest } from '#electron/verifiers/api.ts';
import type { NamedTree, Observed } from './attempt.ts';
import type { CandidateCheck } from './types.ts';

export type AutoRunner = {
  readonly contract: Contract;
  readonly service: AutoService | undefined;
  readonly request: (tree: Pick<NamedTree, 'tree' | 'files'>) => VerifyRequest;
};

/** Runs `commands` on one tree, one after the other, until `signal` aborts. Throws where there is a command and nothing that could run it. */
export async function runCommands(
  { service, request }: AutoRunner,
  commands: readonly AutoCommand[],
  tree: NamedTree,
  at: AutoOutput['at'],
  signal: AbortSignal,
): Promise<AutoOutput[]> {
  const outputs: AutoOutput[] = [];
  for (const command of commands) {
    if (signal.aborted) break;
    if (service === undefined) throw new Error('there are automatic commands, and nothing here can run them');
    const { ending, output } = await service.runAuto(request(tree), command, signal);
    outputs.push({
      format: 'pawl.auto/1',
      name: command.name,
      command: [...command.command],
      tree: tree.tree,
      at,
      ending: ending.toWellFormed(),
      output: output.toWellFormed(),
    });
  }
  return outputs;
}

/** The desk of one attempt. `registered`: what was registered before its round; `observed` is what it has seen so far. */
export function createAutoDesk(
  runner: AutoRunner,
  registered: readonly AutoCommand[],
  check: (files: NamedTree['files']) => CandidateCheck,
): { readonly desk: AutoDesk; readonly observed: () => Observed } {
  const { contract } = runner;
  const own = [...registered];
  const outputs: AutoOutput[] = [];
  const trees = new Map<string, NamedTree>();

  const observe: AutoDesk['observe'] = async (files, signal): Promise<Observation> => {
    const checked = check(files);
    switch (checked.kind) {
      case 'invalid':
        return { tree: checked.stored?.tree ?? null, problem: `${checked.code}: ${checked.message}`, outputs: [] };
      case 'valid': {
        const { tree, manifest } = checked;
        const said = await runCommands(runner, autoCommands(contract, own), { tree, manifest, files: checked.files }, 'proposal', signal);
        signal.throwIfAborted();
        if (said.length > 0) trees.set(tree, { tree, manifest, files: checked.files });
        outputs.push(...said);
        return {
          tree,
          problem: null,
          outputs: said.map(({ name, ending, output }) => ({ name, ending, output: visibleText(contract.obligations, output) })),
        };
      }
      default:
        return assertNever(checked, 'check of a candidate');
    }
  };

  return {
    desk: {
      commands: () => autoCommands(contract, own),
      allowed: (contract.autoAllow ?? []).map(({ command }) => command),
      register: (request) => {
        const result = register(contract, own, request);
        if (result.kind === 'accepted' && result.isNew) own.push(result.command);
        return result;
      },
      observe,
    },
    observed: () => ({ outputs: [...outputs], trees: [...trees.values()] }),
  };
}
