// The process that runs verifiers has died: a fact about this machine, which decides nothing about candidates or verifiers.

/** Ends a loop in the middle of a round: the round is aborted, the run is interrupted and can go on with another process. */
export class RunnerLost extends Error {
  override readonly name = 'RunnerLost';
  constructor() {
    super('the process that runs verifiers has ended');
  }
}

/** Throws `RunnerLost` where that process is gone. To be asked after anything that it had a part in, before anything is made of the answer. */
export function refuseLost({ lost }: { readonly lost?: () => boolean }): void {
  if (lost?.() === true) throw new RunnerLost();
}
