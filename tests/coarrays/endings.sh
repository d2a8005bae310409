#!/usr/bin/env bash
# Checks how coarray programs end: their exit codes and what they print; and that images go on without one that fails.
#
# usage: endings.sh RMARUN ENDINGS FAILURES LOCK_WINDOW
set -euo pipefail
rmarun=$1 program=$2 failures=$3 lock_window=$4

fail() {
  echo "endings.sh: $*" >&2
  exit 1
}

# ends WAY CODE COUNT TEXT: three images that end in this way give the exit code, and print COUNT lines with the text.
ends() {
  local way=$1 code=$2 count=$3 text=$4 out got=0
  out=$(timeout 60 "$rmarun" -n 3 "$program" "$way" 2>&1 < /dev/null) || got=$?
  [ "$got" -eq "$code" ] || fail "$way: exit code $got instead of $code: $out"
  [ "$(grep -c -- "$text" <<< "$out" || true)" -eq "$count" ] || fail "$way: not $count times '$text': $out"
  echo "$way: right"
}

ends stop 3 3 '^STOP 3$'
ends stop 3 3 '^image [123]$'
ends stop_text 0 1 '^STOP image 1 is done$'
ends exit 0 0 .
ends error 7 1 '^ERROR STOP 7$'
ends error_text 1 1 '^ERROR STOP no way on$'
ends quiet 9 0 'ERROR STOP'
ends runtime_error 2 1 'ending the job'
ends stopped 0 2 '^right$'
ends unexpected 1 0 'ERROR STOP'
# The others must not take what a stopped image says for its part of the coarray or the team.
ends allocate 1 0 'rma_malloc'
ends team 1 0 'rma_'
ends image 1 0 'ERROR STOP'

# survives PROGRAM WAY: an image of four fails in this way, and the others do what they should.
survives() {
  local program=$1 way=$2 out got=0
  out=$(timeout 60 "$rmarun" --survive -n 4 "$program" "$way" 2>&1 < /dev/null) || got=$?
  [ "$got" -eq 0 ] && [ "$(grep -c '^right$' <<< "$out")" -eq 3 ] || fail "$way: exit code $got: $out"
  [ "$(grep -c 'killed by signal 9.*the job goes on without it' <<< "$out")" -eq 1 ] || fail "$way: $out"
  echo "$way: right"
}

for way in fail signal wait; do survives "$failures" $way; done
for way in alone followed; do survives "$lock_window" $way; done
# Without the option the job ends.
got=0
out=$(timeout 60 "$rmarun" -n 4 "$failures" fail 2>&1 < /dev/null) || got=$?
[ "$got" -eq 137 ] || fail "without --survive: exit code $got: $out"
