// A run as the governor would write it, without a governor: each round is given as texts and verdicts, decided by the real rules, and
// turned into the inputs of the store. Nothing here writes; `apply` moves the model on once the store has taken a round.
import { createHash } from 'node:crypto';
import type { CertifiedBundle } from '#shared/domain/bundle.ts';
import { bundleId, summaryText } from '#shared/domain/bundle-id.ts';
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import type { Amounts, Cost } from '#shared/domain/budget.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { decideRound, finishRound } from '#shared/domain/decide.ts';
import { commitment, type EventBody } from '#shared/domain/event-chain.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { memoryEntry } from '#shared/domain/memory-entry.ts';
import type { MemoryEntry } from '#shared/domain/memory.ts';
import { potential } from '#shared/domain/rank.ts';
import type { StopReason, Transition } from '#shared/domain/transition.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import { ensure } from '#shared/lib/assert.ts';
import { hashJson, sha256Hex, sha256Text } from '#shared/lib/hash.ts';
import type {
  BlobInput,
  CommitRound,
  CreateRun,
  OpenRound,
  SaltInput,
  StoreProposals,
  TreeInput,
  VerdictInput,
} from '#electron/store/api.ts';
import { fileChanges } from '#electron/verifiers/changes.ts';
import {
  bytesOf,
  contractOf,
  filesOf,
  headerOf,
  type HeaderOptions,
  manifestOf,
  runIdOf,
  treeOf,
  verifierFiles,
} from '../../support/engine/builders.ts';

/** What one slot came to. `rank` is a fresh ranked verdict on `text`; the others are as their names say. */
export type SlotSpec =
  | {
      readonly kind: 'ranked';
      readonly text: string;
      readonly rank: readonly number[];
      readonly stable?: boolean;
      readonly output?: string;
    }
  | { readonly kind: 'cached'; readonly text: string }
  | { readonly kind: 'head' }
  | { readonly kind: 'invalid'; readonly text?: string }
  | { readonly kind: 'no_verdict'; readonly text: string; readonly code?: 'crash' | 'infra' | 'verifier_timeout' }
  | { readonly kind: 'aborted' };

export type ScenarioOptions = {
  readonly i?: number;
  readonly caps: readonly number[];
  readonly genesis: readonly number[];
  readonly seedText?: string;
  readonly header?: HeaderOptions;
  /** What each attempt reserves; charged are 1 attempt, 1 request, 1 verifier run and 5 ms. */
  readonly reserved?: Partial<Amounts>;
};

const at = (tick: number): string => new Date(Date.UTC(2026, 0, 1) + tick * 1_000).toISOString();
const saltOf = (seed: string): Uint8Array => new Uint8Array(createHash('sha256').update(seed).digest());
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const blobOf = (text: string): BlobInput => {
  const bytes = bytesOf(text);
  return { sha: sha256Hex(bytes), bytes };
};

export type Scenario = ReturnType<typeof createScenario>;

export function createScenario({
  i = 0,
  caps,
  genesis: rank,
  seedText = '{}\n',
  header: headerOptions = {},
  reserved: asked = {},
}: ScenarioOptions) {
  const run = runIdOf(i);
  const contract: Contract = contractOf({ caps });
  const seedFiles = filesOf({ 'state.json': seedText });
  const header: RunHeader = headerOf(contract, seedFiles, headerOptions);
  const headerSha = hashJson(header);
  const reserved: Amounts = { ...noAmounts(), attempts: 1, requests: 1, verifierRuns: 2, verifierMs: 100, ...asked };
  let tick = 0;
  let salts = 0;
  let ids = 0;

  const commitments = () => {
    const made: SaltInput[] = [];
    const commit = (object: Sha, bytes: Uint8Array): Sha => {
      const salt = saltOf(`${run} ${salts++}`);
      const sha = commitment(hex(salt), bytes);
      made.push({ commitment: sha, salt, object });
      return sha;
    };
    return { made, commit };
  };

  const verdictInput = (tree: Sha | null, verdict: Verdict, output: BlobInput | null): VerdictInput => ({
    sha: hashJson({ tree, contract: contract.sha, verdict }),
    tree,
    contract: contract.sha,
    verdict,
    runs:
      verdict.kind === 'invalid' || tree === null
        ? []
        : verdict.runs.map(({ id }) => ({
            id,
            nonce: 'a'.repeat(32),
            tree,
            startedAt: at(tick),
            durationMs: 4.5,
            exitCode: 0,
            signal: null,
            report: null,
            output: output?.sha ?? null,
            result: verdict.kind,
          })),
  });

  const ranked = (values: readonly number[], stable: boolean, output: BlobInput | null): Verdict => ({
    kind: 'ranked',
    rank: [...values],
    runs: [{ id: `vrun_${String(++ids).padStart(8, '0')}`, durationMs: 4.5, output: output?.sha ?? null }],
    stable,
    advisory: { seconds: 0.25 },
    details: Object.fromEntries(contract.obligations.slice(0, 3).map(({ key }, c) => [key, `${values[c] ?? 0} left`])),
  });

  const genesis = (): { bundle: CertifiedBundle; verdict: VerdictInput } => {
    const verdict = verdictInput(header.seedTree, ranked(rank, true, null), null);
    const text = summaryText({ changes: [], obligations: contract.obligations, before: null, after: [...rank], edge: 'genesis' });
    const body = {
      format: 'pawl.bundle/1' as const,
      header: headerSha,
      era: 0,
      seq: 0,
      edge: 'genesis' as const,
      parent: header.parent,
      contract: contract.sha,
      tree: header.seedTree,
      latent: null,
      rank: [...rank],
      potential: potential([...rank]),
      summary: sha256Text(text),
    };
    return { verdict, bundle: { ...body, id: bundleId(body), run, verdict: verdict.sha, summaryText: text, transition: null } };
  };

  const first = genesis();
  const chain: CertifiedBundle[] = [first.bundle];
  const transitions: Transition[] = [];
  const memory: MemoryEntry[] = [];
  const verdicts = new Map<Sha, Verdict>([[first.verdict.sha, first.verdict.verdict]]);
  const byTree = new Map<Sha, VerdictInput>();
  const texts = new Map<Sha, string>([[header.seedTree, seedText]]);
  let rounds = 0;
  const head = () => ensure(chain.at(-1), 'head');

  const create = (): CreateRun => {
    const { made, commit } = commitments();
    const { verdict } = first;
    const record = bytesOf(JSON.stringify(verdict.verdict));
    return {
      run,
      at: at(tick),
      header,
      headerSha,
      contract,
      task: { id: 'scripted', title: 'Scripted', path: '/tasks/scripted' },
      blobs: [...seedFiles, ...verifierFiles].map(({ bytes }) => ({ sha: sha256Hex(bytes), bytes })),
      trees: [seedFiles, verifierFiles].map((files) => ({ tree: treeOf(files), manifest: manifestOf(files) })),
      salts: made,
      events: [
        { type: 'declare', body: { run, header: headerSha, contract: contract.sha, task: 'scripted' } },
        {
          type: 'verdict',
          body: {
            n: 0,
            of: 'seed',
            tree: header.seedTree,
            contract: contract.sha,
            result: { kind: 'ranked', rank: [...rank], stable: true, runs: 1 },
            source: 'fresh',
            record: commit(verdict.sha, record),
            outputs: [],
          },
        },
        {
          type: 'genesis',
          body: { bundle: first.bundle.id, tree: header.seedTree, rank: [...rank], potential: first.bundle.potential, runs: 1 },
        },
      ],
      verdict,
      genesis: first.bundle,
      stop: null,
      note: null,
    };
  };

  const open = (slots: number): OpenRound => {
    tick++;
    const planned = Array.from({ length: slots }, (_, slot) => ({
      n: transitions.length + 1 + slot,
      slot,
      draw: 1 + transitions.filter(({ outcome }) => outcome !== 'aborted').length + slot,
      reserved: { ...reserved, rounds: slot === 0 ? 1 : 0 },
    }));
    return {
      run,
      at: at(tick),
      round: rounds + 1,
      base: head().id,
      slots: planned,
      event: {
        type: 'round',
        body: {
          round: rounds + 1,
          base: head().id,
          slots: planned.map(({ n, slot, draw }) => ({ n, slot, draw })),
          reserved: planned.map((p) => p.reserved),
        },
      },
    };
  };

  const proposals = (slots: number): StoreProposals => ({
    run,
    at: at(tick),
    items: Array.from({ length: slots }, (_, slot) => {
      const n = transitions.length + 1 + slot;
      return { n, request: blobOf(`request ${run} ${n}`), response: blobOf(`response ${run} ${n}`) };
    }),
    salts: [],
    events: [],
  });

  const commit = (specs: readonly SlotSpec[], stop: { reason: StopReason; note: string | null } | null = null): CommitRound => {
    tick++;
    const base = head();
    const { made, commit: hide } = commitments();
    const blobs: BlobInput[] = [];
    const trees: TreeInput[] = [];
    const fresh: VerdictInput[] = [];
    const events: EventBody[] = [];
    const seen = new Map<Sha, number>([[base.tree, 0]]);
    const slots = specs.map((spec, slot) => {
      const n = transitions.length + 1 + slot;
      const request = blobOf(`request ${run} ${n}`);
      const response = blobOf(`response ${run} ${n}`);
      const text = spec.kind === 'head' ? texts.get(base.tree) : 'text' in spec ? spec.text : undefined;
      const files = text === undefined || spec.kind === 'aborted' ? null : filesOf({ 'state.json': text });
      const tree = files === null ? null : treeOf(files);
      const duplicateOf = tree === null ? null : (seen.get(tree) ?? null);
      if (tree !== null && text !== undefined) {
        if (duplicateOf === null) seen.set(tree, n);
        texts.set(tree, text);
      }
      let verdict: Verdict | null = null;
      let source: Transition['verdictSource'] = 'none';
      let sha: Sha | null = null;
      let output: BlobInput | null = null;
      if (duplicateOf === null && spec.kind !== 'aborted' && spec.kind !== 'head') {
        source = spec.kind === 'cached' ? 'cache' : 'fresh';
        if (spec.kind === 'cached') {
          const known = ensure(byTree.get(ensure(tree, 'tree')), `a verdict on ${spec.text}`);
          verdict = known.verdict;
          sha = known.sha;
        } else {
          if (spec.kind === 'ranked') {
            output = spec.output === undefined ? null : blobOf(spec.output);
            verdict = ranked(spec.rank, spec.stable ?? true, output);
          } else if (spec.kind === 'invalid')
            verdict = { kind: 'invalid', code: tree === null ? 'no_candidate' : 'schema', message: 'not this' };
          else verdict = { kind: 'no_verdict', code: spec.code ?? 'crash', message: 'it fell over', runs: [] };
          const input = verdictInput(tree, verdict, output);
          sha = input.sha;
          fresh.push(input);
          if (files !== null && tree !== null) {
            trees.push({ tree, manifest: manifestOf(files) });
            for (const { bytes } of files) blobs.push({ sha: sha256Hex(bytes), bytes });
          }
          if (output !== null) blobs.push(output);
        }
      }
      return { n, slot, spec, tree, files, duplicateOf, verdict, source, sha, output, request, response };
    });
    const decision = decideRound({
      head: { id: base.id, contract: contract.sha, rank: base.rank, tree: base.tree },
      obligations: contract.obligations,
      slots: slots.map((s) => ({
        slot: s.slot,
        tree: s.tree,
        contract: contract.sha,
        verdict: s.verdict,
        verdictSource: s.source,
        duplicateOf: s.duplicateOf,
        aborted: s.spec.kind === 'aborted',
      })),
    });
    const winner = decision.contenders[0] ?? null;
    const finished = finishRound(decision, winner, []);
    let bundle: CertifiedBundle | null = null;
    const made2: Transition[] = [];
    const entries: MemoryEntry[] = [];
    for (const s of slots) {
      if (s.spec.kind === 'aborted') continue;
      events.push({
        type: 'proposal',
        body: {
          n: s.n,
          round: rounds + 1,
          slot: s.slot,
          request: hide(s.request.sha, s.request.bytes),
          response: hide(s.response.sha, s.response.bytes),
          tree: s.tree,
          retrieved: [],
          featuresShown: null,
        },
      });
    }
    for (const s of slots) {
      if (s.verdict === null || s.sha === null) continue;
      const { verdict } = s;
      events.push({
        type: 'verdict',
        body: {
          n: s.n,
          of: 'candidate',
          tree: s.tree,
          contract: contract.sha,
          result:
            verdict.kind === 'ranked'
              ? { kind: 'ranked', rank: verdict.rank, stable: verdict.stable, runs: verdict.runs.length }
              : verdict.kind === 'invalid'
                ? { kind: 'invalid', code: verdict.code }
                : { kind: 'no_verdict', code: verdict.code, runs: 0 },
          source: s.source,
          record: hide(s.sha, bytesOf(JSON.stringify(verdict))),
          outputs: s.output === null ? [] : [hide(s.output.sha, s.output.bytes)],
        },
      });
    }
    for (const s of slots) {
      const outcome = ensure(finished.slots[s.slot], 'slot').outcome;
      const { changes, hunks } =
        s.files === null
          ? { changes: [], hunks: [] }
          : fileChanges(filesOf({ 'state.json': ensure(texts.get(base.tree), 'text of the base') }), s.files);
      const cost: Cost = {
        charged: {
          ...noAmounts(),
          attempts: 1,
          requests: 1,
          rounds: s.slot === 0 ? 1 : 0,
          verifierRuns: s.source === 'fresh' ? 1 : 0,
          verifierMs: 5,
        },
        overshoot: { ...noAmounts(), wallMs: s.slot === 0 ? 3 : 0 },
      };
      if (outcome === 'commit' && s.verdict?.kind === 'ranked') {
        const text = summaryText({ changes, obligations: contract.obligations, before: base.rank, after: s.verdict.rank, edge: 'commit' });
        const body = {
          format: 'pawl.bundle/1' as const,
          header: headerSha,
          era: 0,
          seq: base.seq + 1,
          edge: 'commit' as const,
          parent: base.id,
          contract: contract.sha,
          tree: ensure(s.tree, 'tree'),
          latent: null,
          rank: s.verdict.rank,
          potential: potential(s.verdict.rank),
          summary: sha256Text(text),
        };
        bundle = { ...body, id: bundleId(body), run, verdict: ensure(s.sha, 'verdict'), summaryText: text, transition: s.n };
      }
      made2.push({
        run,
        n: s.n,
        round: rounds + 1,
        slot: s.slot,
        base: base.id,
        request: s.spec.kind === 'aborted' ? null : s.request.sha,
        response: s.spec.kind === 'aborted' ? null : s.response.sha,
        retrieved: outcome === 'tie' ? memory.slice(-2).map(({ id }) => id) : [],
        featuresShown: null,
        tree: s.tree,
        duplicateOf: s.duplicateOf,
        verdict: s.sha,
        verdictSource: s.source,
        outcome,
        bundle: outcome === 'commit' ? ensure(bundle, 'bundle').id : null,
        cost,
      });
      if (outcome !== 'commit') {
        entries.push(
          memoryEntry({
            run,
            contract: contract.sha,
            transition: s.n,
            base: base.id,
            baseRank: base.rank,
            tree: s.tree,
            outcome,
            verdict: s.verdict,
            changes,
            hunks,
            excerpt: s.spec.kind === 'ranked' ? (s.spec.output ?? '') : '',
            note: null,
          }),
        );
      }
    }
    for (const t of made2) {
      const verdict = slots[t.slot]?.verdict;
      const { n, round, slot, outcome, tree, duplicateOf, verdictSource } = t;
      events.push({
        type: 'decision',
        body: {
          n,
          round,
          slot,
          base: base.id,
          outcome,
          tree,
          rank: verdict?.kind === 'ranked' ? verdict.rank : null,
          bundle: t.bundle,
          duplicateOf,
          verdictSource,
        },
      });
    }
    if (stop !== null) events.push({ type: 'stop', body: { reason: stop.reason } });
    const sum = (which: 'charged' | 'overshoot') => made2.reduce((total, { cost }) => addAmounts(total, cost[which]), noAmounts());
    return {
      run,
      at: at(tick),
      round: rounds + 1,
      blobs,
      trees,
      salts: made,
      verdicts: fresh,
      transitions: made2,
      memory: entries,
      bundle,
      expectedHead: base.id,
      charged: sum('charged'),
      overshoot: sum('overshoot'),
      events,
      stop,
    };
  };

  return {
    run,
    contract,
    header,
    headerSha,
    chain,
    transitions,
    memory,
    verdicts,
    head,
    create,
    open,
    proposals,
    commit,
    /** The store has taken it. */
    apply: (input: CommitRound) => {
      rounds = input.round;
      transitions.push(...input.transitions);
      memory.push(...input.memory);
      for (const v of input.verdicts) {
        verdicts.set(v.sha, v.verdict);
        if (v.tree !== null && v.verdict.kind !== 'no_verdict') byTree.set(v.tree, v);
      }
      if (input.bundle !== null) chain.push(input.bundle);
    },
    /** Recovery has aborted the open round. */
    aborted: (made: readonly Transition[]) => {
      rounds++;
      transitions.push(...made);
    },
    rounds: () => rounds,
    textOf: (tree: Sha) => texts.get(tree),
  };
}
