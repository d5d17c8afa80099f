// The verifier of a Harbor task, in POSIX shell: ours, generated with the task, part of its contract. It lays the candidate out where the
// task's image has its working folder, runs tests/test.sh as Harbor does, and hands on the reward that it leaves.

/** Where Harbor has the tests, and where they leave their reward. */
export const testsFolder = '/tests';
export const logsFolder = '/logs';

export type RunSpec = {
  readonly workdir: string;
  /** In their order; a value is a text, or the name of a variable of the host with what stands for it when it is not set. */
  readonly env: readonly { readonly name: string; readonly value: string | { readonly host: string; readonly otherwise: string } }[];
  /** Whether the script names its interpreter; bash runs it otherwise. */
  readonly hasInterpreter: boolean;
};

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What of the tests' output is shown, its end. */
const shownBytes = 200_000;

export function runScript({ workdir, env, hasInterpreter }: RunSpec): string {
  const exports = env.map(({ name, value }) =>
    typeof value === 'string'
      ? `export ${name}=${quote(value)}`
      : `if [ -n "\${${value.host}-}" ]; then export ${name}="$${value.host}"; else export ${name}=${quote(value.otherwise)}; fi`,
  );
  return `#!/bin/sh
# Written by Pawl for a Harbor task.
work=${quote(workdir)}
out=${logsFolder}/verifier
cp -R "$PAWL_CANDIDATE/." "$work" && chmod -R u+w "$work" || exit 126
mkdir -p "$out" ${logsFolder}/agent ${logsFolder}/artifacts && cd "$work" || exit 126
${exports.map((line) => `${line}\n`).join('')}# The reward is what Harbor reads; the channel of the report is not the tests' business.
report=$PAWL_REPORT
unset PAWL_REPORT PAWL_NONCE PAWL_TREE PAWL_CONTRACT PAWL_CANDIDATE
${hasInterpreter ? '' : 'bash '}${testsFolder}/test.sh > "$out/test-stdout.txt" 2>&1 < /dev/null
code=$?
tail -c ${shownBytes} "$out/test-stdout.txt"
# As Harbor: the text before the JSON.
for reward in "$out/reward.txt" "$out/reward.json"; do
  if [ -s "$reward" ]; then
    cat "$reward" > "$report"
    break
  fi
done
exit "$code"
`;
}
