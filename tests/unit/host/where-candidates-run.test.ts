import { expect, test } from 'vitest';
import { candidateText, tamperEvidentOnly } from '#electron/host/cli/where-candidates-run.ts';
import type { SandboxRecord } from '#shared/domain/verdict.ts';
import { makeContract } from '../../engine/verifiers/support.ts';

const facts = (
  isolation: 'none' | 'shared' | 'separate',
  header: Parameters<typeof candidateText>[0]['header'] = {},
  kind: 'command' | 'pure-js' = 'command',
) => ({
  contractBody: makeContract({ verifier: { kind, runsCandidate: isolation !== 'none', isolation } }),
  header,
});
const lacks: SandboxRecord = { backend: 'sandbox-runtime', experimental: true, lacks: ['memory', 'processes'] };

test.each<[string, ReturnType<typeof facts>, SandboxRecord | undefined, boolean, string | null]>([
  ['data', facts('none'), undefined, false, null],
  ['separate', facts('separate'), undefined, false, 'runs in a sandbox that holds nothing of the verifier'],
  ['shared', facts('shared'), undefined, true, 'shares the sandbox of the verifier: tamper-evident only'],
  ['unsandboxed', facts('separate', { unsandboxed: true }), undefined, true, 'runs without a sandbox: tamper-evident only'],
  ['QuickJS', facts('separate', {}, 'pure-js'), undefined, false, 'runs in a QuickJS of its own'],
  [
    'experimental, by the header',
    facts('shared', { experimentalSandbox: 'sandbox-runtime' }),
    undefined,
    true,
    'shares the sandbox of the verifier, in sandbox-runtime (experimental): tamper-evident only',
  ],
  [
    'experimental, by a verdict',
    facts('separate'),
    lacks,
    false,
    'runs in a sandbox that holds nothing of the verifier, in sandbox-runtime (experimental), which does not hold memory, processes',
  ],
  [
    'known by a verdict',
    facts('separate'),
    { backend: 'bubblewrap' },
    false,
    'runs in a sandbox that holds nothing of the verifier, in bubblewrap',
  ],
])('%s', (_, of, found, label, text) => {
  expect(tamperEvidentOnly(of)).toBe(label);
  expect(candidateText(of, found)).toBe(text);
});
