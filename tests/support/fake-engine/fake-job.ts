// One run of the fake engine: how much of it is published, and its records in the shapes of the contract.
import { OutcomeCounts } from '#shared/contract/run.ts';
import type { ChainColumns, RowColumns, RunDetail, RunSummary, TransitionDetail, TransitionRow } from '#shared/contract/run.ts';
import type { BundleReplay, ReplayMismatch, ReplayMissing } from '#shared/contract/replay.ts';
import type { TaskInfo } from '#shared/contract/task.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import type { Budget } from '#shared/domain/budget.ts';
import type { CertifiedBundle } from '#shared/domain/bundle.ts';
import type { ContractBody } from '#shared/domain/contract.ts';
import { features } from '#shared/domain/features.ts';
import type { ProposerKind } from '#shared/domain/header.ts';
import { outcomes, type Outcome, type RunStatus, type StopReason } from '#shared/domain/transition.ts';
import { InvalidCode, NoVerdictCode, type SandboxRecord, type Verdict } from '#shared/domain/verdict.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { createFakePerson, personWritable, type FakeEdit } from './fake-person.ts';
import { createFakeRun, fakeObligations, fakeSha, sumOfCharges, type Edit } from './fake-run.ts';
import { contractBodyOf, budgetOf } from '../contract.ts';

export type FakeJobOptions = {
  readonly seed?: number;
  readonly slots?: number;
  /** Transitions in all, and how many of them are there already. */
  readonly count?: number;
  readonly shown?: number;
  readonly status?: RunStatus;
  readonly stop?: StopReason | null;
  readonly note?: string | null;
  readonly proposer?: ProposerKind;
  readonly task?: { readonly id: string; readonly title: string };
  /** Fields of the contract's verifier that are not those of the sample. */
  readonly verifier?: Partial<ContractBody['verifier']>;
  readonly unsandboxed?: true;
  /** Candidate code runs in it; where it is experimental the header says so. */
  readonly sandbox?: SandboxRecord;
  /** The bundle it branched from: which of the engine's options the run is, and the place in its chain. */
  readonly parent?: { readonly run: number; readonly seq: number };
  /** What recomputing its decisions finds. */
  readonly mismatches?: readonly ReplayMismatch[];
  readonly missing?: readonly ReplayMissing[];
  /** What measuring a bundle of it again comes to. */
  readonly again?: BundleReplay['result'];
};
/** A run and a bundle of it, as a branch begins with it. */
export type FakeOrigin = {
  readonly run: string;
  readonly seq: number;
  readonly id: string;
  readonly rank: readonly number[];
  readonly edits: readonly Edit[];
};

export type FakeJob = ReturnType<typeof createFakeJob>;

export const fakeSamples = [
  { id: 'exam-timetable', title: 'Exam timetable without clashes', path: '/opt/pawl/tasks/exam-timetable' },
  { id: 'repair-csv', title: 'Repair a CSV package', path: '/opt/pawl/tasks/repair-csv' },
  { id: 'repair-intervals', title: 'Interval arithmetic that holds', path: '/opt/pawl/tasks/repair-intervals' },
] as const;

const sampleContract = contractBodyOf(fakeObligations, {
  name: 'exam-timetable',
  artifact: { writable: ['timetable.json'] },
  measurement: { infraRetries: 2 },
});
/** A verifier that runs candidate code in one sandbox with itself. */
export const nativeVerifier: Partial<ContractBody['verifier']> = {
  kind: 'command',
  command: ['python3', 'verifier/check.py'],
  file: null,
  runsCandidate: true,
  isolation: 'shared',
};
const contractSha = fakeSha('contract');
const limitsOf = (attempts: number): Budget => budgetOf(attempts, { verifierRuns: Math.ceil(attempts * 2.5), wallMs: 600_000 });

/** What `task.inspect` would find; refuses like the engine does. */
export function fakeTask(path: string): TaskInfo {
  const sample = fakeSamples.find((s) => s.path === path);
  if (path.includes('broken'))
    throw new RpcError('bad_input', 'obligation[2].cap is 0; a cap is an integer from 1', {
      file: `${path}/task.toml`,
      field: 'obligation[2].cap',
    });
  if (!sample && !path.startsWith('/home/'))
    throw new RpcError('not_found', `there is no folder ${path}; choose one that holds task.toml`, { file: path });
  return {
    path,
    format: 'pawl',
    notes: [],
    id: sample?.id ?? path.split('/').at(-1) ?? 'task',
    title: sample?.title ?? 'A task of my own',
    contractSha,
    contract: path.includes('native') ? { ...sampleContract, verifier: { ...sampleContract.verifier, ...nativeVerifier } } : sampleContract,
    seedTree: fakeSha('seed tree'),
    seedFiles: 1,
    seedBytes: 2_412,
    budget: limitsOf(400),
    operators: ['json-swap', 'json-move', 'json-replace'],
  };
}

const rooms = ['Aula', 'H1', 'H2', 'S12', 'S14'];
const examCount = 36;

/** The artifact after some edits: one exam a line, so that a diff reads well. */
function timetable(edits: readonly Edit[]): string {
  const exams = Array.from({ length: examCount }, (_, i) => ({
    exam: `E${String(i + 1).padStart(2, '0')}`,
    slot: ((i * 5) % 12) + 1,
    room: rooms[i % rooms.length] ?? 'Aula',
  }));
  for (const edit of edits) {
    const exam = exams[edit.exam];
    if (exam) exams[edit.exam] = { ...exam, slot: edit.slot, room: rooms[edit.room] ?? 'Aula' };
  }
  return `{\n  "term": "2031-summer",\n  "exams": [\n${exams.map((e) => `    ${JSON.stringify(e)}`).join(',\n')}\n  ]\n}\n`;
}

export function createFakeJob(
  options: FakeJobOptions,
  number: number,
  blobs: Map<string, Uint8Array<ArrayBuffer>>,
  origin: FakeOrigin | null = null,
) {
  const { seed = 1, slots = 4, proposer = 'search', task = { id: fakeSamples[0].id, title: fakeSamples[0].title }, note = null } = options;
  const ending = options.stop === 'user' ? 'aborted' : options.stop === 'zero_rank' ? 'zero' : 'budget';
  const person = proposer === 'human' ? createFakePerson(seed, timetable([])) : null;
  const run =
    person?.run ?? createFakeRun({ seed, slots, count: options.count ?? 240, ending, ...(origin === null ? {} : { from: origin }) });
  const count = run.transitions.length;
  const id = `run_0192f0c4-1a2b-7000-8000-${number.toString(16).padStart(12, '0')}`;
  const startedMs = Date.UTC(2031, 4, 12, 9, 0) + number * 3_700_000;
  const m = fakeObligations.length;
  let shown = options.status === 'not_started' ? 0 : (options.shown ?? count);
  let status: RunStatus = options.status ?? 'stopped';
  let stopReason: StopReason | null = status === 'stopped' ? (options.stop ?? 'budget') : null;

  // What a person proposed is there at once.
  const published = () => (person === null ? shown : run.transitions.length);
  blobs.set(sampleContract.instruction, new TextEncoder().encode('Make a timetable in which nobody sits in two exams at once.\n'));
  const rows = () => run.transitions.slice(0, published());
  const chainNow = () => run.chain.filter((b) => b.transition === null || b.transition <= published());
  const at = (n: number) => {
    const found = n <= published() ? run.transitions[n - 1] : undefined;
    if (!found) throw new RpcError('not_found', `the run has no transition ${n}`);
    return found;
  };
  const editsUpTo = (seq: number) => run.chain.slice(0, seq + 1).flatMap((b) => b.edits);
  const keep = (text: string): string => {
    const bytes = new TextEncoder().encode(text);
    const sha = sha256Hex(bytes);
    blobs.set(sha, bytes);
    return sha;
  };
  const bundleOf = (seq: number): CertifiedBundle => {
    const bundle = chainNow()[seq];
    if (!bundle) throw new RpcError('not_found', `the chain has no bundle ${seq}`);
    return {
      format: 'pawl.bundle/1',
      header: fakeSha(`header ${id}`),
      era: 0,
      seq,
      edge: seq === 0 ? 'genesis' : 'commit',
      parent: run.chain[seq - 1]?.id ?? null,
      contract: contractSha,
      tree: fakeSha(`bundle tree ${seq}`),
      latent: null,
      rank: [...bundle.rank],
      potential: bundle.rank.reduce((a, b) => a + b, 0),
      summary: fakeSha(`summary ${seq}`),
      id: bundle.id,
      run: id,
      verdict: fakeSha(`verdict ${bundle.id}`),
      summaryText: seq === 0 ? 'The seed as it was.' : `timetable.json changed; potential ${bundle.rank.reduce((a, b) => a + b, 0)}.`,
      transition: bundle.transition,
    };
  };
  const ranIn = {
    ...(options.unsandboxed === true ? { unsandboxed: true as const } : {}),
    ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
  };
  const verdictOf = (n: number): Verdict | null => {
    const { row } = at(n);
    if (row.rank) {
      const details = Object.fromEntries(
        fakeObligations.flatMap((o, i) => ((row.rank?.[i] ?? 0) > 0 && i % 2 === 0 ? [[o.key, `E0${(n % 8) + 1} and E1${n % 9}`]] : [])),
      );
      return {
        kind: 'ranked',
        rank: row.rank,
        runs: [{ id: `${id}-${n}`, durationMs: 31 + (n % 9), output: null, ...ranIn }],
        stable: row.outcome !== 'unstable',
        advisory: {},
        details,
      };
    }
    if (row.outcome === 'invalid')
      return {
        kind: 'invalid',
        code: InvalidCode.parse(row.code),
        message: 'verifier/check.js was changed by the candidate; only timetable.json may be.',
      };
    if (row.outcome === 'no_verdict')
      return {
        kind: 'no_verdict',
        code: NoVerdictCode.parse(row.code),
        message: 'no report within 20,000 ms',
        runs: [{ id: `${id}-${n}`, durationMs: 20_000, output: null, ...ranIn }],
      };
    return null;
  };
  const summary = (): RunSummary => {
    const here = rows();
    const head = chainNow().at(-1);
    const counts = OutcomeCounts.parse(Object.fromEntries(outcomes.map((o) => [o, here.filter((x) => x.row.outcome === o).length])));
    const used = sumOfCharges(here.map((x) => x.row.cost));
    const certified = status !== 'not_started';
    return {
      id,
      task,
      contract: contractSha,
      proposer,
      slots,
      seed,
      status,
      stop: stopReason,
      note,
      startedAt: new Date(startedMs).toISOString(),
      updatedAt: new Date(startedMs + published() * 400).toISOString(),
      transitions: published(),
      rounds: Math.ceil(published() / slots),
      counts,
      genesis: certified
        ? { id: run.chain[0]?.id ?? fakeSha('none'), potential: (run.chain[0]?.rank ?? []).reduce((a, b) => a + b, 0) }
        : null,
      head:
        certified && head
          ? { id: head.id, seq: head.seq, era: 0, potential: head.rank.reduce((a, b) => a + b, 0), rank: [...head.rank] }
          : null,
      budget: {
        max: limitsOf(options.count ?? 240),
        used: { ...used, rounds: Math.ceil(published() / slots), wallMs: published() * 400 },
        overshoot: noAmounts(),
      },
      parent: origin?.id ?? null,
    };
  };

  return {
    id,
    options,
    origin,
    /** What a branch from bundle `seq` begins with. */
    originAt(seq: number): FakeOrigin {
      const { id: bundle, rank } = bundleOf(seq);
      return { run: id, seq, id: bundle, rank, edits: editsUpTo(seq) };
    },
    get live() {
      return status === 'running';
    },
    /** Publishes one more round; ends the run with the last. */
    advance(): boolean {
      if (status !== 'running') return false;
      shown = Math.min(count, shown + slots);
      if (shown < count) return true;
      status = 'stopped';
      stopReason = 'budget';
      return false;
    },
    stop(reason: StopReason) {
      status = 'stopped';
      stopReason = reason;
    },
    resume() {
      if (status === 'running') throw new RpcError('conflict', 'the run is live already');
      status = person === null ? 'running' : 'waiting';
      stopReason = null;
    },
    /** One attempt by a person, and how the run stands after it. */
    propose(base: number, files: readonly FakeEdit[]): { n: number; outcome: Outcome; stop: StopReason | null } {
      if (person === null) throw new RpcError('unavailable', 'a scripted run takes no proposals here');
      if (status === 'stopped' && stopReason !== 'user') throw new RpcError('conflict', `the run has stopped (${stopReason ?? ''})`);
      const made = person.propose(base, files);
      status = 'waiting';
      stopReason = null;
      return { ...made, stop: stopReason };
    },
    summary,
    detail: (): RunDetail => ({
      ...summary(),
      header: {
        format: 'pawl.header/1',
        contract: contractSha,
        seedTree: fakeSha('seed tree'),
        proposer: { kind: proposer, version: 1, options: {} },
        slots,
        seed,
        budget: limitsOf(options.count ?? 240),
        verifierDeadAfter: 8,
        parent: origin?.id ?? null,
        verifierProgram: null,
        ...(options.unsandboxed === true ? { unsandboxed: true } : {}),
        ...(options.sandbox?.experimental === true ? { experimentalSandbox: options.sandbox.backend } : {}),
      },
      headerSha: fakeSha(`header ${id}`),
      contractBody: {
        ...sampleContract,
        ...(person === null ? {} : { artifact: { ...sampleContract.artifact, writable: personWritable } }),
        verifier: { ...sampleContract.verifier, ...options.verifier },
      },
      memoryEntries: rows().filter((x) => x.row.outcome !== 'commit').length,
    }),
    row: (n: number): TransitionRow | undefined => (n <= published() ? run.transitions[n - 1]?.row : undefined),
    columns(from: number, to: number): RowColumns {
      const part = run.transitions.slice(from - 1, Math.min(to, published())).map((x) => x.row);
      const ranks = new Int32Array(part.length * m).fill(-1);
      for (const [i, row] of part.entries()) if (row.rank) ranks.set(row.rank, i * m);
      return {
        kind: 'rows',
        from,
        count: part.length,
        m,
        ranks,
        outcome: Uint8Array.from(part, (r) => outcomes.indexOf(r.outcome)),
        round: Uint32Array.from(part, (r) => r.round),
        slot: Uint16Array.from(part, (r) => r.slot),
        baseSeq: Uint32Array.from(part, (r) => r.baseSeq),
        bundleSeq: Int32Array.from(part, (r) => r.bundleSeq ?? -1),
        duplicateOf: Int32Array.from(part, (r) => (r.outcome === 'duplicate' ? (r.duplicateOf ?? -1) : -1)),
      };
    },
    chain(): ChainColumns {
      const chain = status === 'not_started' ? [] : chainNow();
      return {
        count: chain.length,
        m,
        ids: chain.map((b) => b.id),
        transition: Int32Array.from(chain, (b) => b.transition ?? -1),
        ranks: Int32Array.from(chain.flatMap((b) => b.rank)),
      };
    },
    bundle: (seq: number) => ({
      bundle: bundleOf(seq),
      files: person
        ? [...person.filesOf(seq)].map(([path, text]) => ({ path, mode: 'file' as const, sha: keep(text), size: text.length }))
        : [{ path: 'timetable.json', mode: 'file' as const, sha: keep(timetable(editsUpTo(seq))), size: timetable(editsUpTo(seq)).length }],
    }),
    transition(n: number): TransitionDetail {
      const { row, edits } = at(n);
      const base = run.chain[row.baseSeq];
      const baseRank = [...(base?.rank ?? [])];
      const verdict = verdictOf(n);
      const before = timetable(editsUpTo(row.baseSeq));
      const after = timetable([...editsUpTo(row.baseSeq), ...edits]);
      const changed = before.split('\n').filter((line, i) => line !== after.split('\n')[i]).length;
      const changes =
        person !== null
          ? person.changesOf(n, keep)
          : row.tree === null
            ? null
            : changed === 0
              ? []
              : [
                  {
                    path: 'timetable.json',
                    status: 'modified' as const,
                    binary: false,
                    added: changed,
                    removed: changed,
                    before: keep(before),
                    after: keep(after),
                  },
                ];
      const shownFeatures = features(baseRank, verdict, row.outcome);
      return {
        transition: {
          run: id,
          n,
          round: row.round,
          slot: row.slot,
          base: row.base,
          request: null,
          response: null,
          retrieved: [],
          featuresShown: null,
          tree: row.tree,
          duplicateOf: row.duplicateOf,
          verdict: verdict ? fakeSha(`verdict ${id} ${n}`) : null,
          verdictSource: row.verdictSource,
          outcome: row.outcome,
          bundle: row.bundle,
          cost: row.cost,
        },
        baseSeq: row.baseSeq,
        baseRank,
        rank: row.rank,
        verdict,
        features: shownFeatures,
        changes,
        memory:
          row.outcome === 'commit'
            ? null
            : {
                id: fakeSha(`memory ${id} ${n}`),
                run: id,
                contract: contractSha,
                transition: n,
                base: row.base,
                baseRank,
                tree: row.tree,
                outcome: row.outcome,
                rank: row.rank,
                signs: row.rank
                  ? row.rank.map((value, i) =>
                      value < (baseRank[i] ?? 0) ? (-1 as const) : value > (baseRank[i] ?? 0) ? (1 as const) : (0 as const),
                    )
                  : null,
                features: shownFeatures,
                changes: changes ?? [],
                hunks: [],
                excerpt: row.rank ? 'clashes: E04 and E17 share 3 students in slot 7' : '',
                note: null,
              },
        bundle: row.bundleSeq === null ? null : bundleOf(row.bundleSeq),
        output: row.rank
          ? `checked ${examCount} exams in ${31 + (n % 9)} ms\nclashes ${row.rank[0] ?? 0}\noverfull-rooms ${row.rank[1] ?? 0}\n`
          : null,
        autos: fakeAutos(row.tree, n),
        registrations:
          n % 5 === 0
            ? [
                { name: 'rooms', command: ['sh', '-c', 'cat artifact/timetable.json | wc -l'], refusal: null },
                { name: 'net', command: ['curl', 'example.org'], refusal: 'not_allowed' },
              ]
            : [],
        events: [
          JSON.stringify({
            body: { n, outcome: row.outcome, rank: row.rank, tree: row.tree },
            prev: fakeSha(`event ${n - 1}`),
            seq: n + 2,
            type: 'decision',
          }),
        ],
      };
    },
  };
}

/** Of every fifth attempt: one command on its own tree, and one on an edit before it. */
function fakeAutos(tree: string | null, n: number): TransitionDetail['autos'] {
  if (tree === null || n % 5 !== 0) return [];
  const command = ['sh', '-c', 'wc -c artifact/timetable.json'];
  const one = { name: 'size', command, ending: 'exit 0', cut: false };
  return [
    { ...one, tree: fakeSha(`edit ${n}`), at: 'proposal', output: '4101 artifact/timetable.json\n', record: fakeSha(`auto ${n} 0`) },
    { ...one, tree, at: 'candidate', output: '4096 artifact/timetable.json\n', cut: true, record: fakeSha(`auto ${n} 1`) },
  ];
}
