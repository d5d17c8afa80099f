// The facts of an audit, gathered while a decision replay goes through a run. Everything that has to be computed from a round's files is
// computed while they are there; what is kept of an attempt is small.
import type { Measurement } from '#electron/governor/measure.ts';
import type { SlotRecord } from '#electron/governor/round-records.ts';
import { resentRequests } from '#electron/proposers/openai.ts';
import { quotesBase } from '#electron/proposers/search.ts';
import { fileChanges, rewrittenFiles } from '#electron/verifiers/changes.ts';
import type { AuditAnswer, AuditAttempt, AuditFacts } from '#shared/domain/audit/facts.ts';
import { createFindingBook } from '#shared/domain/audit/findings.ts';
import { type AuditFinding, objectIn } from '#shared/domain/audit/places.ts';
import { checkRequest, promptIn } from '#shared/domain/audit/request.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { ReplayedRound, ReplayObserver } from '../replay/observer.ts';

export type Collector = ReplayObserver & {
  /** The contract that the run's own names as the one before it; null without one. */
  readonly previous: () => Sha | null;
  /** Once the replay has ended. */
  facts(rest: Pick<AuditFacts, 'previous' | 'bundles' | 'events' | 'host' | 'ancestors'>): AuditFacts;
};

type Declared = { readonly header: RunHeader; readonly contract: Contract; readonly instructionText: string | null };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const textOf = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
};

export function createCollector(): Collector {
  const findings = createFindingBook();
  const attempts: AuditAttempt[] = [];
  // What an object is to the run may be known only after it was found to be damaged.
  const objects: AuditFinding[] = [];
  const treeObjects = new Set<Sha>();
  let declared: Declared | null = null;
  let seed: AuditFacts['seed'] = null;
  let sums = { used: noAmounts(), overshoot: noAmounts() };
  let rounds = 0;
  let resumes = 0;
  let natives = 0;

  const countRuns = (measurements: readonly Measurement[]): void => {
    for (const { runs } of measurements)
      for (const { report, output } of runs) natives += (report === null ? 0 : 1) + (output === null ? 0 : 1);
  };

  return {
    finding: (found) => {
      if (objectIn(found) === null) findings.add(found);
      else objects.push(found);
    },
    began: ({ header, contract, instruction }) => {
      declared = { header, contract, instructionText: instruction === null ? null : textOf(instruction) };
    },
    seed: (measurements) => {
      seed = {
        executions: measurements.reduce((sum, { runs }) => sum + runs.length, 0),
        afterFault: retriesIn(measurements),
        ranked: measurements.length > 0 && measurements.every(({ verdict }) => verdict.kind === 'ranked'),
      };
      countRuns(measurements);
    },
    round: (round) => {
      if (declared === null) return;
      rounds++;
      // Damage to the objects of a candidate's tree is named with its transition; without a tree, what is named there are request and response.
      for (const row of round.stored.values())
        if (row.tree !== null) for (const { where } of row.damage) treeObjects.add(where.replace(/^blob /, ''));
      for (const proposed of round.proposed)
        natives += (proposed.proposal.request.length > 0 ? 1 : 0) + (proposed.proposal.response === null ? 0 : 1);
      for (const { measurements, baseMeasurements } of round.slots ?? []) countRuns([...measurements, ...baseMeasurements]);
      attempts.push(...attemptsOf(round, declared));
    },
    resumed: () => {
      resumes++;
    },
    ended: ({ used, overshoot }) => {
      sums = { used, overshoot };
    },
    previous: () => declared?.contract.previous ?? null,
    facts: (rest) => {
      const instruction = declared?.contract.instruction;
      const own = new Set(declared?.contract.verifier.files.map(({ sha }) => sha));
      for (const found of objects) {
        const sha = objectIn(found);
        const ofTree = sha !== null && (treeObjects.has(sha) || own.has(sha) || sha === declared?.contract.artifact.schema?.sha);
        findings.add(found, sha === instruction ? 'instruction' : ofTree || declared === null ? 'tree' : 'native');
      }
      return { declared, findings, attempts, seed, ...sums, rounds, resumes, natives, ...rest };
    },
  };
}

const retriesIn = (measurements: readonly Measurement[]): number => measurements.reduce((sum, { retries }) => sum + retries, 0);
const runsIn = (measurements: readonly Measurement[]): number => measurements.reduce((sum, { runs }) => sum + runs.length, 0);

function attemptsOf(
  { round, baseTree, baseFiles, proposed, slots, stored }: ReplayedRound,
  { header: { seed }, contract: { instruction }, instructionText }: Declared,
): AuditAttempt[] {
  const compared = slots !== null && slots.filter(contends).length > 1;
  return proposed.map(({ planned: { n, draw, slot }, proposal, retrieved }, i): AuditAttempt => {
    const made = slots?.[i] ?? null;
    // An attempt that was aborted before its round was proposed has no request, one whose request is missing has no bytes.
    const asked = (stored.get(n)?.request ?? null) !== null && proposal.request.length > 0;
    const prompt = made === null ? null : promptIn(proposal.request);
    const resent = prompt === null || proposal.response === null ? null : resentRequests(proposal.response);
    const common = {
      n,
      round,
      request: asked ? checkRequest(proposal.request, { base: baseTree, instruction, instructionText, seed, n, draw, slot }) : null,
      retrieved: retrieved.length,
      resent: resent?.resent ?? 0,
      resentFreely: resent?.freely ?? 0,
    };
    if (made === null) return { ...common, ...nothing };
    const { final, measurements, baseMeasurements, attempt } = made;
    const { candidate } = attempt;
    const { verdict } = final;
    return {
      ...common,
      outcome: final.outcome,
      rank: verdict?.kind === 'ranked' ? verdict.rank : null,
      answer: answerOf(made, prompt, baseFiles),
      executions: runsIn(measurements) + runsIn(baseMeasurements),
      afterFault: retriesIn(measurements) + retriesIn(baseMeasurements),
      confirming: Math.max(0, measurements.length - 1),
      ofBase: baseMeasurements.length,
      lines: compared && candidate !== null && contends(made) ? linesChanged(fileChanges(baseFiles, candidate.files).changes) : null,
      rewritten: final.outcome === 'commit' && candidate !== null ? rewrittenFiles(baseFiles, candidate.files) : [],
      advisory: verdict?.kind === 'ranked' && final.verdictSource === 'fresh' ? Object.keys(verdict.advisory) : [],
    };
  });
}

/** An attempt of a round that was not decided. */
const nothing = {
  outcome: 'aborted',
  rank: null,
  answer: { kind: 'none' },
  executions: 0,
  afterFault: 0,
  confirming: 0,
  ofBase: 0,
  lines: null,
  rewritten: [],
  advisory: [],
} as const;

const contends = ({ final }: SlotRecord): boolean => final.outcome === 'commit' || final.outcome === 'not_selected';

// Bytes and lines cannot be added up.
function linesChanged(changes: ReturnType<typeof fileChanges>['changes']): number | null {
  return changes.some(({ binary }) => binary) ? null : changes.reduce((sum, { added, removed }) => sum + added + removed, 0);
}

function answerOf({ attempt }: SlotRecord, prompt: string | null, baseFiles: readonly TreeFile[]): AuditAnswer {
  const { proposal, candidate, standing } = attempt;
  if (proposal.response === null) return { kind: 'none' };
  if (prompt !== null) return candidate === null ? { kind: 'none' } : shownOf(prompt, baseFiles, candidate.files);
  const quoting = quotesBase(proposal.response);
  if (quoting && standing.kind === 'invalid' && standing.verdict.code === 'apply_failed')
    return { kind: 'unread', message: standing.verdict.message };
  return candidate === null ? { kind: 'none' } : { kind: quoting ? 'quoting' : 'whole' };
}

/** Whether the files of the base that a model changed stood in what it was told. */
function shownOf(prompt: string, baseFiles: readonly TreeFile[], files: readonly TreeFile[]): AuditAnswer {
  const before = new Map(baseFiles.map(({ path, bytes }) => [path, bytes]));
  for (const { path, status } of fileChanges(baseFiles, files).changes) {
    const bytes = before.get(path);
    if (bytes === undefined || status === 'mode') continue;
    const text = textOf(bytes);
    if (text === null || !prompt.includes(text)) return { kind: 'unread', message: `${path} did not stand in the request` };
  }
  return { kind: 'shown' };
}
