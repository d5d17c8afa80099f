// Contracts, headers and trees in one line.
import { createHash } from 'node:crypto';
import { contractSha } from '#shared/domain/bundle-id.ts';
import type { Budget } from '#shared/domain/budget.ts';
import type { Contract, ContractBody } from '#shared/domain/contract.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { sortManifest, treeId } from '#shared/domain/tree-id.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { maxInDatabase } from '#electron/store/write/blobs.ts';
import { budgetOf, contractBodyOf, obligationOf } from '../contract.ts';

const encoder = new TextEncoder();

export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** One file per member, plain mode. */
export function filesOf(files: Readonly<Record<string, string>>): TreeFile[] {
  return Object.entries(files).map(([path, text]) => ({ path, mode: 'file' as const, bytes: bytesOf(text) }));
}

export function manifestOf(files: readonly TreeFile[]): Manifest {
  return sortManifest(files.map(({ path, mode, bytes }) => ({ path, mode, sha: sha256Hex(bytes), size: bytes.length })));
}

export function treeOf(files: readonly TreeFile[]): Sha {
  return treeId(manifestOf(files));
}

export const verifierFiles: readonly TreeFile[] = filesOf({ 'verifier/check.js': 'scripted' });

export type ContractOptions = {
  readonly caps: readonly number[];
  /** Per obligation; `worst` where absent. */
  readonly aggregates?: readonly ('worst' | 'median')[];
  /** Measured once and never confirmed, unless said. */
  readonly measurement?: Partial<ContractBody['measurement']>;
  readonly infraRetries?: number;
  readonly protectedPaths?: readonly string[];
  /** Keys of advisory values; none unless said. */
  readonly advisory?: readonly string[];
  /** Automatic commands; none unless said. */
  readonly auto?: ContractBody['auto'];
  readonly autoAllow?: NonNullable<ContractBody['autoAllow']>;
};

/** A contract of one count per cap (keys o0, o1, ...), measured once unless said, whose candidates are one JSON file `state.json`. */
export function contractOf({
  caps,
  aggregates = [],
  measurement = {},
  infraRetries = 0,
  protectedPaths = [],
  advisory = [],
  auto = [],
  autoAllow,
}: ContractOptions): Contract {
  const body = contractBodyOf(
    caps.map((cap, i) => obligationOf(`o${i}`, { title: `Obligation ${i}`, cap, aggregate: aggregates[i] ?? 'worst' })),
    {
      name: 'scripted',
      advisory: advisory.map((key) => ({ key, better: 'lower' as const })),
      verifier: { files: manifestOf(verifierFiles) },
      artifact: { protectedPaths: [...protectedPaths] },
      measurement: { infraRetries, ...measurement },
      auto,
      ...(autoAllow === undefined ? {} : { autoAllow }),
    },
  );
  return { ...body, sha: contractSha(body) };
}

export type HeaderOptions = {
  /** The built-in search unless said. */
  readonly proposer?: RunHeader['proposer'];
  readonly slots?: number;
  readonly seed?: number;
  readonly budget?: Partial<Budget>;
  readonly verifierDeadAfter?: number;
  /** The bundle that the run branches from. */
  readonly parent?: Sha;
};

export function headerOf(contract: Contract, seed: readonly TreeFile[], options: HeaderOptions = {}): RunHeader {
  return {
    format: 'pawl.header/1',
    contract: contract.sha,
    seedTree: treeOf(seed),
    proposer: options.proposer ?? { kind: 'search', version: 1, options: {} },
    slots: options.slots ?? 4,
    seed: options.seed ?? 0,
    budget: budgetOf(1_000, options.budget),
    verifierDeadAfter: options.verifierDeadAfter ?? 8,
    parent: options.parent ?? null,
    verifierProgram: null,
  };
}

/** A run id that is valid and tells runs apart by `i` (below 2^16). */
export function runIdOf(i = 0): string {
  return `run_00000000-0000-7000-8000-00000000${i.toString(16).padStart(4, '0')}`;
}

/** Text that stands in a file of its own, however it is compressed. */
export const largeText = (seed: number | string): string =>
  createHash('shake256', { outputLength: Math.ceil(1.1 * maxInDatabase) })
    .update(`large ${seed}`)
    .digest('base64');
