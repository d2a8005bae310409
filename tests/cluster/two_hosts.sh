#!/usr/bin/env bash
# The scripts that need two hosts with one device each, one after the other in one boot. For cluster.sh --hosts 2; the
# argument is the folder with the programs.
scripts=(multi paths busy armci shmem mixed)
[ ! -x "$1/fortran-tests" ] || scripts+=(fortran)
status=0
for script in "${scripts[@]}"; do
  echo "$script.sh"
  bash "$(dirname "$0")/$script.sh" "$1" || status=1
done
exit $status
