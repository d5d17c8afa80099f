// From the stored executions of a verifier back to measurements: each report is judged again, and what the store says of it is compared.
import { z } from 'zod';
import { aggregateVerdicts } from '#shared/domain/aggregate.ts';
import type { Contract } from '#shared/domain/contract.ts';
import { isFault } from '#shared/domain/executions.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { NoVerdictCode, type RunRef, SandboxRecord, Verdict } from '#shared/domain/verdict.ts';
import type { Measurement } from '#electron/governor/measure.ts';
import { verdictRecord } from '#electron/governor/verdict-record.ts';
import type { StoredVerdict, StoredVerifierRun, VerifierRunInput } from '#electron/store/api.ts';
import { judgeReport, type Judgement } from '#electron/verifiers/judge.ts';
import { noExecution } from '#electron/verifiers/runner-contract.ts';
import { parseStrictJson } from '#electron/verifiers/strict-json.ts';
import type { Findings } from './findings.ts';

const Members = z.record(z.string(), z.unknown());

/** A verdict's row as a verdict; null where it is none any more. */
export function verdictOfRow({ kind, code, body, ranks }: StoredVerdict): Verdict | null {
  try {
    const rest = Members.parse(JSON.parse(body));
    const parsed = Verdict.safeParse(ranks === null ? { kind, code, ...rest } : { kind, rank: ranks.rank, ...rest });
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

const refsOf = (verdict: Verdict | null): readonly RunRef[] => (verdict === null || verdict.kind === 'invalid' ? [] : verdict.runs);

export type RecordedVerdict = {
  readonly contract: Contract;
  /** The tree that was measured, as it was recomputed. */
  readonly tree: Sha;
  readonly stored: StoredVerdict;
  /** Where it belongs, in words: `transition 17`, `the seed`. */
  readonly where: string;
  /** Bytes of what the executions wrote, by sha. */
  readonly outputs: ReadonlyMap<Sha, Uint8Array>;
};

export type Recorded = {
  readonly measurements: readonly Measurement[];
  /** Executions whose end is a finding of the host, taken as recorded. */
  readonly host: number;
};

/**
 * The measurements behind a stored verdict, in their order. Executions that ended in a fault of ours belong to the measurement that
 * repeated them. Names what differs on the way; a report that is not stored is named as missing, and then (only then) the stored verdict
 * stands in for it, so that the rest of the run can be looked at.
 */
export function readMeasurements(input: RecordedVerdict, findings: Findings): Recorded {
  const { contract, tree, stored, where, outputs } = input;
  const asWritten = refsAsWritten(stored);
  const said = asWritten === null ? verdictOfRow(stored) : null;
  const refs = asWritten ?? refsOf(said);
  if (stored.runs.length === 0) {
    if (refs.length > 0) findings.lacks(where, `the executions behind its verdict (${refs.length}) are not stored`);
    return { measurements: said === null ? [] : [alone(said)], host: said?.kind === 'no_verdict' ? 1 : 0 };
  }
  const names = stored.runs.map((_, i) => `verifier run ${i + 1} of ${where}`);
  const rows = asWritten === null && refs.length === stored.runs.length ? compareRefs(input, said, refs, names, findings) : stored.runs;
  if (refs.length !== stored.runs.length) findings.mismatch(where, 'executions', refs.length, stored.runs.length);

  const measurements: Measurement[] = [];
  let host = 0;
  let group: { run: VerifierRunInput; ref: RunRef; judgement: Judgement }[] = [];
  const close = (): void => {
    const last = group.at(-1);
    if (last === undefined) return;
    const runs = group.map(({ ref }) => ref);
    const verdict: Verdict = last.judgement.kind === 'ranked' ? { ...last.judgement, runs, stable: true } : { ...last.judgement, runs };
    const kept = new Set(group.flatMap(({ run }) => (run.output === null ? [] : [run.output])));
    measurements.push({
      verdict,
      runs: group.map(({ run }) => run),
      blobs: [...kept].map((sha) => ({ sha, bytes: outputs.get(sha) ?? new Uint8Array() })),
      ms: Math.ceil(group.reduce((sum, { run }) => sum + run.durationMs, 0)),
      retries: group.length - 1,
      aborted: false,
    });
    group = [];
  };
  for (const [i, row] of rows.entries()) {
    const name = names[i] ?? where;
    if (row.tree !== tree) findings.mismatch(name, 'tree', row.tree, tree);
    const single = rows.length === 1 ? (asWritten === null ? said : 'ranked') : null;
    const expected = single === null ? null : single === 'ranked' ? single : resultOf(single);
    const { judgement, recorded } = judgeAgain({ contract, tree, stored, row, name, said, expected }, findings);
    if (recorded) host++;
    group.push({ run: runOf(row), ref: refs[i] ?? { id: row.id, durationMs: row.duration_ms, output: row.output }, judgement });
    if (judgement.kind === 'ranked' || !isFault(judgement.code)) close();
  }
  close();
  return { measurements, host };
}

// The sandbox of the first execution of a verdict; it is flat, so that its text ends with the first brace.
const sandboxOfFirst = /^\{"runs":\[\{"id":"[^"]*","durationMs":[^",]*,"output":(?:null|"[^"]*"),"sandbox":(\{[^{}]*\})\}/;

// Most verdicts are ranked and name their executions as their rows do, all in one sandbox or none: then the body does not have to be read.
// Null for any other.
function refsAsWritten({ kind, body, runs }: StoredVerdict): readonly RunRef[] | null {
  if (kind !== 'ranked' || runs.length === 0) return null;
  const said = sandboxOfFirst.exec(body)?.[1];
  const boxed = said === undefined ? {} : sandboxIn(said);
  if (boxed === null) return null;
  const refs = runs.map(({ id, duration_ms: durationMs, output }) => ({ id, durationMs, output, ...boxed }));
  return body.startsWith(`{"runs":${JSON.stringify(refs)},"stable":`) ? refs : null;
}

const sandboxIn = (text: string): Pick<RunRef, 'sandbox'> | null => {
  const parsed = parseStrictJson(new TextEncoder().encode(text));
  const sandbox = parsed.ok ? SandboxRecord.safeParse(parsed.value) : null;
  return sandbox?.success === true ? { sandbox: sandbox.data } : null;
};

const alone = (verdict: Verdict): Measurement => ({ verdict, runs: [], blobs: [], ms: 0, retries: 0, aborted: false });

const resultOf = (verdict: Verdict): string => (verdict.kind === 'ranked' ? 'ranked' : verdict.code);

const runOf = (row: StoredVerifierRun): VerifierRunInput => ({
  id: row.id,
  nonce: row.nonce,
  tree: row.tree,
  startedAt: row.started_at,
  durationMs: row.duration_ms,
  exitCode: row.exit_code,
  signal: row.signal,
  report: row.report,
  output: row.output,
  result: row.result,
});

// The verdict names its executions, and its hash stands in the event chain: where the two disagree and the verdict is what its hash says,
// the execution's row is wrong.
function compareRefs(
  { stored }: RecordedVerdict,
  said: Verdict | null,
  refs: readonly RunRef[],
  names: readonly string[],
  findings: Findings,
): readonly StoredVerifierRun[] {
  const differs = stored.runs.some(({ id, duration_ms, output }, i) => {
    const ref = refs[i];
    return ref?.id !== id || ref.durationMs !== duration_ms || ref.output !== output;
  });
  if (!differs || said === null || verdictRecord(stored.tree, stored.contract, said).sha !== stored.sha) return stored.runs;
  return stored.runs.map((row, i) => {
    const ref = refs[i];
    if (ref === undefined) return row;
    const { id, durationMs, output } = ref;
    findings.compare(
      names[i] ?? '',
      { id: row.id, duration_ms: row.duration_ms, output: row.output },
      { id, duration_ms: durationMs, output },
    );
    return { ...row, id, duration_ms: durationMs, output };
  });
}

type Execution = {
  readonly contract: Contract;
  readonly tree: Sha;
  readonly stored: StoredVerdict;
  readonly row: StoredVerifierRun;
  readonly name: string;
  /** The stored verdict; null also where it did not have to be read. */
  readonly said: Verdict | null;
  /** What the row has to say, where the verdict is of this execution alone. */
  readonly expected: string | null;
};

// How an execution ended is stored only as far as its exit code and signal go. A report that was read is judged again; that the host ended
// an execution, or found files changed, is an observation that nothing can repeat.
const fromReport = new Set(['ranked', 'malformed', 'attestation']);

function judgeAgain(execution: Execution, findings: Findings): { judgement: Judgement; recorded: boolean } {
  const { contract, tree, stored, row, name, said, expected } = execution;
  const pure = contract.verifier.kind === 'pure-js';
  const message = said?.kind === 'no_verdict' ? said.message : '';
  const result = expected ?? row.result;
  if (row.result !== result) findings.mismatch(name, 'result', row.result, result);
  if (row.damage !== null && row.report !== null) findings.damaged(`blob ${row.report}`, row.damage);
  if (pure && (row.exit_code !== null || row.signal !== null))
    findings.compare(name, { exit_code: row.exit_code, signal: row.signal }, { exit_code: null, signal: null });

  // A verifier that writes its own report exits 0; the report of an adapter says how its tool ended.
  const exit = contract.verifier.adapter === null ? 0 : exitInReport(row);

  const judge = (exitCode: number | null, signal: string | null): Judgement =>
    judgeReport({
      contract,
      nonce: row.nonce,
      tree,
      execution: {
        ...noExecution,
        startedAt: row.started_at,
        durationMs: row.duration_ms,
        ending: pure ? 'returned' : 'exited',
        exitCode,
        signal,
        report: row.reportBytes,
      },
    });

  if (fromReport.has(result)) {
    if (row.reportBytes === null && (row.report !== null || result !== 'malformed')) {
      findings.lacks(name, row.report === null ? 'its report is not stored' : `its report ${row.report} cannot be read`);
      return { judgement: standIn(said ?? verdictOfRow(stored), result, message), recorded: false };
    }
    if (!pure && (row.exit_code !== exit || row.signal !== null))
      findings.compare(name, { exit_code: row.exit_code, signal: row.signal }, { exit_code: exit, signal: null });
    const judged = judge(exit, null);
    const found = judged.kind === 'ranked' ? 'ranked' : judged.code;
    if (found === 'attestation' && result !== 'attestation') nameEcho(row, name, findings);
    else if (found !== result) findings.mismatch(name, 'result', result, found);
    // Why a report was not read at all (a link, too long) is not stored, only that it was not.
    return { judgement: row.reportBytes === null && judged.kind === 'no_verdict' ? { ...judged, message } : judged, recorded: false };
  }
  const code = NoVerdictCode.safeParse(result);
  if (!code.success) {
    findings.mismatch(name, 'result', result, null);
    return { judgement: standIn(said, 'infra', message), recorded: true };
  }
  if (isFault(code.data) && row.reportBytes !== null && (pure || (row.exit_code === exit && row.signal === null))) {
    // A complete report of this very execution: it did not fail, whatever its row says.
    const judged = judge(exit, null);
    if (judged.kind === 'ranked' && expected === null) {
      findings.mismatch(name, 'result', result, 'ranked');
      return { judgement: judged, recorded: false };
    }
  }
  if (
    !pure &&
    contract.verifier.adapter === null &&
    code.data !== 'crash' &&
    code.data !== 'tampered' &&
    code.data !== 'verifier_timeout' &&
    row.exit_code !== null &&
    row.exit_code !== 0
  )
    findings.mismatch(name, 'result', result, 'crash');
  return { judgement: { kind: 'no_verdict', code: code.data, message }, recorded: true };
}

function standIn(said: Verdict | null, result: string, message: string): Judgement {
  if (said?.kind === 'ranked') return { kind: 'ranked', rank: said.rank, advisory: said.advisory, details: said.details };
  const code = NoVerdictCode.safeParse(result);
  return { kind: 'no_verdict', code: code.success ? code.data : 'infra', message };
}

const Adapted = z.object({ adapter: z.object({ exitCode: z.int().nullable() }) });

/** The exit code in the report of an adapter; that of the row where the report says none. */
function exitInReport(row: StoredVerifierRun): number | null {
  const parsed = row.reportBytes === null ? null : parseStrictJson(row.reportBytes);
  const report = parsed?.ok === true ? Adapted.safeParse(parsed.value) : null;
  return report?.success === true ? report.data.adapter.exitCode : row.exit_code;
}

const Echo = z.object({ nonce: z.unknown(), tree: z.unknown(), contract: z.unknown() }).partial();

// The report repeats the nonce that it was given: where the row has another one, either the row or the report is not of this execution.
function nameEcho(row: StoredVerifierRun, name: string, findings: Findings): void {
  const parsed = row.reportBytes === null ? null : parseStrictJson(row.reportBytes);
  const echo = parsed?.ok === true ? Echo.safeParse(parsed.value) : null;
  const nonce = echo?.success === true && typeof echo.data.nonce === 'string' ? echo.data.nonce : null;
  if (nonce !== row.nonce) findings.mismatch(name, 'nonce', row.nonce, nonce);
  else findings.mismatch(name, 'report', row.report, 'a report of this tree under this contract');
}

/** Several measurements as one verdict, as the loop makes it. Null without any. */
export function verdictOfMeasurements(contract: Contract, measurements: readonly Measurement[]): Verdict | null {
  return measurements.length === 0
    ? null
    : aggregateVerdicts(
        contract,
        measurements.map(({ verdict }) => verdict),
      );
}
