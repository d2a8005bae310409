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
finish
