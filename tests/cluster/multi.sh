#!/usr/bin/env bash
# The tests of several ranks (tests/multi) between hosts, two ranks on each, so that one program has targets
# on its own
# host and on others. For cluster.sh --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

# A few suites share each job, because its start takes longer than most suites.
for suites in 'Memory.*:Contiguous.*:Order.*:Misuse.*' 'Strided.*:Vector.*:Request.*:Notify.*' \
  'Accumulate.*:Atomic.*:Mutex.*:Thread.*' 'Team.*:Collective.*'; do
  step "$suites" multi "$suites"
done
# In one process, messages go over shared memory and over the rails: to ranks of its host, whose memory it may
# not
# access directly, and to those of the other host.
step 'one channel, two transports' multi 'Contiguous.*:Accumulate.*:Atomic.*:Mixed.*' RMA_CMA=off \
  RMA_NONCONTIGUOUS=packed
# MPI between hosts: one rank receives from another to which it never sends, and long messages are read by RDMA.
step 'MPI point to point' cluster-run -n 2 --timeout 200 -- "$programs/mpi-point-to-point"
step 'MPI collectives' cluster-run -n 2 --timeout 200 -- "$programs/mpi-collectives"
finish
