// From an execution of a verifier to its verdict (semantics.md, section 3). Pure. It fails closed: whatever is not a complete, well-formed
// report of this very execution is no verdict, and absent is never zero.
import { z } from 'zod';
import type { Contract } from '#shared/domain/contract.ts';
import { Sha } from '#shared/domain/ids.ts';
import { NoVerdictCode, type RunRef, type Verdict } from '#shared/domain/verdict.ts';
import { assertNever } from '#shared/lib/assert.ts';
import { truncateUtf8, utf8Length } from '#shared/lib/text.ts';
import type { Execution } from './runner-contract.ts';
import { parseStrictJson } from './strict-json.ts';

/** Longest text that a verifier may say about one obligation, in bytes of UTF-8; the rest is cut off. */
export const maxDetailBytes = 4_096;

export type JudgeInput = {
  readonly contract: Pick<Contract, 'sha' | 'obligations' | 'advisory' | 'verifier'>;
  readonly nonce: string;
  readonly tree: Sha;
  readonly execution: Execution;
};

/** A verdict without its references to runs, which the caller adds. */
export type Judgement =
  | {
      readonly kind: 'ranked';
      readonly rank: number[];
      readonly advisory: Record<string, number>;
      readonly details: Record<string, string>;
    }
  | { readonly kind: 'no_verdict'; readonly code: NoVerdictCode; readonly message: string };

const none = (code: NoVerdictCode, message: string): Judgement => ({ kind: 'no_verdict', code, message });
const malformed = (message: string): Judgement => none('malformed', `the verifier's report is malformed: ${message}`);

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own member: a key such as `constructor` must not find what every object inherits. */
const member = (object: Fields, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);

const shown = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};

const name = (key: string): string => JSON.stringify(key.length > 200 ? `${key.slice(0, 200)}…` : key);

const reportFields = ['nonce', 'tree', 'contract', 'values', 'advisory', 'details'];
/** What the runner writes for an adapter, beside or instead of values. */
const adapterFields = [...reportFields, 'adapter', 'problem'];

const AdapterNote = z.strictObject({ name: z.string(), exitCode: z.nullable(z.int()), report: z.nullable(Sha) });
const AdapterProblem = z.strictObject({ code: NoVerdictCode, message: z.string() });

/**
 * Judges one execution. How it ended comes first, then whether files were changed, then the exit code (any but 0 is a crash even beside a
 * complete report), then the report: one JSON object, the echo of nonce, tree and contract, and for every obligation an integer from 0 to
 * its cap. `aborted` and `infra` say nothing about the candidate; a timeout does where its code runs.
 */
export function judgeReport(input: JudgeInput): Judgement {
  const { contract, execution } = input;
  const { timeoutsMs, limits } = contract.verifier;
  const because = execution.message === '' ? '' : `: ${execution.message}`;
  switch (execution.ending) {
    case 'aborted':
      return none('aborted', 'the verification was stopped before it ended');
    case 'infra':
      return none('infra', `the verifier could not be run${because}`);
    case 'setup_timeout':
      return none('setup_timeout', `laying out the files took longer than ${timeoutsMs.setup} ms (timeouts_ms.setup)`);
    case 'timeout':
      return judgeTimeout(input);
    case 'output':
      return none('crash', `the verifier wrote more than ${limits.outputKb} KB of output (limits.output_kb) and was ended`);
    case 'out_of_memory':
      return none('crash', `the verifier used more than ${limits.memoryMb} MB of memory (limits.memory_mb)`);
    case 'threw':
      return none('crash', `the verifier failed${because}`);
    case 'exited':
    case 'returned':
      break;
    default:
      return assertNever(execution.ending, 'ending');
  }
  if (execution.tampered.length > 0) return changedFiles(execution);
  if (execution.ending === 'exited') {
    if (execution.signal !== null) return none('crash', `the verifier was ended by ${execution.signal}${because}`);
    // An adapter has held its tool's exit code against what the tool reported.
    if (execution.exitCode !== 0 && contract.verifier.adapter === null) {
      return none(
        'crash',
        `the verifier ended with exit code ${execution.exitCode}; a verifier that writes its own report exits 0 whatever it found`,
      );
    }
  }
  if (execution.reportProblem !== null) return malformed(execution.reportProblem);
  if ((execution.report === null || execution.report.length === 0) && contract.verifier.adapter !== null)
    return none('infra', `the adapter ${contract.verifier.adapter} has made no report${because}`);
  if (execution.report === null || execution.report.length === 0)
    return malformed('there is none; write one JSON object to the file that PAWL_REPORT names');
  const parsed = parseStrictJson(execution.report);
  if (!parsed.ok) return malformed(parsed.error);
  if (!isObject(parsed.value)) return malformed(`it is ${shown(parsed.value)} and not a JSON object`);
  return judgeFields(input, parsed.value);
}

// Where candidate code runs, being slow is its fault (semantics.md, section 3, rule 4): nothing counts as reached, since a report that was
// cut short is none, and every obligation takes its cap, unless one of them says that a timeout leaves it without a verdict.
function judgeTimeout({ contract: { obligations, verifier }, execution }: JudgeInput): Judgement {
  const took = `took longer than ${verifier.timeoutsMs.run} ms (timeouts_ms.run) and was ended`;
  if (!verifier.runsCandidate || obligations.some(({ onCandidateTimeout }) => onCandidateTimeout === 'no_verdict'))
    return none('verifier_timeout', `the verifier ${took}`);
  if (execution.tampered.length > 0) return changedFiles(execution);
  return {
    kind: 'ranked',
    rank: obligations.map(({ cap }) => cap),
    advisory: {},
    details: Object.fromEntries(obligations.map(({ key }) => [key, `not reached: the candidate ${took}`])),
  };
}

const changedFiles = ({ tampered }: Execution): Judgement =>
  none('tampered', `files that must stay as they are were changed during the verification: ${tampered.slice(0, 5).map(name).join(', ')}`);

function judgeFields({ contract, nonce, tree, execution }: JudgeInput, report: Fields): Judgement {
  const echo = { nonce, tree, contract: contract.sha };
  for (const [field, expected] of Object.entries(echo)) {
    const found = member(report, field);
    if (found !== expected) {
      return none(
        'attestation',
        `the report's ${field} is ${found === undefined ? 'missing' : shown(found)}; it must repeat the ${field} of this verification`,
      );
    }
  }
  const allowed = contract.verifier.adapter === null ? reportFields : adapterFields;
  for (const field of Object.keys(report)) {
    if (!allowed.includes(field)) return malformed(`it has the unknown field ${name(field)}; allowed are ${allowed.join(', ')}`);
  }
  const stopped = contract.verifier.adapter === null ? null : judgeAdapter(contract.verifier.adapter, execution.exitCode, report);
  if (stopped !== null) return stopped;
  const values = member(report, 'values');
  if (!isObject(values)) return malformed('"values" must be an object with an integer for every obligation');

  const obligations = new Set(contract.obligations.map(({ key }) => key));
  const advisoryKeys = new Set(contract.advisory.map(({ key }) => key));
  // An obligation that was made advisory (quarantine) is still reported as a value: the verifier does not know of the choice.
  const reported = Object.keys(values).filter((key) => !obligations.has(key) && advisoryKeys.has(key));
  for (const key of Object.keys(values)) {
    if (!obligations.has(key) && !advisoryKeys.has(key)) return malformed(`values has the unknown obligation ${name(key)}`);
  }
  const rank: number[] = [];
  for (const { key, cap, missing } of contract.obligations) {
    if (!Object.hasOwn(values, key)) {
      if (missing === 'malformed') return malformed(`values has no ${name(key)}`);
      rank.push(cap);
      continue;
    }
    const value = values[key];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
      return malformed(`values.${key} is ${shown(value)}; it must be an integer from 0 to ${cap}`);
    }
    if (value > cap) return malformed(`values.${key} is ${value}, above its cap of ${cap}`);
    // JSON's -0 is 0.
    rank.push(value === 0 ? 0 : value);
  }

  const advisory: Record<string, number> = {};
  const givenAdvisory = member(report, 'advisory') ?? {};
  if (!isObject(givenAdvisory)) return malformed('"advisory" must be an object of numbers');
  const twice = reported.find((key) => Object.hasOwn(givenAdvisory, key));
  if (twice !== undefined) return malformed(`${name(twice)} stands both in values and in advisory`);
  for (const [key, value] of [...Object.entries(givenAdvisory), ...reported.map((key) => [key, values[key]] as const)]) {
    if (!advisoryKeys.has(key)) return malformed(`advisory has the unknown key ${name(key)}`);
    // An integer beyond 2^53 reads differently elsewhere and has no canonical form.
    if (typeof value !== 'number' || !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      return malformed(`advisory.${key} is ${shown(value)}; it must be a finite number`);
    }
    advisory[key] = value === 0 ? 0 : value;
  }

  const details: Record<string, string> = {};
  const givenDetails = member(report, 'details') ?? {};
  if (!isObject(givenDetails)) return malformed('"details" must be an object of texts');
  for (const [key, value] of Object.entries(givenDetails)) {
    if (!obligations.has(key) && !advisoryKeys.has(key)) return malformed(`details has the unknown key ${name(key)}`);
    if (typeof value !== 'string') return malformed(`details.${key} is ${shown(value)}; it must be a text`);
    // Shown and stored, never compared: half a surrogate pair becomes U+FFFD, what is too long is cut.
    const text = value.toWellFormed();
    details[key] = utf8Length(text) > maxDetailBytes ? `${truncateUtf8(text, maxDetailBytes - 3)}…` : text;
  }
  return { kind: 'ranked', rank, advisory, details };
}

/** What keeps the report of an adapter from being one of values; null when nothing does. */
function judgeAdapter(adapter: string, exitCode: number | null, report: Fields): Judgement | null {
  const note = AdapterNote.safeParse(member(report, 'adapter'));
  if (!note.success || note.data.name !== adapter) return none('attestation', `the report is not one of the adapter ${adapter}`);
  if (note.data.exitCode !== exitCode)
    return none('attestation', `the report is of a tool that ended with exit code ${note.data.exitCode}, not ${exitCode}`);
  const given = member(report, 'problem');
  if (given === undefined) return null;
  const problem = AdapterProblem.safeParse(given);
  return problem.success
    ? none(problem.data.code, problem.data.message.toWellFormed().slice(0, 2_000))
    : malformed('"problem" must be a code and a message');
}

/** The verdict of one execution: a judgement with the reference to its run. One run says nothing about stability, so it counts as stable. */
export function verdictOf(judgement: Judgement, run: RunRef): Verdict {
  if (judgement.kind === 'ranked') return { ...judgement, runs: [run], stable: true };
  return { ...judgement, runs: [run] };
}
