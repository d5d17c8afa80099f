// `pawl propose`: one candidate that a person wrote, as files. It is verified and decided like every other attempt.
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { RunDetail, TransitionDetail } from '#shared/contract/run.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { explainOutcome, type ObligationChange, type OutcomeReason } from '#shared/domain/reason.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import { writableMatcher } from '#shared/domain/writable.ts';
import { assertNever, ensure } from '#shared/lib/assert.ts';
import { compareUtf8 } from '#shared/lib/text.ts';
import { folderLimits, readFolder, readOne } from '#electron/core/tasks/read-folder.ts';
import { exitCodes, plain, UsageError, type CliIo, type CommonOptions } from './io.ts';
import { ending } from './run-document.ts';
import { withInterrupts } from './run.ts';
import { table } from './table.ts';
import { withEngine } from './with-engine.ts';

export type ProposeOptions = {
  /** Absolute path of a folder that holds the whole candidate. */
  readonly tree?: string | undefined;
  /** `PATH=FILE`: a path of the artifact, and the absolute path of the file that holds its new text. */
  readonly files: readonly { readonly path: string; readonly from: string }[];
  /** Paths of the artifact that the candidate does not have. */
  readonly remove: readonly string[];
};

type Edit = { readonly path: string; readonly text: string | null };

/** Exit code 0 when the candidate was committed, 3 when it was recorded and not committed, 1 when there was no attempt. */
export function propose(io: CliIo, options: CommonOptions, prefix: string, given: ProposeOptions): Promise<number> {
  if (given.tree !== undefined && given.files.length + given.remove.length > 0)
    throw new UsageError('--tree is the whole candidate; --file and --remove change the head, so one of the two ways', '--tree');
  if (given.tree === undefined && given.files.length + given.remove.length === 0)
    throw new UsageError('nothing to propose: give --tree DIR, or --file PATH=FILE and --remove PATH', '--tree');
  return withInterrupts(io, (interrupts) =>
    withEngine(io, options, ['unavailable'], async ({ client }, begun) => {
      const { run } = await client.call('run.resolve', { prefix });
      const { head, contractBody } = await client.call('run.get', { run });
      if (head === null)
        throw new RpcError('conflict', `${run} was never started, so there is no head to propose on; "pawl show ${run}" says why`);
      const base = await client.call('run.bundle', { run, seq: head.seq });
      const edits = given.tree === undefined ? await editsOf(given) : await differences(io, given.tree, base.files);
      refuseUnwritable(contractBody, edits);
      if (edits.length === 0)
        throw new RpcError('bad_input', `${given.tree} holds exactly the files of bundle ${head.seq}, the head: nothing to propose`, {
          field: '--tree',
        });
      io.err(
        `Proposing ${edits.map((edit) => `${edit.text === null ? '-' : ''}${plain(edit.path)}`).join(' ')} on bundle ${head.seq} of ${run}\n`,
      );
      const unlisten = interrupts.onFirst(() => {
        io.err('\nStopping; the attempt is aborted unless it is decided already. Ctrl-C again quits at once.\n');
        client.call('run.stop', { run }).catch(() => {});
      });
      begun();
      const { n, stop } = await client.call('run.propose', { run, base: head.seq, files: edits });
      unlisten();
      const made = await client.call('run.transition', { run, n });
      const after = await client.call('run.get', { run });
      const reason = explainOutcome({
        obligations: contractBody.obligations,
        before: made.baseRank,
        after: made.rank,
        outcome: made.transition.outcome,
      });
      if (options.json) await io.out(`${JSON.stringify(documentOf(run, made, after, reason))}\n`);
      else await io.out(textOf(made, after, reason));
      if (stop === 'user') io.err(`The run stands stopped; "pawl resume ${run}" goes on.\n`);
      return made.transition.outcome === 'commit' ? exitCodes.ok : exitCodes.stopped;
    }),
  );
}

async function editsOf({ files, remove }: ProposeOptions): Promise<Edit[]> {
  const edits: Edit[] = remove.map((removed) => ({ path: removed, text: null }));
  for (const { path: at, from } of files) {
    const read = await readOne(path.dirname(from), path.basename(from), folderLimits.bytes);
    if (!read.ok) throw new RpcError('bad_input', `${from} ${read.error.message}`, { file: from, field: '--file' });
    edits.push({ path: at, text: textIn(read.value, from) });
  }
  const twice = edits.find(({ path: at }, i) => edits.findIndex((other) => other.path === at) !== i);
  if (twice !== undefined) throw new UsageError(`${twice.path} is named twice`, '--file');
  return edits;
}

/** What a folder changes in a tree. Modes are not compared by content: a person proposes text. */
async function differences(io: CliIo, folder: string, base: Manifest): Promise<Edit[]> {
  const name = path.basename(folder);
  const { files, problems } = await readFolder(path.dirname(folder), name);
  const [problem] = problems;
  if (problem !== undefined) {
    const where = path.join(path.dirname(folder), problem.file);
    throw new RpcError('bad_input', `${where} ${problem.message}; nothing was proposed`, { file: where, field: '--tree' });
  }
  const found = new Map(files.map((file) => [file.path.slice(name.length + 1), file]));
  const known = new Map(base.map((file) => [file.path, file]));
  const edits: Edit[] = base.filter((file) => !found.has(file.path)).map((file) => ({ path: file.path, text: null }));
  for (const [at, file] of found) {
    const before = known.get(at);
    if (before?.sha === createHash('sha256').update(file.bytes).digest('hex')) {
      if (before.mode !== file.mode && process.platform !== 'win32')
        io.err(`${plain(at)}: only its permission to be executed differs, which is not proposed\n`);
      continue;
    }
    edits.push({ path: at, text: textIn(file, path.join(folder, at)) });
  }
  return edits.sort((a, b) => compareUtf8(a.path, b.path));
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textIn({ bytes }: TreeFile, file: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new RpcError('bad_input', `${file} is not UTF-8 text, and people propose text; a command can propose any bytes`, { file });
  }
}

// Said before anything is proposed, since an attempt is charged whatever comes of it. The engine holds to the same rule by itself.
function refuseUnwritable({ artifact }: RunDetail['contractBody'], edits: readonly Edit[]): void {
  const isWritable = writableMatcher(artifact);
  const refused = edits.filter((edit) => !isWritable(edit.path)).map((edit) => JSON.stringify(edit.path));
  if (refused.length === 0) return;
  const shown = refused.length > 5 ? `${refused.slice(0, 5).join(', ')} and ${refused.length - 5} more` : refused.join(', ');
  throw new RpcError('bad_input', `a candidate may not write ${shown}; writable is ${artifact.writable.join(', ')}. Nothing was proposed`, {
    field: 'artifact.writable',
  });
}

const list = (changes: readonly ObligationChange[]): string =>
  changes.map(({ key, before, after }) => `${key} from ${before} to ${after}`).join(', ');

/** Why the attempt got its outcome, in a sentence. */
function sentence({ verdict, transition }: TransitionDetail, { outcome, improved, worsened }: OutcomeReason): string {
  const said = verdict !== null && verdict.kind !== 'ranked' ? `${verdict.code}: ${verdict.message}` : 'there was nothing to measure';
  switch (outcome) {
    case 'commit':
      return `improved ${list(improved)}; nothing got worse`;
    case 'tie':
      return 'every obligation kept its value; only strict progress is kept';
    case 'regression':
      return `worse: ${list(worsened)}; nothing improved`;
    case 'incomparable':
      return `improved ${list(improved)}, but worse: ${list(worsened)}; a gain never buys a loss`;
    case 'not_selected':
      return `improved ${list(improved)}, but another candidate of the same round came first`;
    case 'duplicate':
      return transition.duplicateOf === 0
        ? 'it is the certified state itself'
        : `it has exactly the files of transition ${transition.duplicateOf}`;
    case 'unstable':
      return 'measured again, the verifier did not repeat its answer';
    case 'invalid':
      return `not measured: ${said}`;
    case 'no_verdict':
      return `the verifier gave no answer: ${said}`;
    case 'aborted':
      return 'the run ended before it was decided';
    default:
      return assertNever(outcome, 'outcome');
  }
}

function textOf(made: TransitionDetail, after: RunDetail, reason: OutcomeReason): string {
  const head = ensure(after.head, 'head of a run that was proposed to');
  return table([
    ['transition', made.transition.n],
    ['outcome', made.transition.outcome],
    ['reason', sentence(made, reason)],
    ['head', `bundle ${head.seq}, potential ${head.potential}`],
    ['state', ending(after)],
  ]);
}

function documentOf(run: string, made: TransitionDetail, after: RunDetail, reason: OutcomeReason) {
  const { n, outcome, verdictSource } = made.transition;
  const { relation, improved, worsened, unchanged } = reason;
  return {
    run,
    n,
    outcome,
    reason: sentence(made, reason),
    relation,
    improved: improved.map(({ key, before, after: value }) => ({ key, before, after: value })),
    worsened: worsened.map(({ key, before, after: value }) => ({ key, before, after: value })),
    unchanged,
    verdict:
      made.verdict === null || made.verdict.kind === 'ranked'
        ? null
        : { kind: made.verdict.kind, code: made.verdict.code, message: made.verdict.message },
    verdictSource,
    rank: made.rank,
    bundle: made.bundle === null ? null : { seq: made.bundle.seq, id: made.bundle.id },
    status: after.status,
    stop: after.stop,
    head: after.head,
  };
}
