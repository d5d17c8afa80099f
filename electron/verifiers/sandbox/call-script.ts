// The two shell programs through which something enters a sandbox: `call`, which is PAWL_RUN and which a verifier starts thousands of
// times, and `enter`, which starts a whole verifier. Shell, because starting one takes a millisecond and Node forty. Every word in them is
// ours; what a task or a candidate says arrives as positional parameters and in files.
import type { SandboxCommand } from './api.ts';
import { quote } from './quote.ts';

/** Folder of what each call leaves: `<pid>.status` and `<pid>.stderr`. */
export const callsFolder = 'calls';
/** A line for every call that could not be made, which is our fault and nobody's verdict. */
export const failedFile = 'failed';

/** Exit code of a call that could not be made. */
const callFailed = 125;

// bubblewrap passes on every descriptor that is open, and Node those that its own parent left open. A POSIX shell can name 3 to 9 only,
// bash all of them; without bash nothing is run while one of the others is open. The descriptor of this very file closes by itself.
const beginning = `#!/bin/sh
# Written by Pawl for one verification.
dir=\${0%/*}
fail() {
  echo "sandbox: $1" >&2
  echo "$1" >> "$dir/${failedFile}"
  exit ${callFailed}
}
for f in /proc/self/fd/*; do
  case \${f##*/} in
    # The last where nothing lists descriptors.
    0 | 1 | 2 | '*') ;;
    ?) eval "exec \${f##*/}>&-" ;;
    *)
      if [ -e "$f" ] && ! [ "$f" -ef "$0" ]; then
        [ -z "\${PAWL_CLOSED-}" ] && [ -x /bin/bash ] || fail "descriptor \${f##*/} is open and cannot be closed without bash"
        export PAWL_CLOSED=1
        exec /bin/bash -c 'for f in /proc/self/fd/*; do n=\${f##*/}; if [ "$n" -gt 2 ]; then eval "exec $n>&-"; fi; done; exec "$0" "$@"' "$0" "$@"
      fi
      ;;
  esac
done
# Where memory runs out, the kernel ends what is in here before anything else on the machine.
{ echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null
`;

/** Runs its arguments in the sandbox, as this process. */
export const enterScript = ({ run }: Pick<SandboxCommand, 'run'>): string => `${beginning}exec ${run}\n`;

/**
 * `head` cuts. `unbuffered` is the library with which stdbuf(1) has it pass on at once what it reads, so that a candidate can be asked and
 * answer many times in one call; stdbuf itself would be one more program to start. Without it answers come when the call ends.
 */
export type CapTools = { readonly head: string; readonly unbuffered: string | null };

/**
 * PAWL_RUN: `-- argv...`. stdin and stdout are streams, stderr comes when the call ends, both cut at `outputBytes` (a candidate that goes
 * on writing gets SIGPIPE); the exit code is the candidate's, 128 + n for signal n. When this shell is killed, bubblewrap and all in the
 * sandbox die with it: bubblewrap is its direct child.
 */
export function callScript(
  { runReporting }: Pick<SandboxCommand, 'runReporting'>,
  { head, unbuffered }: CapTools,
  outputBytes: number,
): string {
  const cap = `${quote(head)} -c ${outputBytes}`;
  const stream = unbuffered === null ? cap : `_STDBUF_O=0 LD_PRELOAD=${quote(unbuffered)} ${cap}`;
  const call = `"$dir/${callsFolder}/$$`;
  return `${beginning}if [ "\${1-}" != -- ] || [ $# -lt 2 ]; then
  echo 'use: "$PAWL_RUN" -- program argument...' >&2
  exit ${callFailed}
fi
shift
status=${call}.status"
${runReporting} 8> "$status" 2> ${call}.stderr" | ${stream}
if [ -s ${call}.stderr" ]; then ${cap} < ${call}.stderr" >&2; fi
code=
while read -r line; do
  case $line in
    *exit-code*)
      line=\${line#*: }
      code=\${line%%[!0-9]*}
      ;;
  esac
done < "$status"
if [ -z "$code" ]; then
  why=
  read -r why < ${call}.stderr"
  fail "the sandbox ended without an exit code: $why"
fi
: > ${call}.stderr"
exit "$code"
`;
}
