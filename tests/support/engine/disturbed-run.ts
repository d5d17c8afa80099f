// The run that processes are killed in the middle of: all outcomes, some candidates too large for the database, and, whatever happens to
// it, the same chain in the end.
import { largeText } from './builders.ts';
import { randomScript } from './random-script.ts';
import { storedRun, type StoredRun } from './stored-run.ts';

const cap = 30;
const script = randomScript(21, cap);

/** `process` tells the executions of one process from those of the next. */
export function disturbedRun(process: string): StoredRun {
  return storedRun({
    contract: { caps: [cap, cap, cap] },
    seed: { rank: [20, 20, 20] },
    header: { slots: 3, budget: { attempts: 48 }, verifierDeadAfter: 1_000 },
    script: (context) => {
      const answer = script(context);
      return context.draw % 6 === 1 && typeof answer === 'object' && 'state' in answer
        ? { files: { 'state.json': JSON.stringify(answer.state), 'large.txt': largeText(context.draw) } }
        : answer;
    },
    verifier: { name: process },
  });
}
