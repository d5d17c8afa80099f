// Runs that the real governor and store make, with edits that quote what they replace, and their audits.
import { auditStored, type AuditDeps } from '#electron/core/audit/audit-run.ts';
import { materialiseSearch, searchResponse } from '#electron/proposers/search.ts';
import type { ProposeContext, Proposer } from '#electron/proposers/proposer.ts';
import type { AuditReport } from '#shared/contract/audit.ts';
import type { AuditRule, AuditStatus } from '#shared/domain/audit/report.ts';
import type { RunId } from '#shared/domain/ids.ts';
import { ensure } from '#shared/lib/assert.ts';
import { createScriptedProposer, type Scripted } from '../../support/engine/scripted-proposer.ts';
import { State } from '../../support/engine/scripted-verifier.ts';
import { freshReads } from '../replay/support.ts';

/** An answer that a scripted search writes down as edits; `misquote` replaces what the base does not have. */
export type Edited = Exclude<Scripted, { readonly files: unknown }> | 'misquote';

const file = 'state.json';
const textOf = (base: ProposeContext['base']): string =>
  new TextDecoder().decode(
    ensure(
      base.find(({ path }) => path === file),
      file,
    ).bytes,
  );

/** The state that a context starts from, as ranks. */
export const rankOf = (context: ProposeContext): readonly number[] => {
  const state = State.parse(JSON.parse(textOf(context.base)));
  return 'rank' in state ? state.rank : [];
};

/** The scripted proposer, whose answers are edits of the built-in search: what is replaced is quoted. */
export function createEditingProposer(script: (context: ProposeContext) => Edited): Proposer {
  const plain = createScriptedProposer((context) => {
    const answer = script(context);
    return answer === 'misquote' ? 'base' : answer;
  });
  return {
    ...plain,
    propose: async (context, signal) => {
      const result = await plain.propose(context, signal);
      const answer = script(context);
      if (answer === 'garbage' || answer === 'silence') return result;
      if (answer === 'base') return { ...result, response: searchResponse({ kind: 'none', reason: 'nothing to change' }) };
      const base = textOf(context.base);
      const old = answer === 'misquote' ? `${base}?` : base;
      const text = answer === 'misquote' ? base : JSON.stringify(answer.state);
      const edits = [{ op: 'json-replace' as const, path: file, at: [''], splices: [{ start: 0, end: base.length, old, new: text }] }];
      return { ...result, response: searchResponse({ kind: 'edits', edits, files: [] }) };
    },
    materialise: materialiseSearch,
    registrations: () => [],
  };
}

/** Audits a run over reads that have cached nothing, so that an edit behind the store's back is seen. */
export async function auditAt(dataDir: string, run: RunId, proposer: Pick<Proposer, 'materialise'>): Promise<AuditReport> {
  const reads = freshReads(dataDir);
  try {
    return await auditOf(reads.store, run, proposer);
  } finally {
    reads.close();
  }
}

export async function auditOf(store: AuditDeps['store'], run: RunId, proposer: Pick<Proposer, 'materialise'>): Promise<AuditReport> {
  for await (const item of auditStored({ store, proposerOf: () => proposer }, run, new AbortController().signal))
    if (item.kind === 'report') return item.report;
  throw new Error('an audit without a report');
}

export const ruleIn = ({ rules }: AuditReport, rule: number): AuditRule => ensure(rules[rule - 1], `rule ${rule}`);

/** The numbers of the rules that have a status. */
export const rulesWith = ({ rules }: AuditReport, status: AuditStatus): number[] =>
  rules.flatMap((rule) => (rule.status === status ? [rule.rule] : []));
