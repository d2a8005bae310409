#!/usr/bin/env bash
# The tests of several ranks (tests/multi) between hosts, two ranks on each, so that targets of the own host and of
# others mix in one program. For cluster.sh --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

# A few suites in each job: to start one takes longer than most suites.
for suites in 'Memory.*:Contiguous.*:Order.*:Misuse.*' 'Strided.*:Vector.*:Request.*:Notify.*' \
  'Accumulate.*:Atomic.*:Mutex.*:Thread.*' 'Team.*:Collective.*'; do
  step "$suites" multi "$suites"
done
# Messages go over shared memory and over the rails in one process: to ranks of the own host, whose memory may not be
# accessed directly, and to those of the other one.
step 'one channel, two transports' multi 'Contiguous.*:Accumulate.*:Atomic.*:Mixed.*' RMA_CMA=off \
  RMA_NONCONTIGUOUS=packed
finish
