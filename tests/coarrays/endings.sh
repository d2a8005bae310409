#!/usr/bin/env bash
# Checks how coarray programs end: their exit codes and what they print.
#
# usage: endings.sh RMARUN PROGRAM
set -euo pipefail
rmarun=$1 program=$2

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
ends image 1 0 'ERROR STOP'
