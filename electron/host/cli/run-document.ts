// One run as `pawl show` and `pawl run` print it: everything that the engine knows, for programs and for people.
import type { Contract } from '#shared/contract/contract.ts';
import type { ChainColumns, RunDetail, RunSummary, TransitionRow } from '#shared/contract/run.ts';
import { budgetDimensions, type BudgetDimension } from '#shared/domain/budget.ts';
import type { NamedSelection } from '#shared/domain/selection.ts';
import { outcomes } from '#shared/domain/transition.ts';
import { assertNever } from '#shared/lib/assert.ts';
import type { Client } from '#shared/rpc/client.ts';
import type { CliIo } from './io.ts';
import { crosscheckText, pickedBecause } from './selection-text.ts';
import { table } from './table.ts';
import { candidateText, tamperEvidentOnly } from './where-candidates-run.ts';

export type RunFacts = {
  readonly detail: RunDetail;
  readonly chain: ChainColumns | null;
  readonly transitions: readonly TransitionRow[];
  /** The choices among several runs that this one took part in. */
  readonly selections: readonly NamedSelection[];
};

/** Reads a run whole. A run that never started has no chain. */
export async function readRun(client: Client<Contract>, run: string): Promise<RunFacts> {
  const detail = await client.call('run.get', { run });
  const chain = detail.genesis === null ? null : await client.call('run.chain', { run });
  const transitions: TransitionRow[] = [];
  for await (const row of client.stream('run.transitions', { run, after: 0, follow: false }, { window: 512 })) transitions.push(row);
  return { detail, chain, transitions, selections: await client.call('run.selections', { run }) };
}

const rankOf = (chain: ChainColumns, seq: number): number[] => [...chain.ranks.subarray(seq * chain.m, (seq + 1) * chain.m)];
const sum = (rank: readonly number[]): number => rank.reduce((total, value) => total + value, 0);

const budgetOf = ({ budget }: RunSummary): Partial<Record<BudgetDimension, { max: number | null; used: number }>> =>
  Object.fromEntries(budgetDimensions.map((dimension) => [dimension, { max: budget.max[dimension], used: budget.used[dimension] }]));

/** Prints the JSON document: on one line, but the transitions on one line each, and in pieces, so that its size has no bound. */
export async function writeRunJson(io: Pick<CliIo, 'out'>, { detail, chain, transitions, selections }: RunFacts): Promise<void> {
  const head = {
    id: detail.id,
    task: detail.task,
    contract: detail.contract,
    header: detail.header,
    headerSha: detail.headerSha,
    status: detail.status,
    stop: detail.stop,
    note: detail.note,
    startedAt: detail.startedAt,
    updatedAt: detail.updatedAt,
    head: detail.head,
    genesis: detail.genesis === null || chain === null ? null : { ...detail.genesis, rank: rankOf(chain, 0) },
    counts: detail.counts,
    budget: budgetOf(detail),
    overshoot: detail.budget.overshoot,
    memoryEntries: detail.memoryEntries,
    selections: selections.map(({ sha, selection }) => ({ sha, ...selection })),
    obligations: detail.contractBody.obligations.map(({ key, title }) => ({ key, title })),
    tamperEvidentOnly: tamperEvidentOnly(detail),
    bundles:
      chain === null
        ? []
        : chain.ids.map((id, seq) => {
            const rank = rankOf(chain, seq);
            const n = chain.transition[seq] ?? -1;
            return { seq, id, transition: n < 0 ? null : n, rank, potential: sum(rank) };
          }),
  };
  await io.out(`${JSON.stringify(head).slice(0, -1)},"transitions":[`);
  const piece = 500;
  for (let from = 0; from < transitions.length; from += piece) {
    const rows = transitions.slice(from, from + piece).map((row) => `\n${JSON.stringify(row)}`);
    await io.out(`${from === 0 ? '' : ','}${rows.join(',')}`);
  }
  await io.out(transitions.length === 0 ? ']}\n' : '\n]}\n');
}

/** What a run came to, in words. */
export function ending(run: RunSummary): string {
  const note = run.note === null ? '' : `: ${run.note}`;
  switch (run.status) {
    case 'running':
      return 'running';
    case 'interrupted':
      return `interrupted${note} (go on with: pawl resume ${run.id})`;
    case 'waiting':
      return `waits for your proposal${note} (make one with: pawl propose ${run.id} --tree DIR)`;
    case 'not_started':
      return `not started${note}`;
    case 'stopped':
      return `stopped, ${stopWords[run.stop ?? 'user']}${note}`;
    default:
      return assertNever(run.status, 'status');
  }
}

const stopWords = {
  zero_rank: 'zero rank: every obligation is met',
  budget: 'budget used up',
  user: 'by the user',
  verifier_dead: 'the verifier gave no verdict several times in a row',
  contract_changed: 'the contract changed',
  stalled: 'stalled',
} as const;

/** The summary for people. */
export function summaryText(run: RunDetail): string {
  const counts = outcomes.filter((outcome) => run.counts[outcome] > 0).map((outcome) => `${outcome} ${run.counts[outcome]}`);
  const limits = budgetDimensions.flatMap((dimension) => {
    const max = run.budget.max[dimension];
    return max === null ? [] : [`${dimension} ${run.budget.used[dimension]}/${max}`];
  });
  const candidate = candidateText(run);
  return table([
    ['run', run.id],
    ['task', `${run.task.title} (${run.task.id})`],
    ['state', ending(run)],
    [
      'proposer',
      `${run.proposer}, ${run.slots} slots, seed ${run.seed}${run.proposer === 'command' ? ', not sandboxed, tokens not metered' : ''}`,
    ],
    ...(candidate === null ? [] : [['candidate', candidate]]),
    ['outcomes', counts.length === 0 ? 'none' : counts.join(', ')],
    [
      'potential',
      run.head === null ? 'none' : `${run.genesis?.potential ?? '?'} at genesis, ${run.head.potential} at commit ${run.head.seq}`,
    ],
    [
      'rank',
      run.head === null ? 'none' : run.contractBody.obligations.map(({ key }, i) => `${key} ${run.head?.rank[i] ?? '?'}`).join(', '),
    ],
    ['budget', limits.join(', ')],
  ]);
}

/** The transitions for people, one a line. */
export function transitionsText({ transitions }: RunFacts): string {
  if (transitions.length === 0) return '';
  const rows = transitions.map((row) => [
    row.n,
    row.round,
    // As in the window; documents count from 0.
    row.slot + 1,
    row.outcome,
    `on ${row.baseSeq}`,
    row.rank === null ? (row.code ?? '-') : row.rank.join(' '),
    row.bundleSeq === null ? '' : `-> bundle ${row.bundleSeq}`,
  ]);
  return table([['n', 'round', 'slot', 'outcome', 'base', 'rank', ''], ...rows], new Set([0, 1, 2]));
}

/** The choices among runs that this one took part in, for people; empty without any. */
export function selectionsText({ detail, selections }: RunFacts): string {
  return selections
    .map(({ selection }) => {
      const { runs, order } = selection;
      const first = runs[order[0] ?? -1]?.run;
      const what = first === detail.id ? 'picked' : first === undefined ? 'none picked' : `not picked, but ${first}`;
      return `\n${table([
        ['selection', `of ${runs.length} runs on ${selection.at}: ${what}`],
        ['because', pickedBecause(selection)],
      ])}${crosscheckText(selection)}`;
    })
    .join('');
}
