// V1, the decision replay: everything that follows from header, contract, seed, requests, responses and verifier reports is made again by
// the code that made it, and then compared with what is stored. Semantics, section 9. It executes nothing and changes nothing.
import type { DecisionReplayItem, DecisionReplayReport } from '#shared/contract/replay.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { type Contract, ContractBody } from '#shared/domain/contract.ts';
import { contractSha, headerSha } from '#shared/domain/bundle-id.ts';
import { RunHeader } from '#shared/domain/header.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import { createCandidateCheck } from '#electron/governor/candidate-check.ts';
import { verdictRecord } from '#electron/governor/verdict-record.ts';
import type { ResponseReader } from '#electron/proposers/proposer.ts';
import type { ReplayEvent, ReplayHead, ReplayPage, ReplaySalt, ReplayTransition, Store } from '#electron/store/api.ts';
import { proposerOf } from '../runs/proposers.ts';
import { noSuchRun } from '../runs/run-views.ts';
import { createChainCheck, typeOf } from './chain.ts';
import { createCursor } from './cursor.ts';
import { createFindings, type Findings } from './findings.ts';
import type { ReplayObserver } from './observer.ts';
import { beginReplay, replayGenesis, type Replaying, type ReplayRows, replayResume, replayRound, replayStop } from './replay-round.ts';
import { compareRun } from './replay-run.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type ReplayDeps = {
  readonly store: Pick<
    Store,
    | 'getReplayHead'
    | 'pageReplayEvents'
    | 'pageReplaySalts'
    | 'pageReplayTransitions'
    | 'getStoredVerdict'
    | 'getAncestorVerdicts'
    | 'getManifest'
    | 'getBlob'
  >;
  /** The proposer that a header names; only what it makes of stored responses is used. */
  readonly proposerOf?: (header: RunHeader) => ResponseReader;
  readonly monotonicMs?: () => number;
  readonly observer?: ReplayObserver;
};

/** Work between two turns of the event loop. */
const chunkMs = 12;
// Small enough that taking a page over from a reader's thread is a short turn too.
const eventPage = 1_024;
const saltPage = 768;
const transitionPage = 256;

/**
 * Replays a run as far as it is stored when the replay begins; a round that is under way is left out. Progress, then the report. Throws
 * not_found without the run, and cancelled when `signal` aborts.
 */
export async function* replayDecisions(
  { store, proposerOf: proposer = proposerOf, monotonicMs = () => performance.now(), observer }: ReplayDeps,
  run: RunId,
  signal: AbortSignal,
): AsyncGenerator<DecisionReplayItem, DecisionReplayReport & { readonly lastEvent: Sha }, void> {
  const begun = monotonicMs();
  const head = await store.getReplayHead(run);
  if (head === null) throw noSuchRun(run);
  const findings = createFindings((found) => observer?.finding(found));
  const chain = createChainCheck(findings);
  const declared = readDeclared(head, findings);
  let replaying: Replaying | null = null;
  if (declared !== null) replaying = await begin(store, run, head, { ...declared, findings, chain, proposer, observer });

  if (replaying !== null) {
    observer?.began(replaying);
    const { no } = head;
    const page =
      <T>(read: (input: ReplayPage) => Promise<readonly T[]>, to: number, limit: number) =>
      (after: number): Promise<readonly T[]> =>
        after >= to ? Promise.resolve([]) : read({ no, after, to, limit });
    const rows: ReplayRows = {
      events: createCursor<ReplayEvent>(
        ({ seq }) => seq,
        -1,
        page((input) => store.pageReplayEvents(input), head.events - 1, eventPage),
      ),
      salts: createCursor<ReplaySalt>(
        ({ position }) => position,
        -1,
        page((input) => store.pageReplaySalts(input), head.salts - 1, saltPage),
      ),
      transitions: createCursor<ReplayTransition>(
        ({ n }) => n,
        0,
        page((input) => store.pageReplayTransitions(input), head.transitions, transitionPage),
      ),
    };
    const { events } = rows;
    const state = replaying;
    let slice = monotonicMs();
    const turn = async (): Promise<DecisionReplayItem | null> => {
      if (signal.aborted) throw new RpcError('cancelled', 'the replay was cancelled');
      if (monotonicMs() - slice < chunkMs) return null;
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      slice = monotonicMs();
      return { kind: 'progress', transitions: state.nextN - 1, of: head.transitions };
    };
    await replayGenesis(state, head, rows);
    for (;;) {
      const item = await turn();
      if (item !== null) yield item;
      const [event] = await events.peek(1);
      if (event === undefined) break;
      const type = typeOf(event);
      if (type === 'round') {
        if ((await replayRound(state, head, rows)) === 'open') break;
      } else if (type === 'resume') await replayResume(state, rows);
      else if (type === 'stop') await replayStop(state, rows);
      else {
        findings.mismatch(`event ${event.seq}`, 'type', type, 'round, resume or stop');
        chain.pass(await events.take(1));
      }
    }
    compareRun(state, head);
    observer?.ended(state);
  }
  const { mismatches, missing } = findings.counts;
  const report: DecisionReplayReport = {
    run,
    ok: mismatches === 0 && missing === 0,
    transitions: replaying === null ? 0 : replaying.nextN - 1,
    rounds: replaying === null ? 0 : replaying.nextRound - 1,
    bundles: replaying?.bundles ?? 0,
    events: chain.count(),
    verdicts: replaying?.verdicts ?? 0,
    mismatchCount: mismatches,
    mismatches: [...findings.mismatches],
    missingCount: missing,
    missing: [...findings.missing],
    recorded: { aborted: replaying?.counts.aborted ?? 0, host: replaying?.host ?? 0, ancestors: replaying?.ancestors ?? 0 },
    open: head.open,
    ms: monotonicMs() - begun,
  };
  yield { kind: 'report', report };
  return { ...report, lastEvent: chain.last() };
}

type Declared = { readonly header: RunHeader; readonly contract: Contract };

// The two texts that everything else is held to; each is named by its hash.
function readDeclared(head: ReplayHead, findings: Findings): Declared | null {
  const header = head.header === null ? null : RunHeader.safeParse(jsonOf(head.header));
  if (header?.success !== true) {
    findings.mismatch('header', 'body', head.header, 'a header');
    return null;
  }
  const contract = head.contract === null ? null : ContractBody.safeParse(jsonOf(head.contract.body));
  if (head.contract === null || contract?.success !== true) {
    findings.mismatch('contract', 'body', head.contract?.body, 'a contract');
    return null;
  }
  const { row } = head;
  const text = (column: string) => (typeof row[column] === 'string' ? row[column] : null);
  const sha = contractSha(contract.data);
  findings.compare('header', { sha: text('header_sha') }, { sha: headerSha(header.data) });
  findings.compare(
    'contract',
    { sha: text('contract'), m: head.contract.m, caps: jsonOf(head.contract.caps), in_header: header.data.contract },
    { sha, m: contract.data.obligations.length, caps: contract.data.obligations.map(({ cap }) => cap), in_header: sha },
  );
  return { header: header.data, contract: { ...contract.data, sha } };
}

const jsonOf = (text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

async function begin(
  store: ReplayDeps['store'],
  run: RunId,
  head: ReplayHead,
  parts: Declared & Pick<Replaying, 'findings' | 'chain' | 'observer'> & { readonly proposer: NonNullable<ReplayDeps['proposerOf']> },
): Promise<Replaying | null> {
  const { header, contract, findings, proposer } = parts;
  const lack = (where: string, error: unknown): null => {
    findings.lacks(where, messageOf(error));
    return null;
  };
  let made: Pick<ResponseReader, 'materialise'>;
  try {
    made = proposer(header);
  } catch (error) {
    return lack('proposer', error);
  }
  const bytesOf = async (sha: Sha): Promise<Uint8Array | null> => {
    try {
      const bytes = await store.getBlob(sha);
      if (bytes === null) findings.damaged(`blob ${sha}`, 'it is not stored');
      return bytes;
    } catch (error) {
      findings.damaged(`blob ${sha}`, messageOf(error));
      return null;
    }
  };
  let manifest: Manifest | null;
  try {
    manifest = await store.getManifest(header.seedTree);
  } catch (error) {
    findings.damaged(`tree ${header.seedTree}`, messageOf(error));
    return null;
  }
  if (manifest === null) return lack(`tree ${header.seedTree}`, 'the seed is not stored');
  const seed: TreeFile[] = [];
  for (const { path, mode, sha } of manifest) {
    const bytes = await bytesOf(sha);
    if (bytes !== null) seed.push({ path, mode, bytes });
  }
  const schema = contract.artifact.schema === null ? null : await bytesOf(contract.artifact.schema.sha);
  // What verifications ran on: nothing is recomputed from it, and a replay of the verifier needs it.
  for (const { sha } of contract.verifier.files) await bytesOf(sha);
  const instruction = await bytesOf(contract.instruction);
  // Without its seed or schema no candidate of the run can be made again.
  if (seed.length < manifest.length || (contract.artifact.schema !== null && schema === null)) return null;
  const ancestors = head.branch === null ? [] : await store.getAncestorVerdicts(run);
  if (header.parent !== (head.branch?.id ?? null)) findings.mismatch('header', 'parent', header.parent, head.branch?.id);
  for (const { tree, verdictSha, verdict } of ancestors) {
    const { sha } = verdictRecord(tree, contract.sha, verdict);
    if (sha !== verdictSha) findings.mismatch(`verdict ${verdictSha} of an ancestor`, 'sha', verdictSha, sha);
  }
  return beginReplay({
    run,
    no: head.no,
    store,
    header,
    headerSha: headerSha(header),
    contract,
    seed,
    schema,
    instruction,
    ancestors,
    findings,
    chain: parts.chain,
    observer: parts.observer,
    proposer: made,
    check: createCandidateCheck(contract, schema),
  });
}
