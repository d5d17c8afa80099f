// A library as it looks after some weeks: every status and stop reason, long names, other proposers.
import { nativeVerifier, type FakeJobOptions } from './fake-job.ts';

const kinds: readonly FakeJobOptions[] = [
  { stop: 'budget', count: 240 },
  { stop: 'zero_rank', count: 96, task: { id: 'repair-intervals', title: 'Interval arithmetic that holds' } },
  { stop: 'user', count: 118 },
  {
    status: 'interrupted',
    count: 160,
    shown: 72,
    proposer: 'openai',
    task: {
      id: 'sorting-network-for-nine-inputs',
      title: 'Sorting network for nine inputs with at most twenty-five comparators and no dead wire',
    },
  },
  { stop: 'stalled', count: 200, proposer: 'command' },
  { status: 'not_started', count: 40, note: 'the seed had no verdict: verifier/check.js threw at line 12' },
  { stop: 'verifier_dead', count: 32, task: { id: 'text-count', title: '한국어 문장 다듬기' } },
  { stop: 'contract_changed', count: 60, proposer: 'recorded' },
];

/** A run and its branches: one replays with named faults, one is unsandboxed, all share a verifier with the candidate. */
export const fakeFamily: readonly FakeJobOptions[] = [
  {
    stop: 'user',
    count: 240,
    seed: 7,
    verifier: nativeVerifier,
    again: 'drift',
    mismatches: [
      { where: 'transition 17', field: 'outcome', stored: '"incomparable"', recomputed: '"commit"' },
      { where: 'bundle 2', field: 'potential', stored: '38', recomputed: '39' },
    ],
  },
  { stop: 'budget', count: 240, seed: 7, parent: { run: 0, seq: 0 } },
  { stop: 'zero_rank', count: 120, seed: 9, parent: { run: 0, seq: 3 }, verifier: nativeVerifier, unsandboxed: true },
  { stop: 'budget', count: 80, seed: 11, parent: { run: 1, seq: 2 }, again: 'flake' },
];

/** A run that waits for a person, before others. */
export const fakeWaiting: readonly FakeJobOptions[] = [
  { proposer: 'human', slots: 1, status: 'waiting', seed: 1 },
  { stop: 'user', count: 118, seed: 7 },
];

/** `n` runs, newest first; with `live`, the newest is going on. */
export function fakeLibrary(n: number, live: boolean): FakeJobOptions[] {
  return Array.from({ length: n }, (_, i) => {
    if (i === 0 && live) return { status: 'running' as const, count: 400, shown: 120, seed: 7 };
    return { ...kinds[i % kinds.length], seed: i === 0 ? 7 : i + 1 };
  });
}
