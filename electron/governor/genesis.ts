// The first transaction of a run: what it is held to, what its seed was measured as, and the genesis bundle if that was a rank.
import { bundleId, headerSha, summaryText } from '#shared/domain/bundle-id.ts';
import type { BundleBody, CertifiedBundle } from '#shared/domain/bundle.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { RunId, Sha } from '#shared/domain/ids.ts';
import { potential, validateRank } from '#shared/domain/rank.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import type { BlobInput, CreateRun, TreeInput } from '#electron/store/api.ts';
import type { Verification } from '#electron/verifiers/api.ts';
import { addVerdictEvent, createEventWriter } from './event-writer.ts';
import type { Stop } from './round-records.ts';
import { verdictRecord } from './verdict-record.ts';

export type GenesisFacts = {
  readonly run: RunId;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly header: RunHeader;
  readonly contract: Contract;
  readonly task: { readonly id: string; readonly title: string; readonly path: string };
  /** What the store has to hold for the whole run: the seed, the verifier's files, the instruction, a schema. */
  readonly blobs: readonly BlobInput[];
  readonly trees: readonly TreeInput[];
  /** The measurement of the seed. */
  readonly seed: Verification;
  readonly salt: () => Uint8Array;
};

/**
 * Builds it. Without a ranked verdict the run is `not_started`: nothing is certified and `note` says why. A seed at zero rank stops the
 * run with `zero_rank` before its first attempt.
 */
export function genesisRecords({ run, at, header, contract, task, blobs, trees, seed, salt }: GenesisFacts): CreateRun {
  const tree = header.seedTree;
  const verdict = checked(seed.verdict, contract);
  const record = verdictRecord(tree, contract.sha, verdict);
  const sha = headerSha(header);
  const writer = createEventWriter(salt);
  const outputs = new Map<Sha, Uint8Array>();
  const named = new Set(seed.runs.flatMap(({ output }) => (output === null ? [] : [output])));
  for (const blob of seed.blobs) if (named.has(blob.sha)) outputs.set(blob.sha, blob.bytes);

  writer.add({ type: 'declare', body: { run, header: sha, contract: contract.sha, task: task.id } });
  addVerdictEvent(writer, { n: 0, of: 'seed', tree, contract: contract.sha, verdict, source: 'fresh', outputs });
  const genesis = verdict.kind === 'ranked' ? genesisBundle(run, header, sha, contract, verdict.rank, record.sha) : null;
  if (genesis !== null) {
    const { id, rank } = genesis;
    writer.add({ type: 'genesis', body: { bundle: id, tree, rank, potential: genesis.potential, runs: Math.max(1, seed.runs.length) } });
  }
  const stop: Stop | null = genesis !== null && genesis.potential === 0 ? { reason: 'zero_rank', note: null } : null;
  if (stop !== null) writer.add({ type: 'stop', body: { reason: stop.reason } });
  return {
    run,
    at,
    header,
    headerSha: sha,
    contract,
    task,
    blobs: [...new Map([...blobs, ...seed.blobs].map((blob) => [blob.sha, blob])).values()],
    trees,
    salts: writer.salts,
    events: writer.events,
    verdict: { sha: record.sha, tree, contract: contract.sha, verdict, runs: seed.runs },
    genesis,
    stop,
    note: genesis === null ? seedNote(verdict) : null,
  };
}

// The same check that the decision makes of every candidate: a verifier service must not be able to certify what no candidate could.
function checked(verdict: Verdict, contract: Contract): Verdict {
  if (verdict.kind !== 'ranked') return verdict;
  const rank = validateRank(verdict.rank, contract.obligations);
  return rank.ok ? verdict : { kind: 'no_verdict', code: 'malformed', message: rank.error, runs: verdict.runs };
}

function seedNote(verdict: Verdict): string {
  const what =
    verdict.kind === 'ranked'
      ? 'is not certified'
      : `${verdict.kind === 'invalid' ? 'is invalid' : 'got no verdict'} (${verdict.code}): ${verdict.message}`;
  return `the seed ${what}`;
}

function genesisBundle(
  run: RunId,
  header: RunHeader,
  sha: Sha,
  contract: Contract,
  rank: readonly number[],
  verdict: Sha,
): CertifiedBundle {
  const after = [...rank];
  const text = summaryText({ changes: [], obligations: contract.obligations, before: null, after, edge: 'genesis' });
  const body: BundleBody = {
    format: 'pawl.bundle/1',
    header: sha,
    era: 0,
    seq: 0,
    edge: 'genesis',
    parent: header.parent,
    contract: contract.sha,
    tree: header.seedTree,
    latent: null,
    rank: after,
    potential: potential(after),
    summary: sha256Text(text),
  };
  return { ...body, id: bundleId(body), run, verdict, summaryText: text, transition: null };
}
