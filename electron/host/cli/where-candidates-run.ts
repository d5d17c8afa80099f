// Where candidate code of a run was executed, in words: verdicts are only as good as that.
import { type ContractBody, isTamperEvidentOnly } from '#shared/domain/contract.ts';
import type { RunHeader } from '#shared/domain/header.ts';
import type { SandboxRecord } from '#shared/domain/verdict.ts';

type Facts = {
  readonly contractBody: Pick<ContractBody, 'verifier'>;
  readonly header: Pick<RunHeader, 'unsandboxed' | 'experimentalSandbox'>;
};

/** Whether every verdict of the run carries the label "tamper-evident only". */
export const tamperEvidentOnly = ({ contractBody, header }: Facts): boolean =>
  isTamperEvidentOnly(contractBody, header.unsandboxed === true);

/** One line for people; null where no candidate code runs. `found` is the sandbox of a verdict, where one is at hand. */
export function candidateText(facts: Facts, found?: SandboxRecord): string | null {
  const { verifier } = facts.contractBody;
  if (!verifier.runsCandidate) return null;
  const label = tamperEvidentOnly(facts) ? ': tamper-evident only' : '';
  const experimental = facts.header.experimentalSandbox ?? (found?.experimental === true ? found.backend : undefined);
  const named = experimental === undefined ? (found === undefined ? '' : `, in ${found.backend}`) : `, in ${experimental} (experimental)`;
  const box = `${named}${found?.lacks === undefined ? '' : `, which does not hold ${found.lacks.join(', ')}`}`;
  if (verifier.kind === 'pure-js') return `runs in a QuickJS of its own${label}`;
  if (facts.header.unsandboxed === true) return `runs without a sandbox${label}`;
  return verifier.isolation === 'separate'
    ? `runs in a sandbox that holds nothing of the verifier${box}${label}`
    : `shares the sandbox of the verifier${box}${label}`;
}
