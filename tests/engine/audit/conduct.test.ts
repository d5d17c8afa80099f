// Rules that an untouched run can break: what its proposer did, and what the selection did. Every record is what its sources give.
import { describe, expect, test } from 'vitest';
import type { AuditReport } from '#shared/contract/audit.ts';
import type { Proposer } from '#electron/proposers/proposer.ts';
import { bytesOf, filesOf, treeOf } from '../../support/engine/builders.ts';
import { createStoredRun, type StoredRunOptions } from '../../support/engine/stored-run.ts';
import { storeHere } from '../../support/engine/in-test.ts';
import { seedFiles } from '../../support/engine/scripted-run.ts';
import { replay } from '../replay/support.ts';
import { auditOf, createEditingProposer, ruleIn, rulesWith } from './support.ts';

/** Runs to the end, and audits what the replay of decisions has nothing against. */
async function audited(options: Omit<StoredRunOptions, 'contract' | 'seed' | 'script'> & Partial<StoredRunOptions>): Promise<AuditReport> {
  const { store } = await storeHere();
  const stored = await createStoredRun(store, {
    contract: { caps: [9, 9] },
    seed: { rank: [5, 5] },
    script: () => 'base',
    header: { slots: 2, budget: { attempts: 4 } },
    ...options,
  });
  if ((await store.getSummary(stored.run))?.status !== 'not_started') await stored.go(store);
  expect((await replay(store, stored.run, stored.proposer)).mismatches).toEqual([]);
  return auditOf(store, stored.run, stored.proposer);
}

const down = ({ draw, slot }: { readonly draw: number; readonly slot: number }) => ({
  state: { rank: [5, Math.max(1, 5 - draw)], salt: slot },
});

test('1: a request that names another state than the head of its round', async () => {
  const editing = createEditingProposer(down);
  const proposer: Proposer = {
    ...editing,
    propose: async (context, signal) => {
      const result = await editing.propose(context, signal);
      return context.draw === 3 ? { ...result, request: bytesOf(JSON.stringify({ base: '0'.repeat(64) })) } : result;
    },
  };
  const report = await audited({ proposer });
  expect(rulesWith(report, 'violated')).toEqual([1]);
  expect(ruleIn(report, 1)).toMatchObject({
    because: { code: 'request_other', requests: 1 },
    records: [{ kind: 'request', from: 3, to: 3, note: expect.stringMatching(/^base: it names 0{64}, pinned is [0-9a-f]{64}$/) }],
  });
});

test('1: requests that name nothing are not checkable', async () => {
  const editing = createEditingProposer(down);
  const propose: Proposer['propose'] = async (context, signal) => ({
    ...(await editing.propose(context, signal)),
    request: bytesOf('do something'),
  });
  const report = await audited({ proposer: { ...editing, propose } });
  expect(rulesWith(report, 'violated')).toEqual([]);
  expect(ruleIn(report, 1)).toMatchObject({ status: 'not_checkable', because: { code: 'request_unnamed', requests: 4 } });
});

test('3: an edit that quotes what the base does not have was written without reading it', async () => {
  const report = await audited({ proposer: createEditingProposer((context) => (context.draw === 2 ? 'misquote' : down(context))) });
  expect(rulesWith(report, 'violated')).toEqual([3]);
  expect(ruleIn(report, 3)).toMatchObject({
    because: { code: 'edits_unread', responses: 1 },
    records: [{ kind: 'response', from: 2, note: 'edit 1 (json-replace in state.json) does not apply: the base has other bytes there' }],
  });
});

describe('4: two candidates of one rank', () => {
  const files = (more: Readonly<Record<string, string>>) => ({
    'state.json': JSON.stringify({ rank: [4, 5] }),
    ...more,
  });
  const tree = (more: Readonly<Record<string, string>>): string =>
    treeOf([...seedFiles({ rank: [5, 5] }).filter(({ path }) => path !== 'state.json'), ...filesOf(files(more))]);
  const short = { 'a.txt': 'one line\n' };
  const long = (i: number) => ({ 'a.txt': `${i}\n2\n3\n4\n5\n` });
  /** A long candidate whose tree comes before or after that of the short one: that is what equal ranks are settled by. */
  const longOn = (side: 'before' | 'after') => {
    for (let i = 0; ; i++) if (tree(long(i)) < tree(short) === (side === 'before')) return long(i);
  };

  test.each([
    ['the larger one is committed', 'before', 'violated'],
    ['the smaller one is committed', 'after', 'held'],
  ] as const)('%s', async (_what, side, status) => {
    const large = longOn(side);
    const report = await audited({
      script: ({ draw, slot }) => (draw > 2 ? 'garbage' : { files: files(slot === 0 ? short : large) }),
    });
    expect(rulesWith(report, 'violated')).toEqual(status === 'violated' ? [4] : []);
    const { because, records } = ruleIn(report, 4);
    expect(because).toEqual(status === 'violated' ? { code: 'larger_kept', commits: 1 } : { code: 'smallest_kept', rounds: 1, commits: 1 });
    expect(records).toEqual([
      {
        kind: 'transition',
        from: side === 'before' ? 2 : 1,
        to: side === 'before' ? 2 : 1,
        id: null,
        note: expect.stringMatching(/^committed, /),
      },
      {
        kind: 'transition',
        from: side === 'before' ? 1 : 2,
        to: side === 'before' ? 1 : 2,
        id: null,
        note: expect.stringMatching(/^the same rank with /),
      },
    ]);
  });

  test('without two of them there was no occasion', async () => {
    const report = await audited({ script: ({ draw, slot }) => (slot === 1 ? 'garbage' : { state: { rank: [5 - draw, 5] } }) });
    expect(ruleIn(report, 4)).toMatchObject({ status: 'not_checkable', because: { code: 'no_rivals' } });
  });
});

test('5: a commit that leaves nothing of a file', async () => {
  const text = (draw: number) => `${draw} one\n${draw} two\n${draw} three\n`;
  const report = await audited({
    header: { slots: 1, budget: { attempts: 2 } },
    script: ({ draw }) => ({ files: { 'state.json': JSON.stringify({ rank: [5 - draw, 5] }), 'a.txt': text(draw) } }),
  });
  expect(rulesWith(report, 'violated')).toEqual([5]);
  // The first one added the file.
  expect(ruleIn(report, 5)).toMatchObject({
    because: { code: 'rewritten_whole', files: 1 },
    records: [{ kind: 'transition', from: 2, note: 'nothing is left of a.txt' }],
  });
});

describe('what there was no occasion for, and what is not recorded', () => {
  test('a run whose attempts came to nothing', async () => {
    const report = await audited({ script: () => 'silence' });
    expect(rulesWith(report, 'violated')).toEqual([]);
    expect(report.rules.filter(({ status }) => status === 'not_checkable').map(({ rule, because }) => [rule, because.code])).toEqual([
      [2, 'nothing_repeated'],
      [3, 'no_edits'],
      [4, 'no_commits'],
      [5, 'no_commits'],
      [6, 'no_advisory'],
    ]);
  });

  test('a run that was never started', async () => {
    const report = await audited({ seed: { noVerdict: 'crash' } });
    expect(rulesWith(report, 'violated')).toEqual([]);
    expect(report.rules.filter(({ status }) => status === 'not_checkable').map(({ rule, because }) => [rule, because.code])).toEqual([
      [1, 'no_attempts'],
      [2, 'nothing_repeated'],
      [3, 'no_edits'],
      [4, 'no_commits'],
      [5, 'no_commits'],
      [6, 'no_advisory'],
      [8, 'no_attempts'],
      [13, 'nothing_certified'],
    ]);
  });

  test('whole files do not say what was read', async () => {
    const report = await audited({ script: down });
    expect(ruleIn(report, 3)).toMatchObject({ status: 'not_checkable', because: { code: 'reads_not_recorded', whole: 4, others: 0 } });
  });

  test('advisory values that no verdict holds', async () => {
    const report = await audited({ script: () => 'garbage', contract: { caps: [9, 9], advisory: ['style'] } });
    expect(ruleIn(report, 6)).toMatchObject({ status: 'not_checkable', because: { code: 'advisory_unmeasured', keys: 1 } });
  });
});
