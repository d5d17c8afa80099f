// `pawl runs`, `pawl show`, `pawl stop`: look at runs, end one.
import type { RunSummary } from '#shared/contract/run.ts';
import { exitCodes, type CliIo, type CommonOptions } from './io.ts';
import { ending, readRun, selectionsText, summaryText, transitionsText, writeRunJson } from './run-document.ts';
import { table } from './table.ts';
import { withEngine } from './with-engine.ts';

const readAgain = ['closed', 'unavailable'] as const;

/** All runs, newest first. */
export async function listRuns(io: CliIo, options: CommonOptions): Promise<number> {
  const runs = await withEngine(io, options, readAgain, async ({ client }) => {
    const all: RunSummary[] = [];
    for (;;) {
      const before = all.at(-1)?.id;
      const page = await client.call('run.list', { limit: 200, ...(before === undefined ? {} : { before }) });
      all.push(...page.runs);
      if (!page.more || page.runs.length === 0) return all;
    }
  });
  if (options.json) await io.out(`${JSON.stringify({ runs })}\n`);
  else if (runs.length === 0) await io.out('No runs yet. Start one with: pawl run TASK\n');
  else {
    const rows = runs.map((run) => [
      run.id,
      run.task.id,
      run.status === 'stopped' ? (run.stop ?? 'stopped') : run.status,
      run.transitions,
      run.counts.commit,
      run.genesis === null || run.head === null ? '-' : `${run.genesis.potential} -> ${run.head.potential}`,
      run.startedAt,
    ]);
    await io.out(table([['run', 'task', 'state', 'attempts', 'commits', 'potential', 'started'], ...rows], new Set([3, 4])));
  }
  return exitCodes.ok;
}

/** One run with its transitions. */
export async function showRun(io: CliIo, options: CommonOptions, prefix: string): Promise<number> {
  const facts = await withEngine(io, options, readAgain, async ({ client }) => {
    const { run } = await client.call('run.resolve', { prefix });
    return readRun(client, run);
  });
  if (options.json) await writeRunJson(io, facts);
  else {
    const transitions = transitionsText(facts);
    await io.out(`${summaryText(facts.detail)}${transitions === '' ? '' : `\n${transitions}`}${selectionsText(facts)}`);
  }
  return exitCodes.ok;
}

/** Ends a live run, wherever it lives. */
export async function stopRun(io: CliIo, options: CommonOptions, prefix: string): Promise<number> {
  const id = await withEngine(io, options, ['unavailable'], async ({ client }) => {
    const { run } = await client.call('run.resolve', { prefix });
    await client.call('run.stop', { run });
    return run;
  });
  // The engine may have been that of the command that waited for this run, and be gone with it.
  const summary = await withEngine(io, options, readAgain, ({ client }) => client.call('run.get', { run: id }));
  if (options.json) await io.out(`${JSON.stringify({ id: summary.id, status: summary.status, stop: summary.stop, note: summary.note })}\n`);
  else await io.out(`${summary.id}  ${ending(summary)}\n`);
  return exitCodes.ok;
}
