#!/usr/bin/env bash
# Every measuring program in the folder, the argument, explains itself: with --help it exits with 0 and prints its usage.
set -uo pipefail
status=0
for program in "$1"/*-bench "$1"/raw-verbs "$1"/cache-line; do
  [ -x "$program" ] || continue
  if ! text=$("$program" --help < /dev/null) || ! grep -q -i '^usage' <<< "$text"; then
    echo "$program --help failed, or printed no line that begins with 'usage':"
    printf '%s\n' "$text" | head -n 5
    status=1
  fi
done
exit $status
