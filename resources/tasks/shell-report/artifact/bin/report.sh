#!/bin/sh
# Reads lines "<status> <milliseconds> <path>" and reports on them.
# report.sh summary | failures | slowest
. ./etc/report.conf

fail() {
  echo "report: $1" >&2
  exit 1
}

# One line for each request, blank lines and comments left out.
requests() {
  grep -v -e '^#' -e '^$'
}

summary() {
  total=0
  failed=0
  slow=0
  while read -r status ms path; do
    total=$((total + 1))
    if [ "$status" -gt "$FAILED_FROM" ]; then
      failed=$((failed + 1))
    elif [ "$ms" -gt "$SLOW_MS" ]; then
      slow=$((slow + 1))
    fi
  done
  echo "requests $total"
  echo "failed $failed"
  echo "slow $slow"
}

# Paths with failures, each once, the most frequent first.
failures() {
  while read -r status ms path; do
    if [ "$status" -ge "$FAILED_FROM" ]; then
      echo "$path"
    fi
  done | sort | uniq -c | sort -k1,1nr -k2,2 | head -n "$LISTED" | while read -r count path; do
    echo "$count $path"
  done
}

slowest() {
  sort -k2,2 -k3,3 | head -n "$LISTED" | while read -r status ms path; do
    echo "$path $ms"
  done
}

if [ "$#" -lt 1 ]; then
  fail "one argument is needed"
fi
case $1 in
  summary) requests | summary ;;
  failures) requests | failures ;;
  slowest) requests | slowest ;;
  *) fail "unknown report $1" ;;
esac
