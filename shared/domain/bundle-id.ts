// Ids of the hashed records, and the text of a bundle's summary. Equal histories have equal ids in every run and on every machine.
import type { Json } from '../lib/canonical-json.ts';
import { hashJson } from '../lib/hash.ts';
import { BundleBody } from './bundle.ts';
import { ContractBody } from './contract.ts';
import { RunHeader } from './header.ts';
import type { Sha } from './ids.ts';
import type { FileChange } from './memory.ts';
import type { Obligation } from './obligation.ts';
import { potential } from './rank.ts';
import type { Rank } from './verdict.ts';

const bundleFields = Object.keys(BundleBody.shape);
const contractFields = Object.keys(ContractBody.shape);
const headerFields = Object.keys(RunHeader.shape);
// Absent in most headers and contracts, and no part of their hash then (FORMATS.md).
const optionalHeaderFields = ['unsandboxed', 'experimentalSandbox'];
const optionalContractFields = ['autoAllow', 'crosscheck'];

// Only the fields of the body, so that a stored record with more columns (a CertifiedBundle, a Contract with its sha) has the same id.
const hashFields = (record: Readonly<Record<string, Json>>, fields: readonly string[], optional: readonly string[] = []): Sha => {
  const body: Record<string, Json> = {};
  for (const field of fields) {
    const value = record[field];
    if (value === undefined && optional.includes(field)) continue;
    if (value === undefined) throw new Error(`a record without the field "${field}" has no id`);
    body[field] = value;
  }
  return hashJson(body);
};

/** Id of a bundle: SHA-256 of the RFC 8785 JSON of its body. Columns beside the body (run, verdict, transition, text) do not count. */
export function bundleId(body: BundleBody): Sha {
  return hashFields(body, bundleFields);
}

/** Name of a contract: SHA-256 of the RFC 8785 JSON of its body (a `sha` beside it does not count). */
export function contractSha(body: ContractBody): Sha {
  return hashFields(body, contractFields, optionalContractFields);
}

/** Name of what a run is: SHA-256 of the RFC 8785 JSON of its header. */
export function headerSha(header: RunHeader): Sha {
  return hashFields(header, headerFields, optionalHeaderFields);
}

export interface SummaryFacts {
  readonly changes: readonly FileChange[];
  /** In coordinate order. */
  readonly obligations: readonly Obligation[];
  /** The parent's rank; null for a genesis and across a change of contract, where ranks are not comparable. */
  readonly before: Rank | null;
  readonly after: Rank;
  readonly edge: 'genesis' | 'commit' | 'recertify';
}

const listed = 100;

const list = (lines: readonly string[], what: string): string[] =>
  lines.length <= listed ? [...lines] : [...lines.slice(0, listed), `- and ${lines.length - listed} more ${what}`];

const changeLine = ({ path, status, binary, added, removed }: FileChange): string =>
  `- ${status} ${JSON.stringify(path)}${status === 'mode' ? '' : `, +${added} -${removed} ${binary ? 'bytes' : 'lines'}`}`;

/**
 * The summary of a bundle, made of facts only and the same for equal facts: ranks, obligations that changed, files that changed. It may
 * be shown to a proposer, so obligations that are not fully visible are counted and not named. Paths stand as JSON strings and cannot
 * imitate other lines. Throws when a rank does not fit the obligations.
 */
export function summaryText({ changes, obligations, before, after, edge }: SummaryFacts): string {
  for (const rank of before === null ? [after] : [before, after]) {
    if (rank.length !== obligations.length)
      throw new RangeError(`summary: a rank has ${rank.length} coordinates, the contract ${obligations.length}`);
  }
  const open = after.filter((r) => r > 0).length;
  const named: string[] = [];
  let unnamed = 0;
  let discharged = 0;
  for (const [i, { key, visibility }] of obligations.entries()) {
    const from = before?.[i];
    const to = after[i];
    if (from === undefined || to === undefined || from === to) continue;
    if (from > 0 && to === 0) discharged++;
    if (visibility === 'full') named.push(`- ${key}: ${from} -> ${to}${to === 0 ? ' (discharged)' : ''}`);
    else unnamed++;
  }
  const lines = [
    `${edge}: potential ${before === null ? '' : `${potential(before)} -> `}${potential(after)}, ${open} of ${obligations.length} obligations open`,
  ];
  if (before !== null) {
    lines.push(`obligations changed: ${named.length + unnamed}, discharged: ${discharged}`, ...list(named, 'obligations'));
    if (unnamed > 0) lines.push(`- ${unnamed} not shown`);
  }
  if (edge === 'commit') lines.push(`files changed: ${changes.length}`, ...list(changes.map(changeLine), 'files'));
  return `${lines.join('\n')}\n`;
}
