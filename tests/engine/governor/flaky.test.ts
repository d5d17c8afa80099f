// Verifiers that fail falsely: the simulation of semantics.md, section 4, over the real loop. Six binary obligations, two of them fail
// falsely in one measurement of ten; fifty attempts that change nothing. Whatever commits is a phantom.
import { describe, expect, test } from 'vitest';
import type { Contract } from '#shared/domain/contract.ts';
import { reviseContract } from '#shared/domain/revise.ts';
import { createRandom } from '#shared/lib/random.ts';
import { type Preflight, preflight } from '#electron/governor/preflight.ts';
import { contractOf, treeOf, verifierFiles } from '../../support/engine/builders.ts';
import { scriptedRun, type ScriptedRunOptions, seedFiles } from '../../support/engine/scripted-run.ts';
import type { Scripted } from '../../support/engine/scripted-proposer.ts';
import { createScriptedVerifier, type ScriptedVerifierOptions, type State } from '../../support/engine/scripted-verifier.ts';

const truth = { rank: [1, 1, 0, 0, 0, 0] };
const flaky = [2, 3];
const falseFailures = 0.1;

const flakyVerifier = (seed: number): ScriptedVerifierOptions => {
  const random = createRandom(['flaky', seed]);
  return {
    override: (_tree, _time, state): State =>
      'rank' in state ? { ...state, rank: state.rank.map((r, i) => (flaky.includes(i) && random.next() < falseFailures ? 1 : r)) } : state,
  };
};

type Measurement = Contract['measurement'];
const once: Measurement = { preflightRuns: 1, confirmRuns: 1, paired: false, infraRetries: 0 };
const full: Measurement = { preflightRuns: 5, confirmRuns: 3, paired: true, infraRetries: 2 };

const files = seedFiles(truth);
const measured = (contract: Contract, verifier: ScriptedVerifierOptions, runs: number): Promise<Preflight> =>
  preflight(
    { verifiers: createScriptedVerifier(verifier), monotonicMs: () => 0 },
    { contract, tree: treeOf(files), files, verifierFiles, program: null },
    runs,
    new AbortController().signal,
  );

/** As a person does it: quarantines what the preflight names, and measures again, until it is stable. */
const quarantined = async (contract: Contract, verifier: ScriptedVerifierOptions): Promise<{ contract: Contract; seed: Preflight }> => {
  const seed = await measured(contract, verifier, contract.measurement.preflightRuns);
  if (seed.unstable.length === 0) return { contract, seed };
  const next = reviseContract(contract, { quarantine: seed.unstable.map(({ key }) => key), median: [] });
  if (!next.ok) throw new Error(next.error.message);
  return quarantined(next.value, verifier);
};

/** Runs fifty attempts; gives how many committed. */
const commits = async (
  seed: number,
  measurement: Measurement,
  script: ScriptedRunOptions['script'],
  quarantine: readonly string[] | 'what preflight names',
): Promise<number> => {
  const verifier = flakyVerifier(seed);
  const options = { caps: truth.rank.map(() => 1), measurement };
  let contract = contractOf(options);
  let first: Preflight;
  if (quarantine === 'what preflight names') ({ contract, seed: first } = await quarantined(contract, verifier));
  else {
    const chosen = reviseContract(contract, { quarantine, median: [] });
    if (!chosen.ok) throw new Error(chosen.error.message);
    contract = chosen.value;
    first = await measured(contract, verifier, measurement.preflightRuns);
  }
  const run = scriptedRun({
    contract: options,
    under: contract,
    measured: first.seed,
    seed: truth,
    script,
    header: { slots: 1, budget: { attempts: 50 } },
    verifier,
  });
  expect(await run.end()).toMatchObject({ kind: 'stopped' });
  return run.store.chain.length - 1;
};

const nothing = ({ draw }: { draw: number }): Scripted => ({ state: { ...truth, salt: draw } });
const seeds = Array.from({ length: 120 }, (_, i) => i);
const phantoms = async (measurement: Measurement, quarantine: readonly string[] | 'what preflight names'): Promise<number> => {
  let found = 0;
  for (const seed of seeds) if ((await commits(seed, measurement, nothing, quarantine)) > 0) found++;
  return found;
};

describe('fifty attempts that change nothing', () => {
  test('measured once, phantoms commit in about 19 runs of 100', async () => {
    const found = await phantoms(once, []);
    expect(found).toBeGreaterThan(seeds.length * 0.1);
    expect(found).toBeLessThan(seeds.length * 0.3);
  });

  test('against a base that is the worst of five and never measured again, confirmed by three: worse still', async () => {
    const found = await phantoms({ ...full, paired: false }, []);
    expect(found).toBeGreaterThan(seeds.length * 0.3);
  });

  test('quarantine of what preflight names, confirmation and the paired check: no phantom in any run', async () => {
    expect(await phantoms(full, 'what preflight names')).toBe(0);
  });
});

test('with the flaky obligations in quarantine every real fix is accepted', async () => {
  const fix = ({ draw }: { draw: number }): Scripted => ({ state: { rank: [1, draw >= 25 ? 0 : 1, 0, 0, 0, 0], salt: draw } });
  for (const seed of seeds.slice(0, 60)) expect(await commits(seed, full, fix, ['o2', 'o3'])).toBe(1);
});

describe('preflight', () => {
  const contract = (aggregates: readonly ('worst' | 'median')[] = [], measurement: Measurement = full) =>
    contractOf({ caps: [9, 9], aggregates, measurement });
  const values = (list: readonly (readonly number[] | State)[]): ScriptedVerifierOptions => {
    let call = 0;
    return {
      override: () => {
        const v = list[call++ % list.length];
        return v === undefined || 'length' in v ? { rank: [...(v ?? [])] } : v;
      },
    };
  };

  test('names each unstable obligation with its values', async () => {
    const result = await measured(
      contract(),
      values([
        [1, 2],
        [1, 3],
        [1, 2],
      ]),
      3,
    );
    expect(result.unstable).toEqual([{ key: 'o1', title: 'Obligation 1', values: [2, 3, 2] }]);
    expect(result.seed.verdict).toMatchObject({ kind: 'ranked', stable: false, rank: [1, 3] });
  });

  test('genesis is the worst of its runs, the median where the obligation says so; all runs stand in the verdict', async () => {
    const result = await measured(
      contract(['worst', 'median']),
      values([
        [1, 2],
        [1, 9],
        [1, 3],
      ]),
      3,
    );
    expect(result.unstable).toEqual([]);
    expect(result.seed.verdict).toMatchObject({ kind: 'ranked', stable: true, rank: [1, 3] });
    expect(result.seed.runs).toHaveLength(3);
    expect(result.seed.verdict.kind === 'ranked' ? result.seed.verdict.runs : []).toHaveLength(3);
  });

  test('ends at the first measurement without a rank, after its repetitions', async () => {
    const result = await measured(contract(), values([[1, 2], { noVerdict: 'infra' }, { noVerdict: 'infra' }, { noVerdict: 'infra' }]), 5);
    expect(result.measurements).toHaveLength(2);
    expect(result.seed.verdict).toMatchObject({ kind: 'no_verdict', code: 'infra' });
    expect(result.seed.runs).toHaveLength(4);
    const again = await measured(contract(), values([[1, 2], { noVerdict: 'infra' }]), 5);
    expect(again.seed.verdict).toMatchObject({ kind: 'ranked', rank: [1, 2] });
  });

  test('a malformed rank certifies nothing', async () => {
    expect((await measured(contract(), values([[1, 10]]), 5)).seed.verdict).toMatchObject({ kind: 'no_verdict', code: 'malformed' });
  });

  test('a seed at zero rank is measured as often as a commit', async () => {
    expect((await measured(contract(), values([[0, 0]]), 1)).measurements).toHaveLength(3);
    expect((await measured(contract(), values([[0, 1]]), 1)).measurements).toHaveLength(1);
    const turned = await measured(
      contract(),
      values([
        [0, 0],
        [1, 0],
      ]),
      1,
    );
    expect(turned.unstable).toMatchObject([{ key: 'o0', values: [0, 1] }]);
  });
});
