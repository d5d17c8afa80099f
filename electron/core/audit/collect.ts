// The facts of an audit, gathered while a decision replay goes through a run. Everything that has to be computed from a round's files is
// computed while they are there; what is kept of an attempt is small.
import type { Measurement } from '#electron/governor/measure.ts';
import type { SlotRecord } from '#electron/governor/round-records.ts';
import { quotedEdits } from '#electron/proposers/search.ts';
import { fileChanges, rewrittenFiles } from '#electron/verifiers/changes.ts';
import type { AuditAnswer, AuditAttempt, AuditFacts } from '#shared/domain/audit/facts.ts';
import { createFindingBook } from '#shared/domain/audit/findings.ts';
import { type AuditFinding, objectIn } from '#shared/domain/audit/places.ts';
import { checkRequest } from '#shared/domain/audit/request.ts';
import { noAmounts } from '#shared/domain/budget-ledger.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { ReplayedRound, ReplayObserver } from '../replay/observer.ts';

export type Collector = ReplayObserver & {
  /** The contract that the run's own names as the one before it; null without one. */
  readonly previous: () => Sha | null;
  /** Once the replay has ended. */
  facts(rest: Pick<AuditFacts, 'previous' | 'bundles' | 'events' | 'host' | 'ancestors'>): AuditFacts;
};

export function createCollector(): Collector {
  const findings = createFindingBook();
  const attempts: AuditAttempt[] = [];
  // What an object is to the run may be known only after it was found to be damaged.
  const objects: AuditFinding[] = [];
  const treeObjects = new Set<Sha>();
  let declared: { readonly header: RunHeader; readonly contract: Contract } | null = null;
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
    began: ({ header, contract }) => {
      declared = { header, contract };
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
  { header, contract }: { readonly header: RunHeader; readonly contract: Contract },
): AuditAttempt[] {
  const compared = slots !== null && slots.filter(contends).length > 1;
  return proposed.map(({ planned, proposal }, i): AuditAttempt => {
    const { n, draw, slot } = planned;
    const made = slots?.[i] ?? null;
    // An attempt that was aborted before its round was proposed has no request, one whose request is missing has no bytes.
    const request =
      (stored.get(n)?.request ?? null) === null || proposal.request.length === 0
        ? null
        : checkRequest(proposal.request, { base: baseTree, instruction: contract.instruction, seed: header.seed, n, draw, slot });
    const candidate = made?.attempt.candidate ?? null;
    const outcome = made?.final.outcome ?? 'aborted';
    return {
      n,
      round,
      outcome,
      rank: made?.final.verdict?.kind === 'ranked' ? made.final.verdict.rank : null,
      request,
      answer: made === null ? { kind: 'none' } : answerOf(made),
      executions: made === null ? 0 : runsIn(made.measurements) + runsIn(made.baseMeasurements),
      afterFault: made === null ? 0 : retriesIn(made.measurements) + retriesIn(made.baseMeasurements),
      confirming: Math.max(0, (made?.measurements.length ?? 0) - 1),
      ofBase: made?.baseMeasurements.length ?? 0,
      lines:
        compared && made !== null && candidate !== null && contends(made)
          ? linesChanged(fileChanges(baseFiles, candidate.files).changes)
          : null,
      rewritten: outcome === 'commit' && candidate !== null ? rewrittenFiles(baseFiles, candidate.files) : [],
      advisory:
        made?.final.verdict?.kind === 'ranked' && made.final.verdictSource === 'fresh' ? Object.keys(made.final.verdict.advisory) : [],
    };
  });
}

const contends = ({ final }: SlotRecord): boolean => final.outcome === 'commit' || final.outcome === 'not_selected';

// Bytes and lines cannot be added up.
function linesChanged(changes: ReturnType<typeof fileChanges>['changes']): number | null {
  return changes.some(({ binary }) => binary) ? null : changes.reduce((sum, { added, removed }) => sum + added + removed, 0);
}

function answerOf({ attempt: { proposal, candidate, standing } }: SlotRecord): AuditAnswer {
  const { response } = proposal;
  if (response === null) return { kind: 'none' };
  if (standing.kind === 'invalid' && standing.verdict.code === 'apply_failed') return { kind: 'unread', message: standing.verdict.message };
  if (candidate === null) return { kind: 'none' };
  const edits = quotedEdits(response);
  return edits === null ? { kind: 'whole' } : { kind: 'quoting', edits };
}
