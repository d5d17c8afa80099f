// What `task.preflight` would find: a stable seed, or one obligation that changes in a folder with "flaky" in its name.
import type { RevisionChoices, TaskPreflight, TaskPreflightInput } from '#shared/contract/preflight.ts';
import { aggregateRuns, unstableObligations } from '#shared/domain/aggregate.ts';
import { unstableText } from '#shared/domain/revise.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { potential } from '#shared/domain/rank.ts';
import { fakeTask } from './fake-job.ts';

/** Refuses like `run.start` where the seed of the folder is not stable under the choices. */
export function refuseUnstable(path: string, choices: RevisionChoices): void {
  const { obligations, runs } = fakePreflight({ path, ...choices });
  const unstable = obligations.flatMap(({ key, title, values, stable }) => (stable ? [] : [{ key, title, values }]));
  const [first] = unstable;
  if (first === undefined) return;
  throw new RpcError('unstable', `the run was not started: ${runs} measurements of the same seed disagree:\n${unstableText(unstable)}`, {
    field: first.key,
  });
}

export function fakePreflight({ path, runs = 5, quarantine = [], median = [] }: TaskPreflightInput): TaskPreflight {
  const info = fakeTask(path);
  const all = info.contract.obligations.map((o, i) => ({
    ...o,
    at: i,
    aggregate: median.includes(o.key) ? ('median' as const) : o.aggregate,
  }));
  const obligations = all.filter(({ key }) => !quarantine.includes(key));
  const value = (i: number, run: number) => 3 + i + (path.includes('flaky') && i === 0 && run % 3 === 1 ? 1 : 0);
  const ranks = Array.from({ length: runs }, (_, run) => obligations.map(({ at }) => value(at, run)));
  const rank = aggregateRuns(obligations, ranks);
  const moved = new Set(unstableObligations(obligations, ranks).map(({ key }) => key));
  const stable = moved.size === 0;
  return {
    task: info,
    runs,
    stable,
    verdict: { kind: 'ranked', rank, runs: [], stable, advisory: {}, details: {} },
    genesis: stable ? { rank, potential: potential(rank) } : null,
    obligations: obligations.map(({ key, title, aggregate }, i) => ({
      key,
      title,
      aggregate,
      values: ranks.map((r) => r[i] ?? 0),
      stable: !moved.has(key),
    })),
    advisory: all
      .filter(({ key }) => quarantine.includes(key))
      .map(({ key, at }) => ({ key, values: ranks.map((_, run) => value(at, run)) })),
    verifier: { executions: runs, medianMs: 41, p95Ms: 58 },
    forecast: { attempts: info.budget.attempts ?? 0, dimension: 'attempts', few: false },
  };
}
