#!/usr/bin/env bash
# The tests of ARMCI and of its messages (tests/armci) between hosts: two processes on each, and more on one than on the
# other. For cluster.sh --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

# armci RANKS PROGRAM FILTER [NAME=VALUE...]: RANKS as of cluster-run
armci() {
  local ranks=$1 program=$2 filter=$3 settings=()
  shift 3
  while [ $# -gt 0 ]; do
    settings+=(--env "$1")
    shift
  done
  cluster-run -n "$ranks" --timeout 200 "${settings[@]}" -- "$programs/$program" --gtest_filter="$filter"
}

step 'all' armci 2 rma-armci-tests '*'
step 'messages' armci 2 rma-armci-message-tests '*'
step 'uneven hosts, 1 and 3' armci 1,3 rma-armci-tests 'Order*:Overlapping*:Rmw*:Group*:Topology*:Memory*'
step 'uneven hosts, 3 and 1' armci 3,1 rma-armci-tests 'Group*:Topology*:Memory*'
step 'uneven hosts, 1 and 3: messages' armci 1,3 rma-armci-message-tests '*'
step 'Rmw by the helper' armci 2 rma-armci-tests 'Rmw*:Order*:Mutex*' RMA_ATOMIC_DOMAIN=helper
step 'order, packed' armci 2 rma-armci-tests 'Order*' RMA_NONCONTIGUOUS=packed
finish
