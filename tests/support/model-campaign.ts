// The model-based test of semantics.md, section 12: any sequence of commands, with deaths of the engine at any step of any write, leaves the
// real governor over the real store where a small reference model is.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import type { RunLoop } from '#electron/governor/types.ts';
import { openReadable } from '#electron/store/db.ts';
import { StoreError } from '#electron/store/errors.ts';
import type { OpenStore } from '#electron/store/store.ts';
import type { JournalItem } from '#shared/contract/app.ts';
import { ensure } from '#shared/lib/assert.ts';
import { createRandom } from '#shared/lib/random.ts';
import { replay } from '../engine/replay/support.ts';
import { copyAsLeft } from '../store/support/state.ts';
import { openDirectStore } from './engine/direct-store.ts';
import { randomScript } from './engine/random-script.ts';
import { seedFiles } from './engine/scripted-run.ts';
import { storedRun, type StoredRun } from './engine/stored-run.ts';
import { brokenInvariants } from './invariants.ts';
import { bundleOf, createRunModel, type RunModel, type Script } from './run-model.ts';

// Few coordinates of few values: trees come back, within a round, after it and in branches.
const cap = 6;
const caps = [cap, cap];
/** More runs than this, and nothing is started or branched any more. */
const maxRuns = 4;
const at = '2026-01-01T00:00:00.000Z';

/** Every fourth answer crashes its verifier, so that runs of them are met. */
const scriptOf = (seed: number): Script => {
  const script = randomScript(seed, cap);
  return (context) => {
    const random = createRandom(['model', seed, context.draw]);
    return random.int(4) === 0 ? { state: { noVerdict: 'crash', salt: random.int(3) } } : script(context);
  };
};

/** Told to everything that writes after the engine has died. */
class Dead extends Error {
  override readonly name = 'Dead';
}

type Counts = {
  commands: number;
  rounds: number;
  crashes: number;
  aborted: number;
  stops: number;
  resumes: number;
  branches: number;
  refusals: number;
};

type RunPair = { readonly model: RunModel; readonly real: StoredRun };
/** What the model knows of the folder: its runs, and which of them the store must have. */
type Model = { readonly runs: RunPair[] };

const check = (holds: boolean, what: string, ...facts: readonly unknown[]): void => {
  if (!holds) throw new Error(`${what}${facts.map((fact) => `\n${JSON.stringify(fact)}`).join('')}`);
};

/** The engine's side: a data folder that an engine may die over, and another engine finds as it was left. */
class World {
  readonly counts: Counts = { commands: 0, rounds: 0, crashes: 0, aborted: 0, stops: 0, resumes: 0, branches: 0, refusals: 0 };
  readonly #base = mkdtempSync(path.join(tmpdir(), 'pawl-model-'));
  #folders = 0;
  #dir = this.#folder();
  /** Steps until the engine dies; null: it lives. */
  #left: number | null = null;
  #grave: string | null = null;
  #written: JournalItem[] = [];
  store: OpenStore = this.#open();
  /** Stops the loop under way in front of this of its writes; null: nobody does. */
  stopAt: number | null = null;

  #folder(): string {
    return path.join(this.#base, `data-${++this.#folders}`);
  }

  #open(): OpenStore {
    const dir = this.#dir;
    const store = openDirectStore(dir, {
      beforeStep: () => {
        if (this.#grave !== null) throw new Dead('it is dead');
        if (this.#left === null || --this.#left > 0) return;
        this.#grave = this.#folder();
        copyAsLeft(dir, this.#grave);
        throw new Dead('it dies');
      },
    });
    store.onJournal((items) => this.#written.push(...items));
    return store;
  }

  /** What the store has acknowledged since the last call. */
  written(): string[] {
    return this.#written.splice(0).map(({ type }) => type);
  }

  /** Does something to an engine that dies before its `dieAt`th step, if that comes; then the next engine finds what was left. True: it died. */
  async during(dieAt: number | null, act: () => Promise<unknown>): Promise<boolean> {
    this.written();
    this.#left = dieAt;
    try {
      await act();
    } catch (error) {
      if (this.#grave === null) throw error;
    }
    this.#left = null;
    return this.#grave !== null;
  }

  /** The next engine on the folder. `dieAt`: the step of its first recovery before which it dies itself. */
  async restart(dieAt: number | null): Promise<void> {
    for (const at of [dieAt, null]) {
      await this.store.close();
      if (this.#grave !== null) {
        this.counts.crashes++;
        this.#dir = this.#grave;
        this.#grave = null;
      }
      this.store = this.#open();
      if (!(await this.during(at, () => this.store.recover('2026-01-01T00:00:02.000Z')))) return;
    }
  }

  /** Dies between two writes. */
  die(): void {
    this.#grave = this.#folder();
    copyAsLeft(this.#dir, this.#grave);
  }

  beforeWrite(loop: RunLoop): void {
    if (this.stopAt !== null && --this.stopAt === 0) loop.stop();
  }

  /** Everything that must hold, whatever was done. */
  async verify({ runs }: Model): Promise<void> {
    for (const { model, real } of runs) {
      const { run } = real;
      const summary = ensure(await this.store.getSummary(run), `run ${run}`);
      check(summary.stop === model.stop(), `${run} stopped`, summary.stop, model.stop());
      const rows = [];
      for (let after = 0; after < summary.transitions; after = rows.length)
        rows.push(...(await this.store.pageTransitions({ run, after, limit: 200 })));
      const seen = rows.map(({ n, round, slot, baseSeq, outcome, tree, rank, verdictSource, duplicateOf }) => ({
        n,
        round,
        slot,
        baseSeq,
        outcome,
        tree,
        rank,
        verdictSource,
        duplicateOf,
      }));
      check(seen.length === model.attempts.length, `${run} attempts`, seen.length, model.attempts.length);
      for (const [i, attempt] of seen.entries()) {
        const expected = ensure(model.attempts[i], 'attempt');
        for (const [field, value] of Object.entries(attempt)) {
          const other: unknown = Reflect.get(expected, field);
          check(JSON.stringify(value) === JSON.stringify(other), `${run} attempt ${i + 1}: ${field}`, value, other);
        }
      }
      const { count, m, ranks, ids } = await this.store.getChain(run);
      check(count === model.chain.length, `${run} bundles`, count, model.chain.length);
      check(JSON.stringify([...ranks]) === JSON.stringify(model.chain.flatMap(({ rank }) => rank)), `${run} ranks of ${m} coordinates`, [
        ...ranks,
      ]);
      check(new Set(ids).size === ids.length, `${run}: a bundle twice`);
      check(summary.budget.used.attempts === model.attempts.length, `${run}: attempts that were charged`, summary.budget.used.attempts);
      const report = await replay(this.store, run, real.proposer);
      check(report.ok, `${run}: its decisions cannot be made again`, report.mismatches.slice(0, 3), report.missing.slice(0, 3));
    }
    const { runs: listed } = await this.store.listRuns({ limit: 100 });
    check(listed.length === runs.length, 'runs', listed.length, runs.length);
    const db = openReadable(path.join(this.#dir, 'pawl.db'), path.join(this.#dir, 'blobs'));
    try {
      const broken = brokenInvariants(db);
      check(broken.length === 0, 'invariants', ...broken.slice(0, 5));
    } finally {
      db.close();
    }
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.#base, { recursive: true, force: true });
  }
}

const pick = (model: Model, at: number): RunPair => ensure(model.runs[at % model.runs.length], 'run');

/** One command of a sequence. Leaves model and world agreeing, or throws. Recertify and export find their place beside these. */
abstract class Command implements fc.AsyncCommand<Model, World> {
  check(_model: Readonly<Model>): boolean {
    return true;
  }
  abstract act(model: Model, world: World): Promise<void>;
  async run(model: Model, world: World): Promise<void> {
    world.counts.commands++;
    await this.act(model, world);
    await world.verify(model);
  }
  abstract toString(): string;
}

type Setup = { readonly seed: number; readonly slots: number; readonly attempts: number; readonly deadAfter: number };

class Start extends Command {
  readonly setup: Setup;
  readonly dieAt: number | null;
  constructor(setup: Setup, dieAt: number | null) {
    super();
    this.setup = setup;
    this.dieAt = dieAt;
  }
  override check({ runs }: Readonly<Model>): boolean {
    return runs.length < maxRuns;
  }
  override async act(model: Model, world: World): Promise<void> {
    const { seed, slots, attempts, deadAfter } = this.setup;
    const rank = caps.map((_, i) => (seed % 11 === 0 ? 0 : cap - ((seed >> i) % 3)));
    const script = scriptOf(seed);
    const real = storedRun({
      i: model.runs.length,
      contract: { caps },
      seed: { rank },
      script,
      header: { slots, seed, budget: { attempts }, verifierDeadAfter: deadAfter },
      beforeWrite: (loop) => world.beforeWrite(loop),
    });
    const died = await world.during(this.dieAt, () => real.create(world.store));
    // A run that was never acknowledged is not there.
    check(died === (world.written().length === 0), 'the run was created and acknowledged, or neither');
    if (died) await world.restart(null);
    else
      model.runs.push({
        real,
        model: createRunModel({ genesis: bundleOf(seedFiles({ rank }), rank), script, slots, attempts, deadAfter }),
      });
  }
  override toString(): string {
    return `start(${JSON.stringify(this.setup)}${this.dieAt === null ? '' : `, dies at ${this.dieAt}`})`;
  }
}

/** Rounds of one run: so many, or until it ends, its user stops it, or the engine dies. */
class Rounds extends Command {
  readonly at: number;
  readonly rounds: number;
  readonly end:
    | { readonly kind: 'wait' }
    | { readonly kind: 'stop'; readonly write: number }
    | { readonly kind: 'die'; readonly step: number };
  readonly dieAgain: number | null;
  constructor(at: number, rounds: number, end: Rounds['end'], dieAgain: number | null) {
    super();
    this.at = at;
    this.rounds = rounds;
    this.end = end;
    this.dieAgain = dieAgain;
  }
  override check(model: Readonly<Model>): boolean {
    return model.runs.length > 0 && pick(model, this.at).model.stop() === null;
  }
  override async act(model: Model, world: World): Promise<void> {
    const { real, model: run } = pick(model, this.at);
    const { end, rounds } = this;
    world.stopAt = end.kind === 'stop' ? end.write : null;
    const died = await world.during(end.kind === 'die' ? end.step : null, async () => {
      const ended = await real.go(world.store, { rounds, slots: run.slots, afterwards: 'wait' });
      if (ended.kind === 'failed') throw ended.error;
    });
    world.stopAt = null;
    const written = world.written();
    // A stop in front of one of the first two writes of a round ends that round undecided; in front of the last, the loop after it.
    const undecided = end.kind === 'stop' && end.write % 3 !== 0 ? Math.ceil(end.write / 3) : null;
    // What the store acknowledged is what there is: of a write that was under way there is nothing.
    let ended = 0;
    let open = false;
    for (const type of written) {
      if (type === 'round') open = true;
      if (type !== 'commit') continue;
      open = false;
      ended++;
      if (ended === undecided) run.aborted();
      else run.decided();
    }
    world.counts.rounds += ended;
    if (died) {
      if (open) {
        run.aborted();
        world.counts.aborted++;
      }
      await world.restart(this.dieAgain);
      return;
    }
    check(!open, 'a round was left open');
    if (ended !== undecided && run.spent()) return;
    if (end.kind === 'stop' && ended === Math.ceil(end.write / 3)) {
      run.stopped('user');
      world.counts.stops++;
    } else check(ended === rounds, 'rounds', ended, rounds);
  }
  override toString(): string {
    return `rounds(run ${this.at}, ${this.rounds}, ${JSON.stringify(this.end)}${this.dieAgain === null ? '' : `, dies again at ${this.dieAgain}`})`;
  }
}

class Resume extends Command {
  readonly at: number;
  readonly dieAt: number | null;
  constructor(at: number, dieAt: number | null) {
    super();
    this.at = at;
    this.dieAt = dieAt;
  }
  override check(model: Readonly<Model>): boolean {
    return model.runs.length > 0;
  }
  override async act(model: Model, world: World): Promise<void> {
    const { real, model: run } = pick(model, this.at);
    const state = ensure(await world.store.getResumeState(real.run), 'state of the run');
    const event = { type: 'resume' as const, body: { from: state.head.id, nextN: state.nextN } };
    let refused = false;
    const died = await world.during(this.dieAt, async () => {
      try {
        await world.store.resumeRun({ run: real.run, at, event });
      } catch (error) {
        if (!(error instanceof StoreError) || error.kind !== 'conflict') throw error;
        refused = true;
      }
    });
    const stop = run.stop();
    if (died) return world.restart(null);
    check(refused === (stop !== null && stop !== 'user'), `resuming a run that stopped (${stop})`, refused);
    if (refused) world.counts.refusals++;
    else {
      run.resumed();
      world.counts.resumes++;
    }
  }
  override toString(): string {
    return `resume(run ${this.at}${this.dieAt === null ? '' : `, dies at ${this.dieAt}`})`;
  }
}

class Branch extends Command {
  readonly at: number;
  readonly seq: number;
  readonly setup: Setup;
  readonly dieAt: number | null;
  constructor(at: number, seq: number, setup: Setup, dieAt: number | null) {
    super();
    this.at = at;
    this.seq = seq;
    this.setup = setup;
    this.dieAt = dieAt;
  }
  override check({ runs }: Readonly<Model>): boolean {
    return runs.length > 0 && runs.length < maxRuns;
  }
  override async act(model: Model, world: World): Promise<void> {
    const { real: parent, model: from } = pick(model, this.at);
    const seq = this.seq % from.chain.length;
    const genesis = ensure(from.chain[seq], `bundle ${seq}`);
    const found = ensure(await world.store.getBundle({ run: parent.run, seq }), `bundle ${seq}`);
    const { seed, slots, attempts, deadAfter } = this.setup;
    const script = scriptOf(seed);
    const real = storedRun({
      i: model.runs.length,
      contract: { caps },
      seed: { rank: [...genesis.rank] },
      files: genesis.files,
      from: { run: parent.run, seq, transitions: from.attempts.length },
      script,
      header: { slots, seed, budget: { attempts }, verifierDeadAfter: deadAfter, parent: found.bundle.id },
      beforeWrite: (loop) => world.beforeWrite(loop),
    });
    const died = await world.during(this.dieAt, () => real.create(world.store));
    check(died === (world.written().length === 0), 'the branch was created and acknowledged, or neither');
    if (died) return world.restart(null);
    world.counts.branches++;
    model.runs.push({ real, model: createRunModel({ genesis, script, slots, attempts, deadAfter, known: from.known() }) });
  }
  override toString(): string {
    return `branch(run ${this.at}, bundle ${this.seq}, ${JSON.stringify(this.setup)}${this.dieAt === null ? '' : `, dies at ${this.dieAt}`})`;
  }
}

/** Another engine on the folder: after a close, or after a death between two writes. */
class Restart extends Command {
  readonly dies: boolean;
  constructor(dies: boolean) {
    super();
    this.dies = dies;
  }
  override async act(_model: Model, world: World): Promise<void> {
    if (this.dies) world.die();
    await world.restart(null);
  }
  override toString(): string {
    return this.dies ? 'die' : 'close';
  }
}

const setup: fc.Arbitrary<Setup> = fc.record({
  seed: fc.nat(10_000),
  slots: fc.integer({ min: 1, max: 4 }),
  attempts: fc.integer({ min: 1, max: 80 }),
  deadAfter: fc.integer({ min: 2, max: 5 }),
});
const run = fc.nat(maxRuns - 1);
const rarely = (max: number) => fc.option(fc.integer({ min: 1, max }), { freq: 3 });
// Of a round, a write has some tens of steps.
const end: fc.Arbitrary<Rounds['end']> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'wait' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('stop' as const), write: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('die' as const), step: fc.integer({ min: 1, max: 250 }) }) },
);
const rounds = fc.tuple(run, fc.integer({ min: 1, max: 6 }), end, rarely(30)).map(([r, n, e, die]) => new Rounds(r, n, e, die));
const commands = [
  fc.tuple(setup, rarely(30)).map(([s, die]) => new Start(s, die)),
  rounds,
  rounds,
  rounds,
  fc.tuple(run, rarely(6)).map(([r, die]) => new Resume(r, die)),
  fc.tuple(run, fc.nat(20), setup, rarely(30)).map(([r, seq, s, die]) => new Branch(r, seq, s, die)),
  fc.boolean().map((dies) => new Restart(dies)),
];

export type ModelReport = Counts & { readonly sequences: number };

/** `sequences` sequences of commands, each on a folder of its own. Rejects, with the shortest sequence that shows it, where engine and model differ. */
export async function modelCampaign(sequences: number, seed: number): Promise<ModelReport> {
  const total: Counts = { commands: 0, rounds: 0, crashes: 0, aborted: 0, stops: 0, resumes: 0, branches: 0, refusals: 0 };
  await fc.assert(
    fc.asyncProperty(fc.tuple(setup, fc.commands(commands, { maxCommands: 24, size: 'max' })), async ([first, rest]) => {
      const world = new World();
      try {
        const model: Model = { runs: [] };
        // Without a run there is nothing to do.
        await new Start(first, null).run(model, world);
        await fc.asyncModelRun(() => ({ model, real: world }), rest);
      } finally {
        for (const [key, value] of Object.entries(world.counts))
          if (key in total) Reflect.set(total, key, Number(Reflect.get(total, key)) + value);
        await world.close();
      }
    }),
    { numRuns: sequences, seed },
  );
  return { ...total, sequences };
}
