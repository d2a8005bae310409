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

for suite in Order Overlapping Rmw Mutex Notify Memory Group Topology Handle; do
  step "$suite" armci 2 rma-armci-tests "$suite*"
done
step 'messages' armci 2 rma-armci-message-tests '*'
for ranks in 1,3 3,1; do
  step "uneven hosts, $ranks" armci $ranks rma-armci-tests 'Order*:Overlapping*:Rmw*:Group*:Topology*:Memory*'
  step "uneven hosts, $ranks: messages" armci $ranks rma-armci-message-tests '*'
done
step 'Rmw by the helper' armci 2 rma-armci-tests 'Rmw*:Order*:Mutex*' RMA_ATOMIC_DOMAIN=helper
for protocol in packed pipelined segments; do
  step "order, $protocol" armci 2 rma-armci-tests 'Order*' RMA_NONCONTIGUOUS=$protocol
done
finish
