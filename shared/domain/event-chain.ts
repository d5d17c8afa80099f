// The event chain of a run: one canonical JSON line per event, each naming the SHA-256 of the line before it. The bytes of a line are
// stored and exported as they are. Semantics, section 10.
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { canonicalJson } from '../lib/canonical-json.ts';
import { sha256Hex, sha256Text } from '../lib/hash.ts';
import { err, ok, type Result } from '../lib/result.ts';
import { AutoOutput } from './auto-evidence.ts';
import { RegisterRefusal } from './auto-registry.ts';
import { Amounts } from './budget.ts';
import { Count, RunId, Sha } from './ids.ts';
import { Outcome, StopReason, VerdictSource } from './transition.ts';
import { InvalidCode, NoVerdictCode, Rank } from './verdict.ts';

const Positive = z.int().min(1);

/**
 * SHA-256("obj1" + salt + bytes) of something that a public package may withhold (requests, responses, verifier output, notes, excerpts).
 * The salt keeps short content from being guessed.
 */
export const Commitment = Sha;

const DeclareBody = z.strictObject({
  run: RunId,
  header: Sha,
  contract: Sha,
  /** The task's id as its author wrote it. */
  task: z.string().min(1).max(200),
});

/** The first certified bundle, after preflight. */
const GenesisBody = z.strictObject({ bundle: Sha, tree: Sha, rank: Rank, potential: Count, runs: Positive });

const RoundBody = z
  .strictObject({
    round: Positive,
    /** Id of the head bundle that every slot starts from. */
    base: Sha,
    /** `n` numbers the transition; `draw` is the number that, with the header's seed, determines what the slot is asked for. */
    slots: z.array(z.strictObject({ n: Positive, slot: Count, draw: Count })).min(1),
    /** What is reserved for each slot, in the order of `slots`. From here on a crash consumes it. */
    reserved: z.array(Amounts),
  })
  .refine((b) => b.reserved.length === b.slots.length, 'a round has one reservation per slot');

const ProposalBody = z.strictObject({
  n: Positive,
  round: Positive,
  slot: Count,
  request: Commitment.nullable(),
  response: Commitment.nullable(),
  tree: Sha.nullable(),
  /** Ids of the memory entries and hash of the features that the proposer was shown. */
  retrieved: z.array(Sha),
  featuresShown: Sha.nullable(),
});

/** One measurement, of a candidate (`n`), of the base beside it (`n`, `of: 'base'`) or before the first round (`n` = 0). */
const VerdictBody = z.strictObject({
  n: Count,
  of: z.enum(['candidate', 'base', 'seed']),
  tree: Sha.nullable(),
  contract: Sha,
  result: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('ranked'), rank: Rank, stable: z.boolean(), runs: Count }),
    z.strictObject({ kind: z.literal('invalid'), code: InvalidCode }),
    z.strictObject({ kind: z.literal('no_verdict'), code: NoVerdictCode, runs: Count }),
  ]),
  source: VerdictSource,
  /** Of the stored verdict record, which holds messages, details and advisory values. */
  record: Commitment,
  /** One per verifier run that wrote something. */
  outputs: z.array(Commitment),
});

/**
 * A proposer asked for a further automatic command (name and argv, in its words); `refusal` null: it runs on every candidate from this
 * round on.
 */
const RegisterBody = z.strictObject({
  n: Positive,
  round: Positive,
  slot: Count,
  request: Commitment,
  refusal: RegisterRefusal.nullable(),
});

/** What automatic commands said while an attempt was made and about what it came to, in their order. It decided nothing. */
const AutoBody = z.strictObject({
  n: Positive,
  outputs: z.array(z.strictObject({ tree: Sha, at: AutoOutput.shape.at, record: Commitment })).min(1),
});

const DecisionBody = z.strictObject({
  n: Positive,
  round: Positive,
  slot: Count,
  base: Sha,
  outcome: Outcome,
  tree: Sha.nullable(),
  rank: Rank.nullable(),
  /** The bundle that was certified; not null if and only if the outcome is `commit`. */
  bundle: Sha.nullable(),
  duplicateOf: Count.nullable(),
  verdictSource: VerdictSource,
});

/** The head's tree under a new contract: a new era, or (`bundle` null) a failure that suspends the run on its old head. */
const RecertifyBody = z.strictObject({
  from: Sha,
  contract: Sha,
  era: Count,
  tree: Sha,
  rank: Rank.nullable(),
  potential: Count.nullable(),
  bundle: Sha.nullable(),
});

const ResumeBody = z.strictObject({
  /** Id of the head bundle. */
  from: Sha,
  /** Number of the next transition. */
  nextN: Positive,
});

const StopBody = z.strictObject({ reason: StopReason });

const event = <T extends string, B extends z.ZodType>(type: T, body: B) => z.strictObject({ type: z.literal(type), body });

/** The type of an event and the body that belongs to it. */
export const EventBody = z.discriminatedUnion('type', [
  event('declare', DeclareBody),
  event('genesis', GenesisBody),
  event('round', RoundBody),
  event('proposal', ProposalBody),
  event('register', RegisterBody),
  event('verdict', VerdictBody),
  event('auto', AutoBody),
  event('decision', DecisionBody),
  event('recertify', RecertifyBody),
  event('resume', ResumeBody),
  event('stop', StopBody),
]);
export type EventBody = z.infer<typeof EventBody>;

const Envelope = z.strictObject({
  /** Dense from 0. */
  seq: Count,
  /** SHA-256 of the line before; 64 zeros in the first. */
  prev: Sha,
  /** Wall time, UTC with milliseconds; for people, it is in no id. */
  at: z.iso.datetime({ precision: 3 }),
  type: z.string(),
  body: z.unknown(),
});

/** `prev` of the first line. */
export const firstPrev: Sha = '0'.repeat(64);

/** An event as it stands in the chain. */
export type EventRecord = EventBody & { readonly seq: number; readonly prev: Sha; readonly at: string };

const issues = (error: z.ZodError): string =>
  error.issues.map((i) => `${i.path.map(String).join('.') || 'event'}: ${i.message}`).join('; ');

/** Reads one line of a chain; fails with a message when it is not JSON, not an event of a known type, or not in canonical form. */
export function parseEventLine(line: string): Result<EventRecord, string> {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return err('the line is not JSON');
  }
  const envelope = Envelope.safeParse(json);
  if (!envelope.success) return err(issues(envelope.error));
  const { seq, prev, at, type, body } = envelope.data;
  const parsed = EventBody.safeParse({ type, body });
  if (!parsed.success) return err(issues(parsed.error));
  const record: EventRecord = { seq, prev, at, ...parsed.data };
  // Equal only without duplicate keys, other spacing or other spellings of a number: one event has one line.
  if (canonicalJson(record) !== line) return err('the line is not canonical JSON');
  return ok(record);
}

/** The line of one event and its SHA-256, which is `prev` of the next. Throws a ZodError when the record is not a valid event. */
export function eventLine({ seq, prev, at, type, body }: EventRecord): { readonly line: string; readonly sha: Sha } {
  const envelope = Envelope.parse({ seq, prev, at, type, body });
  const checked = EventBody.parse({ type, body });
  const line = canonicalJson({ seq: envelope.seq, prev: envelope.prev, at: envelope.at, ...checked });
  return { line, sha: sha256Text(line) };
}

/**
 * Checks lines from the first on: each a canonical event, `seq` dense from 0, `prev` the SHA-256 of the line before. Returns how many there
 * are and the hash of the last (64 zeros without any), or where the first fault is: `seq` is the position in the chain, from 0.
 */
export function verifyEventChain(
  lines: Iterable<string>,
): Result<{ readonly count: number; readonly last: Sha }, { readonly seq: number; readonly message: string }> {
  let count = 0;
  let last = firstPrev;
  for (const line of lines) {
    const record = parseEventLine(line);
    if (!record.ok) return err({ seq: count, message: record.error });
    if (record.value.seq !== count) return err({ seq: count, message: `the line says seq ${record.value.seq}, its place is ${count}` });
    if (record.value.prev !== last) return err({ seq: count, message: 'prev is not the hash of the line before' });
    last = sha256Text(line);
    count++;
  }
  return ok({ count, last });
}

const Salt = z.string().regex(/^[0-9a-f]{64}$/, 'a salt is 32 bytes in lowercase hex');

/** SHA-256("obj1" + salt + bytes). The salt is 32 bytes, so that salt and content cannot be cut differently; throws a ZodError otherwise. */
export function commitment(saltHex: string, bytes: Uint8Array): Sha {
  const tag = utf8ToBytes('obj1');
  const salt = hexToBytes(Salt.parse(saltHex));
  const message = new Uint8Array(tag.length + salt.length + bytes.length);
  message.set(tag);
  message.set(salt, tag.length);
  message.set(bytes, tag.length + salt.length);
  return sha256Hex(message);
}
