// `pawl audit`: each published rule as held, violated or not checkable, with the records that it was decided from. Never a score.
import type { AuditReport } from '#shared/contract/audit.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { auditStatuses, type AuditRule, type AuditStatus } from '#shared/domain/audit/report.ts';
import { recordsText, recordText } from '#shared/domain/audit/words.ts';
import { clearStep, interruptible, showStep } from './following.ts';
import { exitCodes, plain, report as reportError, type CliIo, type CommonOptions } from './io.ts';
import { table } from './table.ts';
import { withEngine } from './with-engine.ts';

/** Exit code 0 when no rule is violated, 3 when one is, 1 when there is no audit (also when it was ended by Ctrl-C). */
export async function audit(io: CliIo, options: CommonOptions, prefix: string): Promise<number> {
  let found: AuditReport;
  try {
    found = await withEngine(io, options, ['unavailable'], (engine) =>
      interruptible(io, async (signal) => {
        const { run } = await engine.client.call('run.resolve', { prefix });
        for await (const item of engine.client.stream('audit.run', { run }, { window: 8, signal })) {
          if (item.kind === 'progress') showStep(io, `${item.transitions}/${item.of} transitions`);
          else {
            clearStep(io);
            return item.report;
          }
        }
        clearStep(io);
        throw new RpcError('cancelled', 'the audit was ended before its report');
      }),
    );
  } catch (error) {
    // Not what an ended run exits with: here 3 says that a rule is violated.
    if (!(error instanceof RpcError) || error.code !== 'cancelled') throw error;
    await reportError(io, options.json, error);
    return exitCodes.failed;
  }
  await io.out(options.json ? `${JSON.stringify(found)}\n` : auditText(found));
  return found.rules.some(({ status }) => status === 'violated') ? exitCodes.stopped : exitCodes.ok;
}

const statusWords: Readonly<Record<AuditStatus, string>> = { held: 'held', violated: 'violated', not_checkable: 'not checkable' };
const columns = 100;
const indent = ' '.repeat(4);
const shownAtMost = 12;

/** The report for people, a block a rule. */
function auditText(found: AuditReport): string {
  const { run, transitions, bundles, events, open, rules, ms } = found;
  const head = table([
    ['run', run],
    ['recomputed', `${transitions} transitions, ${bundles} bundles, ${events} events`],
    ...(open ? [['open', 'a round is under way and not in the report']] : []),
    ['took', `${Math.round(ms)} ms`],
  ]);
  const counted = auditStatuses.map((status) => `${statusWords[status]} ${rules.filter((rule) => rule.status === status).length}`);
  return `${head}\n${rules.map(ruleText).join('\n')}\n${counted.join(', ')} of ${rules.length} rules. This is no score: the rules are not added up.\n`;
}

function ruleText({ rule, title, status, reason, records, recordCount }: AuditRule): string {
  const shown = records.slice(0, shownAtMost);
  const more = recordCount - shown.length;
  const rest = more > 0 ? [`and ${more} more; --json lists up to a hundred`] : [];
  // A record with something the matter takes a line of its own.
  const noted = shown.some(({ note }) => note !== null);
  const listed = noted
    ? [...shown.map((record) => (record.note === null ? recordText(record) : `${recordText(record)}: ${record.note}`)), ...rest]
    : shown.length === 0
      ? []
      : [[recordsText(shown), ...rest].join(', ')];
  return [
    `${String(rule).padStart(2)}  ${statusWords[status].padEnd(13)}  ${title}`,
    ...wrapped(reason, indent),
    ...listed.flatMap((line) => wrapped(line, `${indent}- `)),
  ]
    .map((line) => `${plain(line)}\n`)
    .join('');
}

/** Lines of at most 100 columns where words allow it; the first begins with `lead`, the rest stand under its text. */
function wrapped(text: string, lead: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.replaceAll(/\s+/g, ' ').trim().split(' ')) {
    if (line !== '' && lead.length + line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((part, i) => `${i === 0 ? lead : ' '.repeat(lead.length)}${part}`);
}
