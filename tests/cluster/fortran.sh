#!/usr/bin/env bash
# The tests of the Fortran interfaces (tests/fortran) and of coarrays (tests/coarrays) between hosts, two ranks on each.
# For cluster.sh --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

step 'rma' cluster-run -n 2 --timeout 300 -- "$programs/fortran-tests" accumulate atomics errors kinds memory notify \
  sections teams vectors
step 'sections, packed' cluster-run -n 2 --timeout 200 --env RMA_NONCONTIGUOUS=packed -- "$programs/fortran-tests" sections
step 'coarrays' cluster-run -n 2 --timeout 300 -- "$programs/coarray-tests" sections conversions components \
  synchronization teams collectives
step 'accessors' cluster-run -n 2 --timeout 100 -- "$programs/coarray-accessor-forms"
step 'ARMCI' cluster-run -n 2 --timeout 200 -- "$programs/fortran-armci"
finish
