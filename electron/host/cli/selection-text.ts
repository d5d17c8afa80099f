// A choice among runs for people: what decided, and every added test on every finalist.
import type { TestResult } from '#shared/domain/crosscheck.ts';
import type { MadeCrosscheck, Selection } from '#shared/domain/selection.ts';
import { plain } from './io.ts';
import { table } from './table.ts';

const decidedWords = {
  only: 'it is the only one that certified something',
  potential: 'its potential is the smallest',
  rank: 'of equal potentials, its rank comes first in the order of the obligations',
  crosscheck: 'of equal ranks, the cross-check puts it first',
  tree: 'of equal ranks, the hash of its tree comes first',
  order: 'the best runs ended at the same tree, it is the first of them',
} as const satisfies Record<NonNullable<Selection['decidedBy']>, string>;

const resultWords = {
  fails_on_base_passes_now: 'fails on base, passes now',
  never_failed: 'never failed',
  fails: 'fails',
  error: 'error',
} as const satisfies Record<TestResult, string>;

/** Why the first was picked, in a sentence without its end. */
export const pickedBecause = ({ decidedBy }: Selection): string =>
  decidedBy === null ? 'no run certified anything' : decidedWords[decidedBy];

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** The cross-check of a selection, or why there is none. */
export function crosscheckText({ runs, crosscheck }: Selection): string {
  if (crosscheck.kind === 'none') return `no cross-check: ${plain(crosscheck.message)}\n`;
  const { finalists, results, leftOut } = crosscheck;
  const label = (i: number): string => `seed ${(finalists[i]?.runs ?? []).map((at) => runs[at]?.seed ?? '?').join(', ')}`;
  const named = finalists.map((_, i) => label(i));
  const lines = results.map(({ author, path, counts, on }) => [
    path,
    label(author),
    counts ? 'yes' : 'no',
    ...on.map((result) => resultWords[result]),
  ]);
  const sums = finalists.map(({ failedTests, ofTests }) => `${failedTests} of ${ofTests}`);
  const omitted = finalists.flatMap(({ omitted: n }, i) => (n === 0 ? [] : [`${count(n, 'more test')} of ${label(i)} not run`]));
  return [
    `cross-check: ${count(results.length, 'added test')} of ${count(finalists.length, 'finalist')}, each on every finalist's tree and on the base\n`,
    table([['test', 'added by', 'counts', ...named], ...lines, ['not passed, of the others', '', '', ...sums]]),
    ...omitted.map((line) => `${line}\n`),
    leftOut.length === 0 ? '' : `${count(leftOut.length, 'further finalist')} not checked: there are too many\n`,
    ...errorsOf(crosscheck, label),
  ].join('');
}

function errorsOf({ cells }: MadeCrosscheck, label: (i: number) => string): string[] {
  return cells.flatMap(({ author, target, result }) => {
    if (result.kind === 'ranked') return [];
    const where = target === null ? 'the base' : label(target);
    return [`error: the tests of ${label(author)} on ${where}: ${result.code}: ${plain(result.message).replaceAll('\n', ' ')}\n`];
  });
}
