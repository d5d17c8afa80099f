// An engine for the renderer's tests and for looking at it: the real contract and the real RPC over an in-memory port, invented runs behind it.
import { contract, type Contract } from '#shared/contract/contract.ts';
import { contractHash } from '#shared/contract/contract-hash.ts';
import type { RunStart } from '#shared/contract/run.ts';
import type { AppInfo } from '#shared/contract/app.ts';
import type { DesktopApi } from '#shared/contract/desktop.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { serve } from '#shared/rpc/server.ts';
import { createPortPair, type Port } from '#shared/rpc/port.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import { ensure } from '#shared/lib/assert.ts';
import { createEngine, type Engine } from '#renderer/client/engine.ts';
import { fakeHeader } from './fake-header.ts';
import { createFakeJob, fakeSamples, fakeTask, type FakeJob, type FakeJobOptions } from './fake-job.ts';
import { fakeAudits } from './fake-audit.ts';
import { fakeReplays } from './fake-replays.ts';
import { fakePreflight, refuseUnstable } from './fake-preflight.ts';

export type FakeEngineOptions = {
  /** Runs that are there from the beginning, newest first. */
  readonly runs?: readonly FakeJobOptions[];
  /** Time between two rounds of a live run, in ms. */
  readonly roundMs?: number;
  readonly settings?: { readonly theme?: 'system' | 'light' | 'dark'; readonly language?: 'system' | 'en' | 'ko' };
  readonly desktopKind?: DesktopApi['kind'];
  /** Held back before `run.transition` answers; for looking at stale panes. */
  readonly beforeTransition?: () => Promise<void>;
  /** Held back before each item of a decision replay, and before a bundle is measured again. */
  readonly beforeReplay?: () => Promise<void>;
  readonly beforeVerify?: () => Promise<void>;
  /** Held back before a proposal of a person is decided. */
  readonly beforePropose?: () => Promise<void>;
  readonly sandbox?: AppInfo['sandbox'];
  /** Fails `run.list` while it returns true. */
  readonly listFails?: () => boolean;
};

export type FakeEngine = {
  readonly engine: Engine;
  /** Bytes of a stored file, as `/blob/<sha>` would answer. */
  blob(sha: string): Uint8Array<ArrayBuffer> | null;
  readonly jobs: readonly FakeJob[];
  /** Publishes the next round of a live run. Returns false when it has ended. */
  advance(run: string): boolean;
  /** Breaks the connection; with `refuse`, new ones fail too until `revive`. */
  crash(reason: string, refuse: boolean): void;
  revive(): void;
  /** Names of all calls so far. */
  readonly calls: readonly string[];
  /** What the runs that were started here were given. */
  readonly starts: readonly RunStart[];
};

const defaultRoundMs = 400;

export function createFakeEngine(options: FakeEngineOptions = {}): FakeEngine {
  const settings = { theme: options.settings?.theme ?? 'system', language: options.settings?.language ?? 'en' };
  const wakes = new Set<() => void>();
  const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  const journal: { run: string; type: string }[] = [];
  const calls: string[] = [];
  const starts: RunStart[] = [];
  const given = options.runs ?? [];
  const made = new Map<number, FakeJob>();
  // A parent is made before its branches, wherever it stands in the list.
  const make = (i: number): FakeJob => {
    const known = made.get(i);
    if (known) return known;
    const run = ensure(given[i], `run ${i} of the fake engine`);
    const job = createFakeJob(
      run,
      given.length - i,
      blobs,
      run.parent === undefined ? null : make(run.parent.run).originAt(run.parent.seq),
    );
    made.set(i, job);
    return job;
  };
  let jobs = given.map((_, i) => make(i));
  let port: Port | null = null;
  let dead = false;
  let onStopped: (reason: string) => void = () => {};

  const wake = () => {
    for (const listener of Array.from(wakes)) listener();
  };
  const changed = (job: FakeJob, type: string) => {
    journal.push({ run: job.id, type });
    wake();
  };
  const next = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = () => {
        wakes.delete(done);
        resolve();
      };
      wakes.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  const jobOf = (run: string): FakeJob => {
    const job = jobs.find((j) => j.id === run);
    if (!job) throw new RpcError('not_found', `no run is called ${run}; it may have been in another data folder`);
    return job;
  };
  const advance = (run: string): boolean => {
    const job = jobOf(run);
    const alive = job.advance();
    changed(job, alive ? 'decision' : 'stop');
    return alive;
  };
  const drive = (job: FakeJob) => {
    if (options.roundMs === 0) return;
    const timer = setInterval(() => {
      if (!job.live || !advance(job.id)) clearInterval(timer);
    }, options.roundMs ?? defaultRoundMs);
  };

  const handlers: Handlers<Contract> = {
    ...fakeReplays({ jobs: () => jobs, beforeReplay: options.beforeReplay, beforeVerify: options.beforeVerify }),
    ...fakeAudits({ jobs: () => jobs, beforeReplay: options.beforeReplay }),
    'app.info': () => ({
      version: '0.1.0',
      dataDir: '/home/ada/.local/share/pawl',
      node: '24.21.0',
      sqlite: '3.51.0',
      sandbox: options.sandbox ?? {
        available: true,
        backend: 'bubblewrap',
        experimental: false,
        lacks: [],
        message: 'bubblewrap 0.11 with user namespaces',
      },
      samples: fakeSamples.map((sample) => ({ ...sample })),
    }),
    async *'app.journal'({ after }, { signal }) {
      for (let at = after; !signal.aborted;) {
        const item = journal[at];
        if (item) yield { journal: ++at, ...item };
        else await next(signal);
      }
    },
    'settings.get': () => settings,
    'settings.set': (change) => Object.assign(settings, change),
    'task.inspect': ({ path }) => fakeTask(path),
    'task.document': ({ path }) => ({ task: fakeTask(path), toml: '', instruction: '', artifact: [] }),
    'task.preflight': (input) => fakePreflight(input),
    'run.select': () => {
      throw new RpcError('unavailable', 'this fake chooses among no runs');
    },
    'server.doctor': () => {
      throw new RpcError('unavailable', 'this fake knows no model server');
    },
    'run.selections': ({ run }) => {
      jobOf(run);
      return [];
    },
    'run.list': ({ before, limit, task }) => {
      if (options.listFails?.()) throw new RpcError('unavailable', 'the data folder cannot be read: the disk is full', { file: 'pawl.db' });
      const listed = jobs.filter((job) => task === undefined || job.summary().task.id === task);
      const from = before === undefined ? 0 : listed.findIndex((job) => job.id === before) + 1;
      return { runs: listed.slice(from, from + limit).map((job) => job.summary()), more: from + limit < listed.length };
    },
    'run.get': ({ run }) => jobOf(run).detail(),
    'run.resolve': ({ prefix }) => {
      const found = jobs.filter((job) => job.id.startsWith(prefix) || job.id.startsWith(`run_${prefix}`));
      if (found.length !== 1 || !found[0]) throw new RpcError('not_found', `${found.length} runs begin with ${prefix}`);
      return { run: found[0].id };
    },
    async *'run.watch'({ run }, { signal }) {
      const job = jobOf(run);
      while (!signal.aborted) {
        yield job.summary();
        if (!job.live) return;
        await next(signal);
      }
    },
    'run.header': (input) => fakeHeader(input),
    'run.start': (input) => {
      const { task, from, proposer, slots, seed, attempts, unsandboxed, quarantine, median } = input;
      if (task !== undefined) {
        const { sha } = fakeHeader(input);
        if (input.headerSha !== undefined && input.headerSha !== sha)
          throw new RpcError('conflict', 'the run would begin with another header than the one that was shown', { field: 'headerSha' });
      }
      const parent = from === undefined ? null : jobOf(from.run);
      const origin = parent === null || from === undefined ? null : parent.originAt(from.seq);
      const info = parent ? { ...parent.summary().task, budget: parent.detail().header.budget } : fakeTask(task ?? '');
      if (task !== undefined) refuseUnstable(task, { quarantine, median });
      const job = createFakeJob(
        {
          slots,
          seed,
          count: attempts ?? info.budget.attempts ?? 120,
          shown: 0,
          proposer,
          status: proposer === 'human' ? 'waiting' : 'running',
          task: { id: info.id, title: info.title },
          ...(parent?.options.verifier ? { verifier: parent.options.verifier } : {}),
          ...(unsandboxed === true ? { unsandboxed } : {}),
        },
        jobs.length + 1,
        blobs,
        origin,
      );
      jobs = [job, ...jobs];
      starts.push(input);
      changed(job, 'genesis');
      drive(job);
      return { run: job.id, status: job.summary().status, note: null };
    },
    'run.stop': ({ run }) => {
      const job = jobOf(run);
      if (!job.live && job.summary().status !== 'waiting') throw new RpcError('conflict', 'the run is not live');
      job.stop('user');
      changed(job, 'stop');
      return { stop: 'user' };
    },
    'run.propose': async ({ run, base, files }) => {
      await options.beforePropose?.();
      const job = jobOf(run);
      const made = job.propose(base, files);
      changed(job, 'decision');
      return made;
    },
    'run.resume': ({ run }) => {
      const job = jobOf(run);
      job.resume();
      changed(job, 'resume');
      drive(job);
      return { run };
    },
    async *'run.transitions'({ run, after, follow }, { signal }) {
      const job = jobOf(run);
      for (let n = after + 1; !signal.aborted;) {
        const row = job.row(n);
        if (row) {
          yield row;
          n++;
        } else if (follow && job.live) await next(signal);
        else return;
      }
    },
    'run.page': ({ run, after, limit }) =>
      Array.from({ length: limit }, (_, i) => jobOf(run).row(after + 1 + i)).filter((row) => row !== undefined),
    'run.transition': async ({ run, n }) => {
      await options.beforeTransition?.();
      return jobOf(run).transition(n);
    },
    'run.columns': ({ run, from, to, resolution }) => {
      if (resolution !== 1) throw new RpcError('bad_input', 'the fake engine answers resolution 1 only');
      return jobOf(run).columns(from, to);
    },
    'run.chain': ({ run }) => jobOf(run).chain(),
    'run.bundle': ({ run, seq }) => jobOf(run).bundle(seq),
  };

  const open = (): Promise<Port> => {
    if (dead) return Promise.reject(new RpcError('unavailable', 'the engine does not answer'));
    const [near, far] = createPortPair();
    const watched: Port = {
      send: (frame) => far.send(frame),
      listen: (onFrame, onClose) =>
        far.listen((frame) => {
          if (typeof frame === 'object' && frame !== null && 'name' in frame) calls.push(String(frame.name));
          onFrame(frame);
        }, onClose),
      close: () => far.close(),
    };
    serve(contract, handlers, watched, { hello: { contract: contractHash(contract), version: '0.1.0', journal: journal.length } });
    port = far;
    return Promise.resolve(near);
  };
  const desktop: DesktopApi = {
    kind: options.desktopKind ?? 'electron',
    platform: 'linux',
    connectEngine: () => {},
    warnBeforeClose: () => {},
    pickFolder: () => Promise.resolve('/home/ada/tasks/repair-intervals'),
    onEngineStopped: (callback) => {
      onStopped = callback;
      return () => {};
    },
    restartEngine: () => {
      dead = false;
      return Promise.resolve();
    },
  };
  for (const job of jobs) if (job.live) drive(job);

  return {
    engine: createEngine(open, desktop),
    blob: (sha) => blobs.get(sha) ?? null,
    get jobs() {
      return jobs;
    },
    advance,
    crash(reason, refuse) {
      dead = refuse;
      port?.close();
      onStopped(reason);
    },
    revive() {
      dead = false;
    },
    calls,
    starts,
  };
}
