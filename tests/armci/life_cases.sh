#!/usr/bin/env bash
# Misuse that must end the job, with a text that says what and where, and an exit code that is no success.
#
# usage: life_cases.sh RMARUN LIFE_TEST
set -euo pipefail
rmarun=$1 life=$2

# refused MISUSE EXIT_CODE WORDS...
refused() {
  local misuse=$1 expected=$2 status=0 out word
  shift 2
  out=$("$rmarun" -n 2 --timeout 120 "$life" "$misuse" 2>&1 < /dev/null) || status=$?
  if [ "$status" -ne "$expected" ]; then
    echo "$misuse: exit code $status, expected $expected: $out" >&2
    exit 1
  fi
  for word in "$@"; do
    case $out in
      *"$word"*) ;;
      *)
        echo "$misuse: the text does not say '$word': $out" >&2
        exit 1
        ;;
    esac
  done
  echo "$misuse: right"
}

refused before 1 ARMCI_Barrier 'not initialized'
refused error 7 ARMCI_Error 'the program says so' 7
refused address 1 ARMCI_Put rma_malloc
refused type 1 ARMCI_Acc 12345
refused group 1 ARMCI_Group_set_default 99
refused unlock 1 ARMCI_Unlock
