// The storage invariants of semantics.md, section 10, read off a database: what must hold after every write, crash and recovery, whoever
// wrote. Knows nothing of how rows came about; what is computed again is computed by loops of its own or by the rule itself.
import { bundleId } from '#shared/domain/bundle-id.ts';
import { addAmounts, noAmounts } from '#shared/domain/budget-ledger.ts';
import { budgetDimensions } from '#shared/domain/budget.ts';
import type { CertifiedBundle } from '#shared/domain/bundle.ts';
import { type EventRecord, parseEventLine, verifyEventChain } from '#shared/domain/event-chain.ts';
import { features } from '#shared/domain/features.ts';
import { outcomes } from '#shared/domain/transition.ts';
import type { RunDetail, TransitionDetail } from '#shared/contract/run.ts';
import { ensure } from '#shared/lib/assert.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { type ReadableDb, sql } from '#electron/store/db.ts';
import { getBlob, getManifest } from '#electron/store/read/blobs.ts';
import { getBundle, getChain } from '#electron/store/read/bundles.ts';
import { getReplayHead, pageReplayEvents } from '#electron/store/read/replay.ts';
import { getRun, listRuns } from '#electron/store/read/runs.ts';
import { getTransition } from '#electron/store/read/transitions.ts';
import { messageOf } from '#shared/lib/message-of.ts';

type Say = (invariant: string, what: string) => void;

/** What does not hold in a data folder, in words that begin with the number of the invariant; empty when everything does. */
export function brokenInvariants(db: ReadableDb): string[] {
  const broken: string[] = [];
  const trees = new Set<string>();
  for (const { id } of allRuns(db)) {
    const say: Say = (invariant, what) => broken.push(`${invariant} ${id}: ${what}`);
    try {
      const run = ensure(getRun(db, id), 'run');
      const chain = chainOf(db, run);
      const transitions = transitionsOf(db, run);
      trees.add(run.header.seedTree);
      for (const { tree } of chain) trees.add(tree);
      for (const { transition } of transitions) if (transition.tree !== null) trees.add(transition.tree);
      checkChain(run, chain, say);
      checkTransitions(run, chain, transitions, say);
      checkBudget(run, transitions, say);
      checkEvents(db, run, chain, transitions, say);
      checkFeatures(transitions, say);
      checkBytes(db, transitions, say);
    } catch (error) {
      // A read that fails has met damaged or missing bytes.
      say('I15', messageOf(error));
    }
  }
  checkTrees(db, trees, broken);
  for (const { integrity_check: found } of db.all(sql<{ integrity_check: string }>('PRAGMA integrity_check')))
    if (found !== 'ok') broken.push(`database: ${found}`);
  if (db.all(sql('PRAGMA foreign_key_check')).length > 0) broken.push('database: a foreign key points nowhere');
  return broken;
}

function allRuns(db: ReadableDb) {
  const runs = [];
  for (let before: string | undefined; ; before = runs.at(-1)?.id) {
    const page = listRuns(db, { before, limit: 100 });
    runs.push(...page.runs);
    if (!page.more) return runs;
  }
}

const chainOf = (db: ReadableDb, { id, head }: RunDetail): CertifiedBundle[] =>
  head === null ? [] : getChain(db, id).ids.map((_, seq) => ensure(getBundle(db, { run: id, seq }), `bundle ${seq}`).bundle);

const transitionsOf = (db: ReadableDb, { id, transitions }: RunDetail): TransitionDetail[] =>
  Array.from({ length: transitions }, (_, i) => ensure(getTransition(db, { run: id, n: i + 1 }), `transition ${i + 1}`));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function checkChain(run: RunDetail, chain: readonly CertifiedBundle[], say: Say): void {
  for (const [seq, bundle] of chain.entries()) {
    const { id, run: _run, verdict: _verdict, summaryText, transition: _transition, ...body } = bundle;
    const before = chain[seq - 1];
    const sameEra = before !== undefined && before.era === bundle.era;
    if (sameEra && bundle.rank.some((r, i) => r > (before.rank[i] ?? -1)))
      say('I1', `bundle ${seq} is worse than the one before in a coordinate`);
    if (bundle.potential !== sum(bundle.rank)) say('I2', `the potential of bundle ${seq} is not the sum of its rank`);
    if (sameEra && bundle.edge === 'commit' && bundle.potential >= before.potential)
      say('I2', `bundle ${seq} does not lower the potential`);
    if (bundle.seq !== seq) say('I3', `bundle ${bundle.seq} stands in place ${seq}`);
    if (bundle.parent !== (before?.id ?? run.header.parent)) say('I3', `bundle ${seq} has another parent than the bundle before`);
    if (bundle.edge !== (seq === 0 ? 'genesis' : 'commit')) say('I3', `bundle ${seq} is a ${bundle.edge}`);
    if (bundle.contract !== run.contract) say('I11', `bundle ${seq} is of another contract`);
    if (bundleId(body) !== id || sha256Text(summaryText) !== bundle.summary || bundle.header !== run.headerSha)
      say('I7', `the id of bundle ${seq} is not that of its body`);
  }
  const last = chain.at(-1);
  if (last?.id !== run.head?.id || last?.seq !== run.head?.seq) say('I3', 'the head is not the last bundle');
}

function checkTransitions(run: RunDetail, chain: readonly CertifiedBundle[], transitions: readonly TransitionDetail[], say: Say): void {
  let head = 0;
  let round = 0;
  let inRound = 0;
  for (const [i, { transition: t, memory, verdict, bundle }] of transitions.entries()) {
    if (t.n !== i + 1) say('I4', `transition ${t.n} stands in place ${i + 1}`);
    if (t.round !== round) {
      if (t.round !== round + 1) say('I4', `round ${t.round} follows round ${round}`);
      head += inRound;
      inRound = 0;
      round = t.round;
    }
    // Every slot of a round was tried on the head of its beginning; only a commit moves it.
    if (t.base !== chain[head]?.id) say('I6', `attempt ${t.n} was not tried on the head of its time`);
    if ((t.outcome === 'commit') !== (t.bundle !== null)) say('I4', `attempt ${t.n}: ${t.outcome}, with bundle ${t.bundle}`);
    if ((t.outcome === 'commit') === (memory !== null))
      say('I5', `attempt ${t.n}: ${t.outcome}, and ${memory === null ? 'no' : 'a'} memory entry`);
    if (memory !== null && (memory.outcome !== t.outcome || memory.transition !== t.n || memory.base !== t.base || memory.tree !== t.tree))
      say('I5', `the memory entry of attempt ${t.n} is about something else`);
    if (t.outcome === 'commit') {
      inRound++;
      const next = chain[head + 1];
      if (inRound > 1) say('I6', `round ${round} commits twice`);
      if (next === undefined || next.id !== t.bundle || next.transition !== t.n || next.tree !== t.tree || next.verdict !== t.verdict)
        say('I6', `the bundle of attempt ${t.n} is not the next of the chain`);
      if (bundle?.id !== t.bundle || verdict?.kind !== 'ranked' || canonicalJson(verdict.rank) !== canonicalJson(next?.rank ?? null))
        say('I6', `attempt ${t.n} committed another rank than its verdict has`);
      if (t.verdictSource !== 'fresh') say('I14', `attempt ${t.n} committed with a verdict that is not fresh`);
    }
    if (t.verdictSource === 'cache' && verdict?.kind === 'no_verdict') say('I14', `attempt ${t.n} got its no_verdict from the cache`);
  }
  const commits = transitions.filter(({ transition }) => transition.outcome === 'commit').length;
  if (run.head !== null && commits !== run.head.seq) say('I6', `${commits} commits and a head with seq ${run.head.seq}`);
  if (commits + run.memoryEntries !== transitions.length)
    say('I5', `${commits} commits + ${run.memoryEntries} memory entries, ${transitions.length} transitions`);
  for (const outcome of outcomes) {
    const found = transitions.filter(({ transition }) => transition.outcome === outcome).length;
    if (found !== run.counts[outcome]) say('I4', `${found} transitions are ${outcome}, ${run.counts[outcome]} are counted`);
  }
}

function checkBudget({ budget }: RunDetail, transitions: readonly TransitionDetail[], say: Say): void {
  let charged = noAmounts();
  let overshoot = noAmounts();
  for (const { transition } of transitions) {
    charged = addAmounts(charged, transition.cost.charged);
    overshoot = addAmounts(overshoot, transition.cost.overshoot);
  }
  for (const d of budgetDimensions) {
    const max = budget.max[d];
    if (max !== null && budget.used[d] > max) say('I9', `${budget.used[d]} ${d} of ${max} are used`);
    if (budget.used[d] !== charged[d] || budget.overshoot[d] !== overshoot[d]) say('I9', `the sums of ${d} are not those of the attempts`);
  }
}

function checkEvents(
  db: ReadableDb,
  run: RunDetail,
  chain: readonly CertifiedBundle[],
  transitions: readonly TransitionDetail[],
  say: Say,
): void {
  const head = ensure(getReplayHead(db, run.id), 'rows of the run');
  const rows = pageReplayEvents(db, { no: head.no, after: -1, to: head.events - 1, limit: head.events });
  if (head.bundles !== chain.length) say('I3', `${head.bundles} bundles, ${chain.length} of them up to the head`);
  const verified = verifyEventChain(rows.map(({ line }) => line));
  if (!verified.ok) return say('I8', `line ${verified.error.seq}: ${verified.error.message}`);
  if (verified.value.count !== head.row['events'] || verified.value.last !== head.row['last_event'])
    say('I8', 'the chain does not end where the run says');
  const events = rows.flatMap(({ line, sha }): EventRecord[] => {
    const event = parseEventLine(line);
    if (sha256Text(line) !== sha) say('I8', `the hash of ${line.slice(0, 60)} is another`);
    return event.ok ? [event.value] : [];
  });
  const decisions = events.flatMap((event) => (event.type === 'decision' ? [event.body] : []));
  const said = decisions.map(({ n, round, slot, base, outcome, tree, bundle }) => [n, round, slot, base, outcome, tree, bundle]);
  const made = transitions.map(({ transition: t }) => [t.n, t.round, t.slot, t.base, t.outcome, t.tree, t.bundle]);
  if (canonicalJson(said) !== canonicalJson(made)) say('I8', 'the decisions in the chain are not the transitions');
  const opened = events.flatMap((event) => (event.type === 'round' ? event.body.slots.map(({ n }) => n) : []));
  const under = head.open ? opened.slice(transitions.length) : [];
  if (opened.length - under.length !== transitions.length || opened.some((n, i) => n !== i + 1))
    say('I8', 'the rounds in the chain did not open the attempts that there are');
  const genesis = events.find(({ type }) => type === 'genesis');
  if ((genesis?.type === 'genesis' ? genesis.body.bundle : null) !== (chain[0]?.id ?? null))
    say('I8', 'the genesis in the chain is another');
  const last = events.findLast(({ type }) => type === 'stop' || type === 'resume');
  if ((last?.type === 'stop' ? last.body.reason : null) !== run.stop) say('I8', `the run says stop ${run.stop}, its chain does not`);
}

function checkFeatures(transitions: readonly TransitionDetail[], say: Say): void {
  for (const { transition, baseRank, verdict, features: stored } of transitions) {
    if (canonicalJson(stored) !== canonicalJson(features(baseRank, verdict, transition.outcome)))
      say('I12', `the features of attempt ${transition.n} do not follow from head, verdict and outcome`);
  }
}

function checkBytes(db: ReadableDb, transitions: readonly TransitionDetail[], say: Say): void {
  for (const { transition: t } of transitions) {
    for (const sha of [t.request, t.response])
      if (sha !== null && getBlob(db, sha) === null) say('I15', `attempt ${t.n}: ${sha} is not stored`);
  }
}

/** Every tree that is named or stored resolves to the bytes of all its files, and every blob to bytes of its own. */
function checkTrees(db: ReadableDb, named: ReadonlySet<string>, broken: string[]): void {
  const attempt = (what: string, check: () => void) => {
    try {
      check();
    } catch (error) {
      broken.push(`I15 ${what}: ${messageOf(error)}`);
    }
  };
  const stored = db.all(sql<{ sha: string }>('SELECT sha FROM tree')).map(({ sha }) => sha);
  for (const tree of new Set([...named, ...stored])) {
    attempt(`tree ${tree}`, () => {
      for (const { path, sha, size } of ensure(getManifest(db, tree), 'manifest')) {
        const { length } = ensure(getBlob(db, sha), `bytes of ${path}`);
        if (length !== size) throw new Error(`${path} has ${length} bytes instead of ${size}`);
      }
    });
  }
  for (const { sha } of db.all(sql<{ sha: string }>('SELECT sha FROM blob')))
    attempt(`blob ${sha}`, () => ensure(getBlob(db, sha), 'bytes'));
}
