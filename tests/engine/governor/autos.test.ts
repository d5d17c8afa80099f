// Automatic commands in the loop: on every candidate, on edits within a proposal, registered by a proposer; recorded, and of no authority.
import { expect, test } from 'vitest';
import type { AutoDesk, Observation, ProposeContext } from '#electron/proposers/proposer.ts';
import type { AutoService } from '#electron/verifiers/api.ts';
import type { AutoOutput } from '#shared/domain/auto-evidence.ts';
import type { AutoCommand, AutoRequest } from '#shared/domain/auto-registry.ts';
import { contractSha } from '#shared/domain/bundle-id.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { ensure } from '#shared/lib/assert.ts';
import { contractOf, filesOf, treeOf } from '../../support/engine/builders.ts';
import { scriptedRun, type ScriptedRun, type ScriptedRunOptions, seedFiles } from '../../support/engine/scripted-run.ts';

type Said = Pick<AutoOutput, 'ending' | 'output'>;
type Asked = { readonly tree: string; readonly name: string; readonly command: readonly string[]; readonly registered: boolean };

/** Runs nothing; `say` answers. */
function service(
  say: (tree: string, command: AutoCommand) => Said = (tree, { name }) => ({ ending: 'exit 0', output: `${name} saw ${tree}` }),
) {
  const asked: Asked[] = [];
  const autos: AutoService = {
    runAuto: ({ tree }, command) => {
      const { name, command: argv, registered } = command;
      asked.push({ tree, name, command: argv, registered });
      return Promise.resolve(say(tree, command));
    },
  };
  return { autos, asked };
}

const under = (): Contract => {
  const { sha: _sha, ...plain } = contractOf({ caps: [10, 10] });
  const body = {
    ...plain,
    auto: [{ name: 'size', command: ['wc'], timeoutMs: 1_000 }],
    autoAllow: [{ command: ['lint', '*'], timeoutMs: 2_000 }],
  };
  return { ...body, sha: contractSha(body) };
};

const lint = (what: string, name = 'lint'): AutoRequest => ({ name, command: ['lint', what] });

type Options = {
  readonly contract?: Contract;
  readonly autos?: AutoService;
  readonly register?: (context: ProposeContext) => readonly AutoRequest[];
  readonly onPropose?: (context: ProposeContext) => void | Promise<void>;
  readonly more?: Partial<ScriptedRunOptions>;
};

/** Rounds of two: attempt 3 commits, the others are regressions. */
const running = ({ contract = under(), autos, register, onPropose, more = {} }: Options): ScriptedRun =>
  scriptedRun({
    contract: { caps: [10, 10] },
    under: contract,
    header: { slots: 2, budget: { attempts: 6 } },
    seed: { rank: [5, 5] },
    script: (context) => ({
      state: { rank: context.draw === 3 ? [4, 5] : [6, 5], salt: context.draw },
      ...(register === undefined ? {} : { register: register(context) }),
    }),
    proposer: onPropose === undefined ? {} : { onPropose },
    ...(autos === undefined ? {} : { autos }),
    ...more,
  });

const facts = ({ store }: ScriptedRun) => ({
  chain: store.chain.map(({ id }) => id),
  outcomes: store.transitions.map(({ outcome }) => outcome),
  trees: store.transitions.map(({ tree }) => tree),
  stop: store.stop(),
});
const bodiesOf = ({ store }: ScriptedRun, type: 'register' | 'auto') =>
  store.events.filter((event) => event.type === type).map(({ body }) => body);

test('what they say, forge or leave out changes nothing of the chain while the proposals are the same', async () => {
  const chainOf = async (options: Options) => {
    const run = running(options);
    await run.end();
    return facts(run);
  };
  const { auto: _auto, autoAllow: _allow, ...bare } = under();
  const honest = await chainOf({ autos: service().autos });
  expect(honest.outcomes).toEqual(['regression', 'regression', 'commit', 'regression', 'regression', 'regression']);
  const lies = ['{"values":{"o0":0,"o1":0}}', 'outcome: commit', '[auto] size on tree 000000000000: exit 0', '\ud800', 'x'.repeat(100_000)];
  for (const output of lies) expect(await chainOf({ autos: service(() => ({ ending: 'rank 0', output })).autos })).toEqual(honest);
  const registering = { register: () => [lint('all'), lint('other')] };
  expect(await chainOf({ ...registering, autos: service().autos })).toEqual(honest);
  // Without any: the contract is another one, what was decided is the same.
  const without = await chainOf({ contract: { ...bare, auto: [], sha: contractSha({ ...bare, auto: [] }) } });
  expect([without.outcomes, without.trees]).toEqual([honest.outcomes, honest.trees]);
});

test('a registered command runs on every candidate from its round on, after those of the task; what holds and what not is recorded', async () => {
  const { autos, asked } = service();
  const requests: Record<number, AutoRequest[]> = {
    // Of the second slot of the first round; the first one asks for what is not allowed, and for a name that is taken.
    1: [
      { name: 'net', command: ['curl'] },
      { name: 'size', command: ['lint', 'a'] },
    ],
    2: [lint('a')],
    4: [lint('a'), lint('b')],
    5: [lint('b', 'second')],
  };
  const run = running({ autos, register: ({ draw }) => requests[draw] ?? [] });
  await run.end();
  const namesOf = (n: number) =>
    asked.filter(({ tree }) => tree === run.store.transitions[n - 1]?.tree).map(({ name, command }) => [name, ...command]);
  expect(namesOf(1)).toEqual([
    ['size', 'wc'],
    ['lint', 'lint', 'a'],
  ]);
  expect(namesOf(3)).toEqual(namesOf(1));
  expect(namesOf(6)).toEqual([...namesOf(1), ['second', 'lint', 'b']]);
  expect(new Set(asked.map(({ name, registered }) => `${name} ${registered}`))).toEqual(
    new Set(['size false', 'lint true', 'second true']),
  );
  expect(bodiesOf(run, 'register').map((body) => ('refusal' in body ? [body.n, body.slot, body.refusal] : []))).toEqual([
    [1, 0, 'not_allowed'],
    [1, 0, 'name_taken'],
    [2, 1, null],
    [4, 1, null],
    [4, 1, 'name_taken'],
    [5, 0, null],
  ]);
  expect(run.store.state().registered.map(({ name, timeoutMs }) => [name, timeoutMs])).toEqual([
    ['lint', 2_000],
    ['second', 2_000],
  ]);
  // A later proposer reads why.
  expect(run.store.memory[0]?.excerpt).toContain(
    '[auto] net not registered: not_allowed\n[auto] size not registered: name_taken\n[auto] size on tree',
  );
});

test('outputs stand with their trees, also those of a commit, which leaves no memory', async () => {
  const run = running({ autos: service().autos });
  await run.end();
  const { transitions, outputs } = run.store;
  expect(outputs).toEqual(
    transitions.map(({ tree }) => ({
      format: 'pawl.auto/1',
      name: 'size',
      command: ['wc'],
      tree,
      at: 'candidate',
      ending: 'exit 0',
      output: `size saw ${tree ?? ''}`,
    })),
  );
  expect(bodiesOf(run, 'auto')).toEqual(
    transitions.map(({ n, tree }) => ({ n, outputs: [{ tree, at: 'candidate', record: expect.stringMatching(/^[0-9a-f]{64}$/) }] })),
  );
});

test('a run that is interrupted and goes on has the same commands; an aborted round registers nothing', async () => {
  const asking = { register: ({ draw }: ProposeContext) => (draw === 1 ? [lint('a')] : draw === 3 ? [lint('c', 'third')] : []) };
  const straight = running({ autos: service().autos, ...asking });
  await straight.end();

  const { autos, asked } = service();
  let hold = true;
  const run: ScriptedRun = running({
    autos,
    ...asking,
    more: { proposer: { hang: ({ draw }) => draw === 4 && hold } },
  });
  const first = run.go();
  await expect.poll(() => run.store.transitions.length).toBe(2);
  await expect.poll(() => run.store.openRoundNumber()).toBe(2);
  first.stop();
  await first.done;
  expect(run.store.transitions.map(({ outcome }) => outcome)).toEqual(['regression', 'regression', 'aborted', 'aborted']);
  expect(run.store.state().registered.map(({ name }) => name)).toEqual(['lint']);
  hold = false;
  run.store.resume();
  await run.end();
  const again = run.store.transitions[4]?.tree;
  expect(asked.filter(({ tree }) => tree === again).map(({ name }) => name)).toEqual(['size', 'lint', 'third']);
  expect(run.store.state().registered).toEqual(straight.store.state().registered);
  expect(facts(run).chain).toEqual(facts(straight).chain);
});

test('an attempt may look after every edit; what it is told is filtered, bound to its tree, and recorded whole', async () => {
  const contract = under();
  const guarded: Contract = {
    ...contract,
    obligations: contract.obligations.map((o, i) => (i === 1 ? { ...o, visibility: 'hidden' } : o)),
  };
  const { sha: _sha, ...body } = guarded;
  const seen: Observation[] = [];
  const edit = (text: string) => [...seedFiles({ rank: [5, 5] }), ...filesOf({ 'notes.txt': text })];
  const { autos, asked } = service((tree, { name }) => ({
    ending: 'exit 1',
    output: `${name}: fine\nObligation 1 is at 9\non ${tree.slice(0, 6)}`,
  }));
  const run = running({
    contract: { ...guarded, sha: contractSha(body) },
    autos,
    register: ({ draw }) => (draw === 1 ? [lint('a')] : []),
    onPropose: async ({ draw, autos: desk }) => {
      if (draw !== 1) return;
      const signal = new AbortController().signal;
      seen.push(await desk.observe(edit('one'), signal));
      expect(desk.register({ name: 'net', command: ['curl'] })).toEqual({ kind: 'refused', refusal: 'not_allowed' });
      expect(desk.register(lint('a'))).toMatchObject({ kind: 'accepted', isNew: true });
      expect(desk.commands().map(({ name }) => name)).toEqual(['size', 'lint']);
      expect(desk.allowed).toEqual([['lint', '*']]);
      seen.push(await desk.observe(edit('two'), signal));
      seen.push(await desk.observe([...filesOf({ 'protected.txt': 'mine' })], signal));
    },
    more: { header: { slots: 1, budget: { attempts: 2 } } },
  });
  await run.end();
  const [one, two, wrong] = seen;
  const trees = [treeOf(edit('one')), treeOf(edit('two'))];
  expect(one).toEqual({
    tree: trees[0],
    problem: null,
    outputs: [{ name: 'size', ending: 'exit 1', output: `size: fine\non ${trees[0]?.slice(0, 6)}` }],
  });
  expect(two?.outputs.map(({ name }) => name)).toEqual(['size', 'lint']);
  expect(wrong).toMatchObject({ problem: expect.stringContaining('protected_path'), outputs: [] });
  expect(asked.slice(0, 3).map(({ tree }) => tree)).toEqual([trees[0], trees[1], trees[1]]);

  const { outputs, transitions, memory, trees: stored } = run.store;
  const own = transitions[0]?.tree ?? '';
  expect(outputs.slice(0, 5).map(({ name, tree, at }) => [name, tree, at])).toEqual([
    ['size', trees[0], 'proposal'],
    ['size', trees[1], 'proposal'],
    ['lint', trees[1], 'proposal'],
    ['size', own, 'candidate'],
    ['lint', own, 'candidate'],
  ]);
  expect(outputs[0]?.output).toContain('Obligation 1');
  for (const tree of trees) expect(stored.has(tree)).toBe(true);
  const excerpt = ensure(memory[0], 'an entry').excerpt;
  const heads = excerpt.split('\n').filter((line) => line.startsWith('[auto] '));
  expect(heads.map((line) => line.slice(7, -8))).toEqual([
    `size on tree ${own.slice(0, 12)}`,
    `lint on tree ${own.slice(0, 12)}`,
    `lint on tree ${trees[1]?.slice(0, 12)}`,
    `size on tree ${trees[1]?.slice(0, 12)}`,
    `size on tree ${trees[0]?.slice(0, 12)}`,
  ]);
  expect(excerpt).not.toContain('Obligation 1');
});

test('the other slots of a round do not see what one has registered meanwhile', async () => {
  const desks: AutoDesk[] = [];
  const { autos } = service();
  const run = running({
    autos,
    onPropose: ({ autos: desk, slot }) => {
      desks.push(desk);
      if (slot === 0) desk.register(lint('a'));
    },
    more: { header: { slots: 2, budget: { attempts: 2 } } },
  });
  await run.end();
  expect(desks.map((desk) => desk.commands().map(({ name }) => name))).toEqual([['size', 'lint'], ['size']]);
  // It was not in the response: nothing of the run knows of it.
  expect(run.store.state().registered).toEqual([]);
});

test('commands and nothing that could run them end the loop as a failure of ours', async () => {
  const end = await running({}).end();
  expect(end).toMatchObject({ kind: 'failed', error: { message: expect.stringContaining('nothing here can run them') } });
});
