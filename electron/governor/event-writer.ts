// Collects the events of one transaction, with the salts behind their commitments.
import { createHash } from 'node:crypto';
import { assertNever } from '#shared/lib/assert.ts';
import type { EventBody } from '#shared/domain/event-chain.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { Verdict } from '#shared/domain/verdict.ts';
import type { SaltInput } from '#electron/store/api.ts';
import { verdictRecord } from './verdict-record.ts';

export type EventWriter = {
  readonly events: EventBody[];
  readonly salts: SaltInput[];
  add(event: EventBody): void;
  /** A fresh commitment to `bytes`, whose own hash is `object`. */
  commit(object: Sha, bytes: Uint8Array): Sha;
};

/** `salt` gives 32 fresh random bytes. */
export function createEventWriter(salt: () => Uint8Array): EventWriter {
  const events: EventBody[] = [];
  const salts: SaltInput[] = [];
  return {
    events,
    salts,
    add: (event) => {
      events.push(event);
    },
    commit: (object, bytes) => {
      const fresh = salt();
      const sha = commitmentOf(fresh, bytes);
      salts.push({ commitment: sha, salt: fresh, object });
      return sha;
    },
  };
}

/** As `commitment` of shared/domain does, with the platform's hash: four of them stand before every commit. The tests compare the two. */
export function commitmentOf(salt: Uint8Array, bytes: Uint8Array): Sha {
  if (salt.length !== 32) throw new RangeError(`a salt has 32 bytes, this one ${salt.length}`);
  return createHash('sha256').update('obj1').update(salt).update(bytes).digest('hex');
}

export type MeasuredFacts = {
  readonly n: number;
  readonly of: 'candidate' | 'base' | 'seed';
  readonly tree: Sha | null;
  readonly contract: Sha;
  readonly verdict: Verdict;
  readonly source: 'fresh' | 'cache';
  /** Bytes of what the verifier wrote, by sha. */
  readonly outputs: ReadonlyMap<Sha, Uint8Array>;
};

/** The event `verdict`: the result plainly, the whole record and the outputs as commitments. */
export function addVerdictEvent(writer: EventWriter, facts: MeasuredFacts): void {
  const { n, of, tree, contract, verdict, source, outputs } = facts;
  const record = verdictRecord(tree, contract, verdict);
  writer.add({
    type: 'verdict',
    body: {
      n,
      of,
      tree,
      contract,
      result: resultOf(verdict),
      source,
      record: writer.commit(record.sha, record.bytes),
      outputs: [...outputs].map(([sha, bytes]) => writer.commit(sha, bytes)),
    },
  });
}

function resultOf(verdict: Verdict) {
  switch (verdict.kind) {
    case 'ranked':
      return { kind: verdict.kind, rank: verdict.rank, stable: verdict.stable, runs: verdict.runs.length };
    case 'invalid':
      return { kind: verdict.kind, code: verdict.code };
    case 'no_verdict':
      return { kind: verdict.kind, code: verdict.code, runs: verdict.runs.length };
    default:
      return assertNever(verdict, 'verdict');
  }
}
