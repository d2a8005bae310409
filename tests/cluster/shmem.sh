#!/usr/bin/env bash
# The tests of OpenSHMEM (tests/shmem) between hosts: two PEs on each, and more on one than on the other. For cluster.sh
# --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

# shmem RANKS PROGRAM [NAME=VALUE...]: RANKS as of cluster-run
shmem() {
  local ranks=$1 program=$2 settings=()
  shift 2
  while [ $# -gt 0 ]; do
    settings+=(--env "$1")
    shift
  done
  cluster-run -n "$ranks" --timeout 200 "${settings[@]}" -- "$programs/shmem-$program"
}

for program in transfers waits collectives heap threads; do
  step "$program" shmem 1 $program
done
step 'atomics, two PEs on each host' shmem 2 atomics
step 'locks, uneven hosts' shmem 1,2 locks
step 'atomics by the helper' shmem 1 atomics RMA_ATOMIC_DOMAIN=helper
finish
