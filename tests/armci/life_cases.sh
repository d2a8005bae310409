#!/usr/bin/env bash
# Misuse must end the job, with a text that names the misuse and the place, and with a nonzero exit code. A
# program that ends with code 0 without ARMCI_Finalize is no failure.
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
  if [[ $out == *PARMCI_* || $out == *rma_acc* || $out == *rma_put* || $out == *rma_malloc* ]]; then
    echo "$misuse: the text has an internal name: $out" >&2
    exit 1
  fi
  # A word that begins with a space must be the first of a line.
  out=" ${out//$'\n'/$'\n' }"
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
refused die 44 armci_die 'the program dies' 300
refused die2 1 armci_die2 'the program dies' '256 9'
refused buffered 7 'behind it' 'standard output' 'another stream'
refused address 1 ' ARMCI_Put: rank' ARMCI_Malloc
refused unaligned 1 ' ARMCI_AccS: rank' 'not multiples of 8'
refused swapped 1 ' ARMCI_PutV: rank' ptr_array_len
refused type 1 ARMCI_Acc 12345 '/usr/include'
refused group 1 ARMCI_Group_set_default 99
refused unlock 1 ARMCI_Unlock

# ends KIND
ends() {
  local status=0 out
  out=$("$rmarun" -n 3 --timeout 120 "$life" exit "$1" 2>&1 < /dev/null) || status=$?
  if [ $status -ne 0 ] || [ "$(sort <<< "$out")" != $'process 0 ends\nprocess 1 ends\nprocess 2 ends' ]; then
    echo "exit $1: exit code $status: $out" >&2
    exit 1
  fi
  echo "exit $1: right"
}

for kind in exit return nested messages messages-init messages-finalized; do ends "$kind"; done
