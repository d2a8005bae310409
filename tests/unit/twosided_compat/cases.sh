#!/usr/bin/env bash
# Misuse ends a job with a text that names the call, and the exit code reaches the launcher.
#
# usage: cases.sh RMARUN CASES
set -euo pipefail
rmarun=$1
program=$2

# run LAUNCHER CASE EXIT_CODE TEXT
run() {
  local launcher=$1 case=$2 expected=$3 text=$4 status=0 out
  # shellcheck disable=SC2086  # the words of the launcher
  out=$($launcher "$program" "$case" 2>&1 < /dev/null) || status=$?
  if [ "$status" -ne "$expected" ] || [[ $out != *"$text"* ]] || [[ $out == *"taken over"* ]]; then
    echo "$case ($launcher): exit code $status, expected $expected and '$text': $out" >&2
    exit 1
  fi
}

# ends CASE EXIT_CODE TEXT: runs the case by itself and under the launcher.
ends() {
  run "" "$@"
  run "$rmarun -n 2 --timeout 60" "$@"
  echo "$1: right"
}

# fails CASE EXIT_CODE TEXT: runs a mistake in a call under the launcher.
fails() {
  run "$rmarun -n 2 --timeout 60" "$@"
  echo "$1: right"
}

ends none 0 ''
ends early 0 'right'
ends before 1 'MPI_Get_address was called before MPI_Init'
ends before-accept 1 'MPI_Comm_accept was called before MPI_Init'
ends before-error 13 'MPI_Error_class: MPI_ERR_ARG'
ends after 1 'MPI_Get_address was called after MPI_Finalize'
ends twice 16 'MPI_Init: rank '
ends abort 42 'MPI_Abort was called by rank '
ends abort-0 1 'with error code 256'
ends fatal 3 'MPI_Type_size: rank '
fails rank 6 'MPI_Send: rank '
fails rank 6 'MPI_ERR_RANK'
fails tag 4 'MPI_ERR_TAG'
fails comm 5 'MPI_ERR_COMM'
fails count 2 'MPI_ERR_COUNT'
fails type 3 'MPI_ERR_TYPE'
fails op 10 'MPI_ERR_OP'
fails root 8 'MPI_ERR_ROOT'
fails request 7 'MPI_ERR_REQUEST'
fails buffer 1 'no buffer is attached'
fails alias 1 'MPI_IN_PLACE'
fails truncate 15 'MPI_ERR_TRUNCATE'
ends no-port 43 "'none' is no port of this job"
ends no-port-returns 0 'class 43'
