// A core without store, verifier or threads, behind the same types as the real one: hosts are tested with it for what they do themselves.
// A run counts its potential down by one at every second transition; the name of the task's folder scripts it:
// `no-verdict` never starts, `slow` takes 20 ms an attempt, `missing` is no task, anything else runs at once.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Core } from '#electron/core/core.ts';
import type { RunnerProcess } from '#electron/host/engine.ts';
import type { TaskInfo } from '#shared/contract/task.ts';
import { RpcError } from '#shared/contract/errors.ts';
import type { RunDetail, RunSummary, TransitionRow } from '#shared/contract/run.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import type { Amounts } from '#shared/domain/budget.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import type { Contract } from '#shared/contract/contract.ts';
import { noOutcomes } from '#shared/domain/transition.ts';
import { fakeReplay } from './fake-replay.ts';
import { fakeSelections } from './fake-selections.ts';
import { createPortPair } from '#shared/rpc/port.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { contractBodyOf, budgetOf, obligationOf } from './contract.ts';

/** A runner that answers nothing and never ends. */
export const fakeRunner = (): Promise<RunnerProcess> => Promise.resolve({ port: createPortPair()[0], exited: new Promise(() => {}) });

const amounts = (attempts: number): Amounts => ({ ...noAmounts(), attempts, rounds: attempts, verifierRuns: attempts });

type FakeRun = { detail: RunDetail; rows: TransitionRow[]; stop: AbortController; changed: Set<() => void> };

/** `startPotential` = attempts to zero rank times one half. `blobs` are the stored objects. `beforeAttempt` is waited for. */
export function createFakeCore({
  dataDir = '/fake',
  startPotential = 5,
  blobs = new Map<string, Uint8Array>(),
  lost = new Promise<void>(() => {}),
  beforeAttempt = (_run: RunDetail, _n: number): Promise<void> => Promise.resolve(),
} = {}): Core & {
  journalLength(): number;
} {
  const runs = new Map<string, FakeRun>();
  const journal: { journal: number; run: string; type: string }[] = [];
  const journalListeners = new Set<() => void>();
  let number = 0;

  const note = (run: FakeRun, type: string) => {
    journal.push({ journal: journal.length + 1, run: run.detail.id, type });
    for (const tell of [...run.changed, ...journalListeners]) tell();
  };
  const find = (id: string): FakeRun => {
    const run = runs.get(id);
    if (!run) throw new RpcError('not_found', `no run is called ${id}`);
    return run;
  };
  const summary = ({ detail: { header: _h, headerSha: _s, contractBody: _c, memoryEntries: _m, ...rest } }: FakeRun): RunSummary =>
    structuredClone(rest);
  const changed = (listeners: Set<() => void>, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const done = () => {
        listeners.delete(done);
        resolve();
      };
      listeners.add(done);
      signal.addEventListener('abort', done, { once: true });
    });

  const loop = async (run: FakeRun, pauseMs: number) => {
    const { detail } = run;
    while (!detail.stop) {
      await delay(pauseMs);
      await beforeAttempt(detail, run.rows.length + 1);
      if (run.stop.signal.aborted) detail.stop = 'user';
      else {
        const n = run.rows.length + 1;
        const commit = n % 2 === 0 && detail.head !== null;
        const base = detail.head;
        if (!base) return;
        const id = sha256Text(`${detail.id} ${n}`);
        run.rows.push({
          n,
          round: n,
          slot: 0,
          outcome: commit ? 'commit' : 'tie',
          base: base.id,
          baseSeq: base.seq,
          tree: sha256Text(`tree ${n}`),
          rank: [commit ? base.potential - 1 : base.potential],
          verdictSource: 'fresh',
          verdictKind: 'ranked',
          code: null,
          bundle: commit ? id : null,
          bundleSeq: commit ? base.seq + 1 : null,
          duplicateOf: null,
          cost: { charged: amounts(1), overshoot: amounts(0) },
        });
        detail.transitions = n;
        detail.rounds = n;
        detail.counts[commit ? 'commit' : 'tie']++;
        detail.budget.used = amounts(n);
        if (commit) detail.head = { id, seq: base.seq + 1, era: 0, potential: base.potential - 1, rank: [base.potential - 1] };
        else detail.memoryEntries++;
        if (detail.head?.potential === 0) detail.stop = 'zero_rank';
        else if (n === detail.budget.max.attempts) detail.stop = 'budget';
      }
      if (detail.stop) detail.status = 'stopped';
      note(run, detail.stop ? 'stop' : 'round');
    }
  };

  const handlers: Handlers<Contract> = {
    ...fakeReplay,
    ...fakeSelections((run) => find(run).detail),
    'app.info': () => ({
      version: '0.0.0',
      dataDir,
      node: process.versions.node,
      sqlite: 'none',
      sandbox: { available: false, backend: null, experimental: false, lacks: [], message: 'a fake' },
      samples: [],
    }),
    async *'app.journal'({ after }, { signal }) {
      for (let at = after; !signal.aborted;) {
        for (; at < journal.length; at++) {
          const item = journal[at];
          if (item) yield item;
        }
        await changed(journalListeners, signal);
      }
    },
    'settings.get': () => ({ theme: 'system', language: 'system' }),
    'settings.set': (input) => ({ theme: input.theme ?? 'system', language: input.language ?? 'system' }),
    'task.inspect': ({ path: folder }) => {
      throw new RpcError('bad_input', `${folder} is not a task`, { file: path.join(folder, 'task.toml') });
    },
    'task.document': ({ path: folder }) => ({
      task: fakeTaskInfo(folder),
      toml: 'version = 1\n',
      instruction: 'Do it.\n',
      artifact: [{ path: 'a.json', mode: 'file', sha: sha256Text('a'), size: 1, writable: true }],
    }),
    'task.preflight': ({ path: folder, runs: asked, quarantine = [] }) => {
      const name = path.basename(folder);
      const stable = name !== 'unstable' || quarantine.includes('clashes');
      const count = asked ?? 2;
      const values = Array.from({ length: count }, (_, i) => (stable ? startPotential : startPotential + i));
      const rank = [Math.max(...values)];
      return {
        task: fakeTaskInfo(folder),
        runs: count,
        stable,
        verdict: { kind: 'ranked', rank, runs: [], stable, advisory: {}, details: {} },
        genesis: stable ? { rank, potential: startPotential } : null,
        obligations: [{ key: 'clashes', title: 'Clashes', aggregate: 'worst', values, stable }],
        advisory: [],
        verifier: { executions: count, medianMs: 1.4, p95Ms: 2 },
        forecast: { attempts: 100, dimension: 'attempts', few: false },
      };
    },
    'run.list': ({ limit }) => ({ runs: [...runs.values()].reverse().slice(0, limit).map(summary), more: runs.size > limit }),
    'run.get': ({ run }) => structuredClone(find(run).detail),
    'run.resolve': ({ prefix }) => {
      const found = [...runs.keys()].filter((id) => id.startsWith(prefix) || id.startsWith(`run_${prefix}`));
      if (prefix.replace(/^run_/, '').length < 8)
        throw new RpcError('bad_input', `${prefix} is shorter than 8 characters`, { field: 'prefix' });
      const [run] = found;
      if (run === undefined || found.length > 1) throw new RpcError('not_found', `${found.length} runs begin with ${prefix}`);
      return { run };
    },
    async *'run.watch'({ run: id }, { signal }) {
      const run = find(id);
      for (;;) {
        yield summary(run);
        if (run.detail.stop !== null || run.detail.status !== 'running' || signal.aborted) return;
        await changed(run.changed, signal);
      }
    },
    'run.header': () => {
      throw new RpcError('unavailable', 'the fake has no headers before a start');
    },
    'run.start': (input) => {
      if (input.task === undefined) throw new RpcError('bad_input', 'this fake has nothing to branch from', { field: 'from' });
      const name = path.basename(input.task);
      const file = path.join(input.task, 'task.toml');
      if (name === 'missing') throw new RpcError('bad_input', `${file} does not exist`, { file });
      const id = `run_0000000${number++}-0000-7000-8000-000000000000`;
      const started = name !== 'no-verdict';
      const at = new Date().toISOString();
      const genesis = sha256Text(`${id} genesis`);
      const max = budgetOf(input.attempts ?? 100);
      const contract = sha256Text('contract');
      const counts = noOutcomes();
      const detail: RunDetail = {
        id,
        task: { id: name, title: `Task ${name}` },
        contract,
        proposer: input.proposer,
        slots: input.slots,
        seed: input.seed,
        status: started ? 'running' : 'not_started',
        stop: null,
        note: started ? null : 'the seed has no verdict: crash',
        startedAt: at,
        updatedAt: at,
        transitions: 0,
        rounds: 0,
        counts,
        genesis: started ? { id: genesis, potential: startPotential } : null,
        head: started ? { id: genesis, seq: 0, era: 0, potential: startPotential, rank: [startPotential] } : null,
        budget: { max, used: amounts(0), overshoot: amounts(0) },
        parent: null,
        header: {
          format: 'pawl.header/1',
          contract,
          seedTree: sha256Text('seed'),
          proposer: { kind: input.proposer, version: 1, options: {} },
          slots: input.slots,
          seed: input.seed,
          budget: max,
          verifierDeadAfter: 5,
          parent: null,
          verifierProgram: null,
        },
        headerSha: sha256Text('header'),
        contractBody: fakeContract(name),
        memoryEntries: 0,
      };
      const run: FakeRun = { detail, rows: [], stop: new AbortController(), changed: new Set() };
      runs.set(id, run);
      if (started) void loop(run, name === 'slow' ? 20 : 0);
      return { run: id, status: detail.status, note: detail.note };
    },
    'run.stop': async ({ run: id }, { signal }) => {
      const run = find(id);
      if (run.detail.status !== 'running') throw new RpcError('conflict', `${id} is not live`);
      run.stop.abort();
      while (run.detail.stop === null && !signal.aborted) await changed(run.changed, signal);
      return { stop: run.detail.stop ?? 'user' };
    },
    'run.propose': () => {
      throw new RpcError('unavailable', 'nobody proposes by hand here');
    },
    'run.resume': ({ run: id }) => {
      const run = find(id);
      if (run.detail.stop !== 'user') throw new RpcError('conflict', `${id} cannot go on: ${run.detail.stop ?? 'it is live'}`);
      run.detail.stop = null;
      run.detail.status = 'running';
      run.stop = new AbortController();
      void loop(run, 0);
      return { run: id };
    },
    async *'run.transitions'({ run, after }) {
      yield* find(run).rows.slice(after);
    },
    'run.page': ({ run, after, limit }) => find(run).rows.slice(after, after + limit),
    'run.transition': ({ n }) => {
      throw new RpcError('not_found', `the fake keeps no bodies (transition ${n})`);
    },
    'run.columns': () => {
      throw new RpcError('not_found', 'the fake keeps no columns');
    },
    'run.chain': ({ run: id }) => {
      const run = find(id);
      const commits = run.rows.filter((row) => row.bundle !== null);
      return {
        count: commits.length + 1,
        m: 1,
        ids: [sha256Text(`${id} genesis`), ...commits.flatMap((row) => row.bundle ?? [])],
        transition: Int32Array.from([-1, ...commits.map((row) => row.n)]),
        ranks: Int32Array.from([startPotential, ...commits.map((row) => row.rank?.[0] ?? -1)]),
      };
    },
    'run.bundle': ({ seq }) => {
      throw new RpcError('not_found', `the fake keeps no bundles (${seq})`);
    },
  };

  return {
    handlers,
    blob: (sha) => Promise.resolve(blobs.get(sha) ?? null),
    journal: () => Promise.resolve(journal.length),
    journalLength: () => journal.length,
    liveRuns: () => [...runs.values()].filter((run) => run.detail.status === 'running').length,
    lost,
    close: () => {
      for (const run of runs.values()) if (run.detail.status === 'running') run.detail.stop = 'user';
      return Promise.resolve();
    },
  };
}

/** A task of Pawl's own, or one that was adapted where its folder is called `foreign`. */
function fakeTaskInfo(folder: string): TaskInfo {
  const name = path.basename(folder);
  const foreign = name === 'foreign';
  return {
    path: folder,
    format: foreign ? 'harbor' : 'pawl',
    notes: foreign ? [{ code: 'network', file: 'task.toml', field: 'environment.allow_internet', message: 'is true\u001b[2J' }] : [],
    id: name,
    title: `Task ${name}`,
    contractSha: sha256Text('contract'),
    contract: fakeContract(name),
    seedTree: sha256Text('seed'),
    seedFiles: 1,
    seedBytes: 1,
    budget: budgetOf(100),
    operators: [],
  };
}

const fakeContract = (name: string): RunDetail['contractBody'] =>
  contractBodyOf([obligationOf('clashes', { title: 'Clashes', cap: 100 })], { name, instruction: sha256Text(name) });
