// The reasons of an audit in English words: for the command line, for documents, and for the page in English.
import { assertNever } from '../../lib/assert.ts';
import { type BudgetDimension, dimensionWords } from '../budget.ts';
import type { AuditReason, AuditRecord, RecordKind } from './report.ts';

type Int = (value: number) => string;

const listed = (dimensions: readonly BudgetDimension[]): string => dimensions.map((dimension) => dimensionWords[dimension]).join(', ');

/** One sentence or a few. `int` writes a number. */
export function reasonText(reason: AuditReason, int: Int = String): string {
  const count = (n: number, one: string, other = `${one}s`): string => `${int(n)} ${n === 1 ? one : other}`;
  const verb = (n: number, one: string, other: string): string => (n === 1 ? one : other);
  switch (reason.code) {
    case 'differs':
      return `${count(reason.fields, 'stored field')} of its records ${verb(reason.fields, 'is', 'are')} not what the sources give.`;
    case 'missing':
      return `${count(reason.records, 'record')} that would be needed ${verb(reason.records, 'is', 'are')} not stored.`;
    case 'not_recomputed':
      return 'Nothing could be recomputed: the header, the contract or the seed cannot be read.';
    case 'no_attempts':
      return 'No attempt was made.';
    case 'no_commits':
      return 'Nothing was committed, so no change was kept that could be looked at.';
    case 'request_pinned':
      return `Header, contract and instruction are what their hashes say, and each of ${count(reason.requests, 'request')} names what they pin.${reason.withMemory > 0 ? ` For ${int(reason.withMemory)} of them entries of the exploration memory were shown beside the instruction.` : ''}`;
    case 'request_other':
      return `${count(reason.requests, 'request')} ${verb(reason.requests, 'asks', 'ask')} for something else than the header, the contract and the round had pinned.`;
    case 'request_unnamed':
      return `${count(reason.requests, 'request')} ${verb(reason.requests, 'does', 'do')} not name the state that ${verb(reason.requests, 'it starts', 'they start')} from.`;
    case 'repeats_triggered':
      return `Of ${count(reason.executions, 'execution')} of the verifier, ${int(reason.afterFault)} repeated one that had ended in a fault, ${int(reason.confirming)} measured a would-be commit again and ${int(reason.ofBase)} its base beside it. ${count(reason.resent, 'request')} ${verb(reason.resent, 'was', 'were')} sent again after the server had failed. Each follows from the one before.`;
    case 'untriggered':
      return `${count(reason.executions, 'execution')} of the verifier and ${count(reason.requests, 'request')} were asked for by nothing.`;
    case 'nothing_repeated':
      return `There was no occasion: of ${count(reason.executions, 'execution')} of the verifier none repeated another.`;
    case 'edits_read':
      return [
        reason.quoting > 0
          ? `${count(reason.quoting, 'response')} ${verb(reason.quoting, 'quotes', 'quote')} the bytes that ${verb(reason.quoting, 'it replaces', 'they replace')}, and the base has them there.`
          : '',
        reason.shown > 0
          ? `${count(reason.shown, 'response')} ${verb(reason.shown, 'changes', 'change')} only files that stood whole in the request.`
          : '',
        'There is no other response with a change.',
      ]
        .filter((part) => part !== '')
        .join(' ');
    case 'edits_unread':
      return `${count(reason.responses, 'response')} ${verb(reason.responses, 'changes', 'change')} what the base does not have: ${verb(reason.responses, 'it was', 'they were')} written without reading it.`;
    case 'reads_not_recorded':
      return `${count(reason.whole, 'response')} ${verb(reason.whole, 'holds', 'hold')} whole files, and what was read before is not recorded; ${int(reason.others)} change what they quote or were shown.`;
    case 'reads_elsewhere':
      return `${count(reason.responses, 'response')} ${verb(reason.responses, 'was', 'were')} recorded in another run, on the states of that run.`;
    case 'no_edits':
      return 'No response with a change came.';
    case 'smallest_kept':
      return `In ${count(reason.rounds, 'round')} another candidate had the rank of the committed one; none of them changes fewer lines. For the rest of ${count(reason.commits, 'commit')} there was nothing of the same rank to compare with.`;
    case 'larger_kept':
      return `${count(reason.commits, 'commit')} ${verb(reason.commits, 'changes', 'change')} more lines than a candidate of the same round with the same rank. Equal ranks are settled by the hash of the tree, not by size.`;
    case 'no_rivals':
      return `None of ${count(reason.commits, 'commit')} had a rival of the same rank in its round, and whether a smaller change would have done is not recorded.`;
    case 'repairs_local':
      return `Each of ${count(reason.commits, 'commit')} left part of every file that it changed.`;
    case 'rewritten_whole':
      return `${count(reason.files, 'file')} ${verb(reason.files, 'was', 'were')} rewritten whole by a commit.`;
    case 'advisory_apart':
      return `${count(reason.keys, 'advisory value')} of the contract ${verb(reason.keys, 'was', 'were')} measured in ${count(reason.verdicts, 'verdict')} and ${verb(reason.keys, 'is', 'are')} in no coordinate of a rank.`;
    case 'advisory_protected':
      return `The contract lists the same keys as advisory and as obligations: ${reason.keys.join(', ')}.`;
    case 'advisory_unmeasured':
      return `The contract names ${count(reason.keys, 'advisory value')}, and no verdict holds one.`;
    case 'no_advisory':
      return `The contract names no advisory value. Whether one of its ${count(reason.obligations, 'obligation')} is cosmetic is not recorded: what it lists is what its author protects.`;
    case 'verdicts_from_reports':
      return `${count(reason.ranked, 'rank')} ${verb(reason.ranked, 'follows', 'follow')} from attested reports, and ${count(reason.without, 'attempt')} without a rank ${verb(reason.without, 'stands', 'stand')} as such and never as 0.${reason.host > 0 ? ` How ${count(reason.host, 'execution')} ended is taken as recorded: the machine ended ${verb(reason.host, 'it', 'them')}.` : ''}${reason.ancestors > 0 ? ` ${count(reason.ancestors, 'verdict')} of the runs that it branched from ${verb(reason.ancestors, 'is', 'are')} taken as recorded.` : ''}`;
    case 'nothing_verified':
      return 'Nothing was verified.';
    case 'decisions_recomputed':
      return `The outcomes, relations, selections and features of ${count(reason.attempts, 'attempt')} in ${count(reason.rounds, 'round')} were computed again from reports and are the stored ones.`;
    case 'nothing_decided':
      return `All ${count(reason.aborted, 'attempt')} ended before ${verb(reason.aborted, 'it was', 'they were')} decided.`;
    case 'budget_kept':
      return `The budget stands in the header that was hashed before attempt 1, and no limit (${listed(reason.limited)}) was exceeded.${reason.overshoot.length > 0 ? ` Reported beyond a reservation, outside the limits: ${listed(reason.overshoot)}.` : ''}`;
    case 'budget_exceeded':
      return `More was used than the header allows: ${listed(reason.dimensions)}.`;
    case 'tokens_not_metered':
      return 'The header limits tokens, and the tokens of this proposer were not metered. All other limits were kept.';
    case 'executions_accounted':
      return `Each of ${count(reason.executions, 'execution')} of the verifier names the tree that it was for, and is named, with its output, by the verdict that used it. The proposer calls no tools.`;
    case 'tools_not_recorded':
      return `What the proposer called is not recorded. ${count(reason.executions, 'execution')} of the verifier ${verb(reason.executions, 'is', 'are')} accounted for.`;
    case 'no_executions':
      return 'No tool was used and no verifier executed.';
    case 'chain_whole':
      return `The hash chain of ${count(reason.events, 'event')} and the chain of ${count(reason.bundles, 'certified bundle')} are whole${reason.resumes > 0 ? `, through ${count(reason.resumes, 'resumption')}` : ''}.`;
    case 'natives_whole':
      return `${count(reason.objects, 'request, response, report or output', 'requests, responses, reports and outputs')} ${verb(reason.objects, 'is', 'are')} kept as ${verb(reason.objects, 'it', 'they')} came, byte for byte under hash and commitment.`;
    case 'no_natives':
      return 'No request, response, report or output was stored.';
    case 'evidence_whole':
      return `One chain of ${count(reason.bundles, 'bundle')} ends in the head, and each of ${count(reason.rejected, 'rejected attempt')} has its entry in the exploration memory; every tree is there.`;
    case 'nothing_certified':
      return 'Nothing is certified: the seed got no verdict.';
    case 'core_only':
      return `The contract is one list of ${count(reason.obligations, 'obligation')} and ${count(reason.advisory, 'advisory value')}, with no overlay; header, verdicts and bundles name it.`;
    case 'overlay_named':
      return `The contract is the one before it and named overlays: ${int(reason.quarantined)} quarantined, ${int(reason.median)} by the median.`;
    case 'overlay_unnamed':
      return 'The contract differs from the one that it names as its predecessor by more than quarantine and median.';
    case 'previous_not_stored':
      return `The contract is version ${int(reason.version)}, and the version before it is not stored here: what the overlay changed cannot be recomputed.`;
    default:
      return assertNever(reason, 'reason of an audit');
  }
}

const kindWords: Readonly<Record<RecordKind, readonly [one: string, several: string]>> = {
  header: ['header', 'headers'],
  contract: ['contract', 'contracts'],
  instruction: ['instruction', 'instructions'],
  proposer: ['proposer', 'proposers'],
  run: ['row of the run', 'rows of the run'],
  seed: ['measurement of the seed', 'measurements of the seed'],
  round: ['round', 'rounds'],
  transition: ['transition', 'transitions'],
  request: ['request', 'requests'],
  response: ['response', 'responses'],
  verdict: ['verdict of transition', 'verdicts of transitions'],
  verifier_run: ['verifier runs of transition', 'verifier runs of transitions'],
  memory: ['memory of transition', 'memory of transitions'],
  bundle: ['bundle', 'bundles'],
  event: ['event', 'events'],
  salt: ['salt', 'salts'],
  blob: ['object', 'objects'],
  tree: ['tree', 'trees'],
  other: ['', ''],
};
const shortHash = 12;

/** The kind and numbers of a record or a span: `requests 1 to 240`, `header`. A hash that it is known by stands beside it. */
export function recordName({ kind, from, to }: AuditRecord, int: Int = String): string {
  const [one, several] = kindWords[kind];
  return from === null || to === null ? one : from === to ? `${one} ${int(from)}` : `${several} ${int(from)} to ${int(to)}`;
}

/** The name of a record or a span with its hash, without its note: `header 3f0c88e21a5b`. */
export function recordText(record: AuditRecord): string {
  const { kind, id } = record;
  // A name that is no hash (kind `other`) is whole.
  const known = id === null ? [] : [kind === 'other' ? id : id.slice(0, shortHash)];
  return [recordName(record), ...known].filter((part) => part !== '').join(' ');
}

/** Records in their order; single records of one kind that follow each other and go by numbers alone stand together. */
export function groupRecords(records: readonly AuditRecord[]): AuditRecord[][] {
  const groups: AuditRecord[][] = [];
  const single = ({ from, to, id }: AuditRecord): boolean => from !== null && from === to && id === null;
  for (const record of records) {
    const last = groups.at(-1);
    const before = last?.at(-1);
    if (last !== undefined && before?.kind === record.kind && single(before) && single(record)) last.push(record);
    else groups.push([record]);
  }
  return groups;
}

/** What several records of one kind are called: `transitions`. */
export function kindName(kind: RecordKind): string {
  return kindWords[kind][1];
}

/** Several names in one text: `header 3f0c88e21a5b, transitions 4, 5, 12`. */
export function recordsText(records: readonly AuditRecord[]): string {
  return groupRecords(records)
    .map((group) => {
      const [first] = group;
      if (first === undefined || group.length === 1) return group.map(recordText).join('');
      return `${kindName(first.kind)} ${group.map(({ from }) => String(from)).join(', ')}`;
    })
    .join(', ');
}
