#!/usr/bin/env bash
# The scripts that need two hosts with one device each, in one boot. For cluster.sh --hosts 2; the argument is the folder
# with the programs.
. "$(dirname "$0")/lib.sh"
scripts=(multi paths busy memory armci shmem mixed)
[ ! -x "$1/fortran-tests" ] || scripts+=(fortran)
run_scripts "$1" "${scripts[@]}"
