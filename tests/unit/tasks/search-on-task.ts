// Runs the built-in search on a task in plain Node, by the round rule: what the governor does, without its store and its processes.
import { potential, relate } from '#shared/domain/rank.ts';
import { selectionOrder } from '#shared/domain/select.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { LoadedTask } from '#electron/core/tasks/load-task.ts';
import { proposeBySearch, SearchOperator } from '#electron/proposers/search.ts';
import { checkCandidate } from '#electron/verifiers/candidate.ts';
import type { Rank } from '#shared/domain/verdict.ts';

export type SearchRun = {
  /** Attempts used, a whole number of rounds. */
  readonly attempts: number;
  readonly commits: number;
  readonly potential: number;
  readonly counts: Readonly<Record<string, number>>;
  /** The operators of each commit, with the attempt. */
  readonly path: readonly string[];
  readonly files: readonly TreeFile[];
};

/** `rankOf` is the verifier: null stands for no verdict. Trees that were ranked before are not ranked again, as in a run. */
export async function searchOnTask(
  task: LoadedTask,
  rankOf: (files: readonly TreeFile[]) => Rank | null | Promise<Rank | null>,
  { seed, slots = 4, attempts = task.budget.attempts ?? 0 }: { readonly seed: number; readonly slots?: number; readonly attempts?: number },
): Promise<SearchRun> {
  const operators = task.search.operators.map((name) => SearchOperator.parse(name));
  const counts: Record<string, number> = {};
  const count = (outcome: string): void => void (counts[outcome] = (counts[outcome] ?? 0) + 1);
  const path: string[] = [];
  const ranked = new Map<string, Rank>();
  const ranking = async (tree: string, files: readonly TreeFile[]): Promise<Rank | null> => {
    const rank = ranked.get(tree) ?? (await rankOf(files));
    if (rank !== null) ranked.set(tree, rank);
    return rank;
  };
  const first = await rankOf(task.seedFiles);
  if (first === null) throw new Error('the seed has no verdict');
  type Candidate = { readonly files: readonly TreeFile[]; readonly tree: string; readonly by: string };
  let head: { readonly files: readonly TreeFile[]; readonly tree: string; readonly rank: Rank } = {
    rank: first,
    files: task.seedFiles,
    tree: task.seedTree,
  };
  let draw = 0;
  while (potential(head.rank) > 0 && draw < attempts) {
    const seen = new Set([head.tree]);
    const candidates: Candidate[] = [];
    for (let slot = 0; slot < slots; slot++) {
      const proposal = proposeBySearch({
        seed,
        draw: ++draw,
        baseTree: head.tree,
        files: head.files,
        operators,
        writable: task.contract.artifact.writable,
      });
      if (proposal.kind === 'none') {
        count('invalid/no_candidate');
        continue;
      }
      const changed = new Map(proposal.files.map((file) => [file.path, file]));
      const candidate = head.files.map((file) => changed.get(file.path) ?? file);
      const schema = task.schemaFile?.bytes ?? null;
      const checked = checkCandidate({ contract: task.contract, base: task.seedFiles, candidate, schema });
      if (!checked.ok) {
        count(`invalid/${checked.error.code}`);
        continue;
      }
      const { tree, files } = checked.value;
      if (seen.has(tree)) {
        count('duplicate');
        continue;
      }
      seen.add(tree);
      candidates.push({ files, tree, by: `${draw} ${proposal.edits.map(({ op, at }) => `${op} ${at.join(' to ')}`).join(', then ')}` });
    }
    const { rank: base } = head;
    const ranks = await Promise.all(candidates.map(({ tree, files }) => ranking(tree, files)));
    const better = candidates.flatMap((candidate, i) => {
      const rank = ranks[i] ?? null;
      if (rank === null) {
        count('no_verdict');
        return [];
      }
      const relation = relate(rank, base);
      if (relation === 'dominates') return [{ ...candidate, rank }];
      count(relation);
      return [];
    });
    const [winner, ...others] = selectionOrder(better);
    if (winner === undefined) continue;
    head = winner;
    path.push(`${winner.by}: ${potential(winner.rank)}`);
    count('commit');
    for (const _ of others) count('not_selected');
  }
  return { attempts: draw, commits: path.length, potential: potential(head.rank), counts, path, files: head.files };
}

/** How many different trees one edit of the built-in search reaches from the seed, as far as `draws` attempts find them; at most `enough`. */
export function neighbours(task: LoadedTask, draws: number, enough: number): number {
  const found = new Set<string>();
  const operators = task.search.operators.map((name) => SearchOperator.parse(name));
  for (let draw = 1; draw <= draws && found.size < enough; draw++) {
    const proposal = proposeBySearch({
      seed: 0,
      draw,
      baseTree: task.seedTree,
      files: task.seedFiles,
      operators,
      writable: task.contract.artifact.writable,
    });
    if (proposal.kind !== 'edits' || proposal.edits.length !== 1) continue;
    for (const { path, bytes } of proposal.files) found.add(`${path} ${Buffer.from(bytes).toString('base64')}`);
  }
  return found.size;
}
