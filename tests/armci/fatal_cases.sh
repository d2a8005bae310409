#!/usr/bin/env bash
# Fatal errors of one process beside an MPI must end the job, with the error's exit code and text.
#
# usage: fatal_cases.sh FATAL_TEST MPIRUN WORDS...
set -euo pipefail
program=$1
shift

# ends CASE RANKS RANK EXIT_CODE WORDS...
ends() {
  local case=$1 ranks=$2 rank=$3 expected=$4 status=0 out
  shift 4
  # A job that hangs is killed, long after the time that it may take.
  out=$(timeout --kill-after 10 60 "${mpirun[@]}" -n "$ranks" "$program" "$case" "$rank" 2>&1 < /dev/null) || status=$?
  if [ "$status" -ne "$expected" ]; then
    echo "$case of rank $rank of $ranks: exit code $status, expected $expected: $out" >&2
    exit 1
  fi
  for word in "$@"; do
    [[ $out == *"$word"* ]] || { echo "$case: the text does not say '$word': $out" >&2; exit 1; }
  done
  echo "$case of rank $rank of $ranks: right"
}

mpirun=("$@")
ends error 2 0 7 'ARMCI_Error: rank 0: of one process 7'
ends error 4 3 7 'ARMCI_Error: rank 3: of one process 7'
ends misuse 4 1 1 'ARMCI_Lock: rank 1'
case $program in
  # MPI_Init has begun the job, and ARMCI cannot run on half of it.
  */armci-rma-fatal)
    ends half 4 2 1 'ARMCI_Init' 'of 4 in the job, but' 'of 2 in the communicator'
    ends early 4 1 7 'ARMCI_Error: rank 1: before ARMCI_Init 7'
    ;;
  *)
    ends half 4 2 7 'ARMCI_Error: rank 1: of one process 7'
    ends early 4 1 7 'ARMCI_Error: before ARMCI_Init 7'
    ;;
esac
