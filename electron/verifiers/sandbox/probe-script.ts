// What the probe runs inside the sandbox: one assertion after the other, in a shell, because nothing else is sure to be there. Each prints
// its own name and what it saw when it does not hold; the last line says that the script came to its end.
// Arguments: a path of ours that must not be there, a name of the environment that must not be there.

/** `name: found` per failed assertion, then `end`. */
export const probeScript = `
fail() { printf '%s: %s\\n' "$1" "$2"; }
while read -r name rest; do
  case $name in
    *:*) [ "\${name%%:*}" = lo ] || fail network "there is an interface \${name%%:*}" ;;
  esac
done < /proc/net/dev
[ -e "$1" ] && fail filesystem "$1 can be seen"
for path in /root /home /etc/passwd /etc/hosts /run /var /mnt /srv /boot; do
  [ -e "$path" ] && fail filesystem "$path can be seen"
done
usr=
while read -r id parent device root point options rest; do
  case $point in
    /usr) usr=$options ;;
    /|/dev|/proc|/usr/*) case $options in ro|ro,*) ;; *) fail filesystem "$point can be written" ;; esac ;;
    /tmp|/dev/shm|/scratch) case $rest in *size=*) ;; *) fail scratch "$point has no bound" ;; esac ;;
  esac
done < /proc/self/mountinfo
case $usr in ro|ro,*) ;; *) fail filesystem "/usr is mounted as \${usr:-nothing}" ;; esac
while read -r key value rest; do
  case $key in
    CapEff:|CapPrm:|CapInh:|CapAmb:) [ "$value" = 0000000000000000 ] || fail processes "$key $value" ;;
    NoNewPrivs:) [ "$value" = 1 ] || fail processes "privileges can be gained" ;;
    Uid:) [ "$value" = 0 ] && fail processes "it runs as root" ;;
    Seccomp:) [ "$value" = 2 ] || fail systemCalls "they are not filtered" ;;
  esac
done < /proc/self/status
# A container may have a filter of its own, so that one more has to be seen working.
if setarch -R true 2>/dev/null; then fail systemCalls "a program can be another kind of process"; fi
if unshare --user true 2>/dev/null; then fail processes "a user namespace can be made inside"; fi
for path in /proc/[0-9]*; do
  pid=\${path#/proc/}
  [ "$pid" -le 5 ] || fail processes "process $pid can be seen"
done
read -r hostname < /proc/sys/kernel/hostname
[ "$hostname" = sandbox ] || fail filesystem "the machine's name can be seen"
for fd in /proc/self/fd/*; do
  case \${fd##*/} in
    0|1|2) ;;
    *) [ -e "$fd" ] && fail filesystem "descriptor \${fd##*/} is open" ;;
  esac
done
eval "secret=\\\${$2-}"
[ -z "$secret" ] || fail filesystem "the environment of its parent is passed on"
while read -r first second third soft hard rest; do
  case "$first $second" in
    'Max processes') [ "$third" = unlimited ] && fail processes "their number is not limited" ;;
    'Max data') [ "$soft" = unlimited ] && fail memory "it is not limited" ;;
    'Max cpu') [ "$soft" = unlimited ] && fail cpu "it is not limited" ;;
  esac
done < /proc/self/limits
echo end
`;
