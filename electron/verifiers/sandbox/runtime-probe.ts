// What the probe of the sandbox-runtime backend runs inside, for bash: only what macOS has as well (no /proc). Each assertion prints its
// guarantee and what it saw when it does not hold; the last line says that the script came to its end.
// Arguments: a folder of this user; a file of ours beside what may be read; a file beside it that is to be written; a port of ours on 127.0.0.1; our pid; a
// file that may be read and not written; a name of the environment that must not be there; three words that must arrive as they are.
import { quote } from './quote.ts';

/** What the last three arguments must be. */
export const probeWords = ['a b', 'it\'s $(echo no) `no` "*"', ''] as const;

/** `guarantee: found` per failed assertion, then `end`. */
export const runtimeProbeScript = `
fail() { printf '%s: %s\\n' "$1" "$2"; }
[ -n "$(ls -A "$1" 2> /dev/null)" ] && fail filesystem "$1 can be listed"
[ -n "$(cat "$2" 2> /dev/null)" ] && fail filesystem "$2 can be read"
for path in /etc/passwd /private/etc/passwd /etc/hosts /private/etc/hosts; do
  [ -n "$(head -c 1 "$path" 2> /dev/null)" ] && fail filesystem "$path can be read"
done
for path in /usr/probe /usr/local/probe; do
  { echo x > "$path"; } 2> /dev/null && fail filesystem "$path can be written"
done
# Whether these are on this machine is for whoever has started the probe to see: what is written may be gone at once.
{ echo x > "$3"; } 2> /dev/null
{ mkdir -p /tmp/claude && echo x > "/tmp/claude/\${3##*/}"; } 2> /dev/null
[ -n "$(cat "$6" 2> /dev/null)" ] || fail setup "$6 cannot be read"
{ echo x > "$6"; } 2> /dev/null && fail filesystem "$6 can be written"
{ echo x > "$HOME/probe"; } 2> /dev/null || fail setup "$HOME cannot be written"
{ echo x > /dev/null; } 2> /dev/null || fail setup "/dev/null cannot be written"
(exec 3<> "/dev/tcp/127.0.0.1/$4") 2> /dev/null && fail network "a server of this machine can be reached"
kill -0 "$5" 2> /dev/null && fail filesystem "processes of this user can be ended"
eval "secret=\\\${$7-}"
[ -z "$secret" ] || fail filesystem "the environment of its parent is passed on"
for fd in 3 4 5 6 7 8 9 10 11 12; do
  (eval "exec >&$fd") 2> /dev/null && fail filesystem "descriptor $fd is open"
done
[ "$(ulimit -t)" = unlimited ] && fail cpu "it is not limited"
[ "$(ulimit -f)" = unlimited ] && fail filesystem "files are not limited"
[ "$8" = ${quote(probeWords[0])} ] && [ "$9" = ${quote(probeWords[1])} ] && [ "\${10-x}" = '' ] || fail setup "arguments do not arrive as they are"
echo end
`;
