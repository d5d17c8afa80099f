import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { describe, expect, test } from 'vitest';
import { bundleId, contractSha, headerSha, type SummaryFacts, summaryText } from '#shared/domain/bundle-id.ts';
import { BundleBody, type CertifiedBundle } from '#shared/domain/bundle.ts';
import { type Contract, ContractBody } from '#shared/domain/contract.ts';
import { RunHeader } from '#shared/domain/header.ts';
import type { Obligation } from '#shared/domain/obligation.ts';

const sha = (c: string): string => c.repeat(64);
const independent = (value: unknown): string =>
  createHash('sha256')
    .update(String(canonicalize(value)))
    .digest('hex');

const body: BundleBody = {
  format: 'pawl.bundle/1',
  header: sha('1'),
  era: 0,
  seq: 1,
  edge: 'commit',
  parent: sha('2'),
  contract: sha('3'),
  tree: sha('4'),
  latent: { codec: 'messages+json', sha: sha('5'), bytes: 120 },
  rank: [0, 7],
  potential: 7,
  summary: sha('6'),
};

const obligation = (key: string, visibility: Obligation['visibility'] = 'full'): Obligation => ({
  key,
  title: `About ${key}`,
  cap: 9,
  kind: 'count',
  visibility,
  onCandidateTimeout: 'cap',
  missing: 'malformed',
  aggregate: 'worst',
});

const contract = ContractBody.parse({
  format: 'pawl.contract/1',
  name: 'demo',
  version: 1,
  previous: null,
  instruction: sha('7'),
  obligations: [obligation('clashes')],
  advisory: [],
  from: [null],
  verifier: {
    kind: 'command',
    command: ['python3', 'verifier/check.py'],
    file: null,
    runsCandidate: false,
    isolation: 'none',
    adapter: null,
    report: null,
    files: [],
    env: [],
    timeoutsMs: { setup: 1, transfer: 1, run: 1, parse: 1 },
    limits: { memoryMb: 1, cpuS: 1, processes: 1, fileMb: 1, outputKb: 1 },
  },
  artifact: { allowEmpty: false, maxFiles: 1, maxBytes: 1, writable: ['a'], protectedPaths: [], schema: null },
  measurement: { preflightRuns: 1, confirmRuns: 1, paired: false, infraRetries: 0 },
  auto: [],
});

const header = RunHeader.parse({
  format: 'pawl.header/1',
  contract: sha('3'),
  seedTree: sha('4'),
  proposer: { kind: 'search', version: 1, options: { operators: ['json-swap'], deep: { x: [1, null] } } },
  slots: 4,
  seed: 7,
  budget: {
    attempts: 40,
    rounds: null,
    requests: null,
    promptTokens: null,
    completionTokens: null,
    verifierRuns: null,
    verifierMs: null,
    wallMs: null,
  },
  verifierDeadAfter: 5,
  parent: null,
  verifierProgram: null,
});

describe('ids', () => {
  test('golden: the id of a bundle is the hash of its body', () => {
    expect(bundleId(body)).toBe(independent(body));
    expect(bundleId(body)).toMatchInlineSnapshot(`"6124a8e912f37e065e98bc9a2ef58055fbb945fbddc199cf09ecce56bdddc46f"`);
  });

  test('what stands beside the body is not in the id; the order of fields does not matter', () => {
    const stored: CertifiedBundle = {
      ...body,
      id: sha('8'),
      run: 'run_01890a5d-ac96-774b-bcce-b302099a8057',
      verdict: sha('9'),
      summaryText: 'text',
      transition: 3,
    };
    expect(bundleId(stored)).toBe(bundleId(body));
    expect(bundleId(BundleBody.parse(Object.fromEntries(Object.entries(body).toReversed())))).toBe(bundleId(body));
  });

  test.each<[string, Partial<BundleBody>]>([
    ['header', { header: sha('a') }],
    ['era', { era: 1 }],
    ['seq', { seq: 2 }],
    ['edge', { edge: 'recertify' }],
    ['parent', { parent: null }],
    ['contract', { contract: sha('a') }],
    ['tree', { tree: sha('a') }],
    ['latent', { latent: null }],
    ['latent bytes', { latent: { codec: 'messages+json', sha: sha('5'), bytes: 121 } }],
    ['rank', { rank: [7, 0] }],
    ['potential', { potential: 8 }],
    ['summary', { summary: sha('a') }],
  ])('changes with %s', (_, change) => {
    expect(bundleId({ ...body, ...change })).not.toBe(bundleId(body));
  });

  test('a record without one of its fields has no id', () => {
    const { latent: _, ...rest } = body;
    expect(() => Reflect.apply(bundleId, undefined, [rest])).toThrow('a record without the field "latent" has no id');
  });

  test('contract and header hash their whole body, a sha beside it excepted', () => {
    expect(contractSha(contract)).toBe(independent(contract));
    const stored: Contract = { ...contract, sha: sha('0') };
    expect(contractSha(stored)).toBe(contractSha(contract));
    expect(contractSha({ ...contract, measurement: { ...contract.measurement, confirmRuns: 3 } })).not.toBe(contractSha(contract));
    expect(headerSha(header)).toBe(independent(header));
    expect(headerSha({ ...header, budget: { ...header.budget, attempts: 41 } })).not.toBe(headerSha(header));
    for (const more of [{ unsandboxed: true as const }, { experimentalSandbox: 'sandbox-runtime' }])
      expect(headerSha({ ...header, ...more })).toBe(independent({ ...header, ...more }));
  });
});

describe('summary', () => {
  const facts: SummaryFacts = {
    edge: 'commit',
    obligations: [
      obligation('clashes'),
      obligation('gaps'),
      obligation('secret', 'hidden'),
      obligation('counted', 'aggregate'),
      obligation('rooms'),
    ],
    before: [3, 2, 1, 4, 0],
    after: [0, 1, 0, 3, 0],
    changes: [
      { path: 'timetable.json', status: 'modified', binary: false, added: 3, removed: 1, before: sha('a'), after: sha('b') },
      { path: 'run\n- forged.sh', status: 'mode', binary: false, added: 0, removed: 0, before: sha('a'), after: sha('a') },
      { path: 'map.png', status: 'added', binary: true, added: 900, removed: 0, before: null, after: sha('c') },
    ],
  };

  test('of a commit: ranks, obligations, files; guarded obligations are counted, a path cannot imitate a line', () => {
    expect(summaryText(facts)).toMatchInlineSnapshot(`
      "commit: potential 10 -> 4, 2 of 5 obligations open
      obligations changed: 4, discharged: 2
      - clashes: 3 -> 0 (discharged)
      - gaps: 2 -> 1
      - 2 not shown
      files changed: 3
      - modified "timetable.json", +3 -1 lines
      - mode "run\\n- forged.sh"
      - added "map.png", +900 -0 bytes
      "
    `);
  });

  test('of a genesis and a recertification', () => {
    expect(summaryText({ ...facts, edge: 'genesis', before: null, changes: [] })).toBe('genesis: potential 4, 2 of 5 obligations open\n');
    expect(summaryText({ ...facts, edge: 'recertify', before: null, changes: [] })).toBe(
      'recertify: potential 4, 2 of 5 obligations open\n',
    );
  });

  test('long lists are cut and say so', () => {
    const many = Array.from({ length: 250 }, (_, i) => obligation(`o${i}`));
    const text = summaryText({ edge: 'commit', obligations: many, before: many.map(() => 1), after: many.map(() => 0), changes: [] });
    expect(text.split('\n')).toHaveLength(105);
    expect(text).toContain('- o99: 1 -> 0 (discharged)\n- and 150 more obligations\nfiles changed: 0\n');
  });

  test('a rank that does not fit is refused', () => {
    expect(() => summaryText({ ...facts, after: [0] })).toThrow('summary: a rank has 1 coordinates, the contract 5');
  });
});
