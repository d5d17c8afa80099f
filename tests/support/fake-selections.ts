// Choosing among runs as a fake core does it: by the real order, with the head's id for its tree. Runs of a task called `crosscheck` have
// added one test each, and every finalist but the last fails that of the last; those of `crosscheck-slow` are checked until it is cancelled.
import { RpcError } from '#shared/contract/errors.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import type { selectionContract } from '#shared/contract/selection.ts';
import { crosscheckOutcome, type FinalistScore } from '#shared/domain/crosscheck.ts';
import { finalistsOf, orderRollouts } from '#shared/domain/rollouts.ts';
import type { NamedSelection, Selection } from '#shared/domain/selection.ts';
import { ensure } from '#shared/lib/assert.ts';
import { hashJson, sha256Text } from '#shared/lib/hash.ts';
import type { Handlers } from '#shared/rpc/types.ts';

type Made = Extract<Selection['crosscheck'], { kind: 'made' }>;

function fakeCrosscheck(trees: readonly string[], at: readonly number[]): Made {
  const last = trees.length - 1;
  const outcome = crosscheckOutcome(
    trees.map((tree, author) => ({
      tree,
      tests: 1,
      onBase: { kind: 'ranked', rank: [author === last ? 1 : 0] },
      on: trees.map((_, target) => ({ kind: 'ranked', rank: [author === last && target !== last ? 1 : 0] })),
    })),
  );
  return {
    kind: 'made',
    program: null,
    finalists: trees.map((tree, i) => ({
      tree,
      runs: [ensure(at[i], 'a run')],
      tests: [{ path: `tests/${i}.js`, sha: sha256Text(`test ${i}`) }],
      omitted: i === 0 ? 2 : 0,
      ...ensure(outcome.scores[i], 'a score'),
    })),
    leftOut: [],
    cells: [
      {
        author: 0,
        target: null,
        contract: sha256Text('derived'),
        tree: null,
        executions: [],
        result: { kind: 'none', code: 'crash', message: 'the\x1b[2Jprogram\nfailed' },
      },
    ],
    results: outcome.lines.map(({ author, counts, on }) => ({ author, path: `tests/${author}.js`, counts, on: [...on] })),
  };
}

/** `detailOf` finds a run of the fake, or throws. */
export function fakeSelections(detailOf: (run: string) => RunDetail): Handlers<typeof selectionContract> {
  const kept: NamedSelection[] = [];
  return {
    async *'run.select'({ runs, crosscheck }, { signal }) {
      const details = runs.map(detailOf);
      const ends = details.flatMap(({ contract, head }) => (head === null ? [] : [{ contract, rank: head.rank, tree: head.id }]));
      const finalists = finalistsOf(ends);
      const task = details[0]?.task.id;
      if (task === 'crosscheck-slow' && crosscheck) {
        yield { kind: 'progress', done: 1, of: 6 };
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        throw new RpcError('cancelled', 'cancelled');
      }
      const declared = task === 'crosscheck' || task === 'crosscheck-slow';
      const made =
        declared && crosscheck && finalists.length > 1
          ? fakeCrosscheck(
              finalists.map((i) => ends[i]?.tree ?? ''),
              finalists,
            )
          : null;
      if (made !== null) yield { kind: 'progress', done: 1, of: made.finalists.length };
      const scores = made === null ? null : new Map<string, FinalistScore>(made.finalists.map(({ tree, ...score }) => [tree, score]));
      const none = declared
        ? ({ kind: 'none', reason: 'not_asked', message: 'it was not asked for' } as const)
        : ({ kind: 'none', reason: 'not_declared', message: 'the task declares none' } as const);
      const { order, decidedBy } = orderRollouts(ends, scores);
      const selection: Selection = {
        format: 'pawl.selection/1',
        at: '2026-01-02T03:04:05.006Z',
        contract: details[0]?.contract ?? '',
        base: sha256Text('seed'),
        runs: details.map(({ id, seed, stop, head }) => ({
          run: id,
          seed,
          stop,
          end: head === null ? null : { bundle: head.id, seq: head.seq, tree: head.id, potential: head.potential, rank: head.rank },
        })),
        order: [...order],
        decidedBy,
        crosscheck: made ?? none,
      };
      const named = { sha: hashJson(selection), selection };
      kept.push(named);
      await Promise.resolve();
      yield { kind: 'selection', selection: named };
    },
    'run.selections': ({ run }) => {
      detailOf(run);
      return kept.filter(({ selection }) => selection.runs.some((one) => one.run === run));
    },
  };
}
