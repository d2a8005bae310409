#!/usr/bin/env bash
# Misuse ends a job with a text that names the call, and the exit code reaches the launcher.
#
# usage: cases.sh RMARUN CASES
set -euo pipefail
rmarun=$1
program=$2

# ends CASE EXIT_CODE TEXT: runs the case by itself and under the launcher.
ends() {
  local case=$1 expected=$2 text=$3 status out
  for run in "" "$rmarun -n 2 --timeout 60"; do
    status=0
    # shellcheck disable=SC2086  # the words of the launcher
    out=$($run "$program" "$case" 2>&1 < /dev/null) || status=$?
    if [ "$status" -ne "$expected" ] || [[ $out != *"$text"* ]] || [[ $out == *"taken over"* ]]; then
      echo "$case ($run): exit code $status, expected $expected and '$text': $out" >&2
      exit 1
    fi
  done
  echo "$case: right"
}

ends none 0 ''
ends early 0 'right'
ends before 1 'MPI_Get_address was called before MPI_Init'
ends before-missing 1 'MPI_Win_create_dynamic was called before MPI_Init'
ends before-error 13 'MPI_Error_class: MPI_ERR_ARG'
ends after 1 'MPI_Get_address was called after MPI_Finalize'
ends twice 16 'MPI_Init: rank '
ends abort 42 'MPI_Abort was called by rank '
ends abort-0 1 'with error code 256'
ends fatal 3 'MPI_Type_size: rank '
ends missing 55 "MPI_Win_create_dynamic: librma's MPI does not have this function"
ends missing-returns 0 'class 55'
