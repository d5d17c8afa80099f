// A command's exit code. Alone it is never evidence. The command's own script, which the candidate cannot write, has to come to its end and
// to leave one line in the report, the nonce of the verification and the exit code that it saw:
// `code=$?; echo "$PAWL_NONCE $code" > "$PAWL_REPORT"; exit $code`. For tools that look at files (a compiler, a linter); code that is run
// can end its process with any code before anything was tested, so a task that runs candidate code is refused.
import { type Adapter, problem, reportText } from './adapter.ts';

export const exitCode: Adapter = {
  name: 'exit-code',
  tool: 'always',
  checkFrom: (from, { kind, runsCandidate }) => {
    if (runsCandidate)
      return 'is an exit code, but runs_candidate = true, and code that is run can end its process with any; use an adapter that sees which tests ran';
    if (from !== 'exit') return 'is not "exit", which is all that this adapter finds';
    return kind === 'binary' ? null : 'belongs to an obligation that is not binary; an exit code counts nothing, write kind = "binary"';
  },
  run: (input) => {
    const text = reportText(input);
    if (typeof text !== 'string') return text;
    const line = /^([0-9a-f]{16,128}) ([0-9]{1,3})\r?\n?$/.exec(text);
    if (line === null)
      return problem('malformed', 'the report is not one line of nonce and exit code; the exit code alone is never evidence');
    if (line[1] !== input.nonce) return problem('attestation', 'the nonce in the report is not that of this verification');
    const said = Number(line[2]);
    if (said !== input.exitCode) return problem('crash', `the report says exit code ${said}, but the tool ended with ${input.exitCode}`);
    if (said > 125) return problem('crash', `the tool ended with exit code ${said}, which says that it did not do its work`);
    const values = Object.fromEntries(input.obligations.map(({ key }) => [key, said === 0 ? 0 : 1]));
    const details = said === 0 ? {} : Object.fromEntries(input.obligations.map(({ key }) => [key, `exit code ${said}`]));
    return { values, details, advisory: {} };
  },
};
