#!/usr/bin/env bash
# Ranks that compute and never call the library while others use their memory (tests/multi/busy_test.cpp), by every
# protocol and domain. Two ranks on each host, which has fewer processors than that: where one rank alone works, three
# compute, and helpers get along beside them. For cluster.sh --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

for protocol in host_assisted packed pipelined segments; do
  step "busy targets, $protocol" multi 'Busy.*' RMA_NONCONTIGUOUS=$protocol
done
step 'busy targets, atomics by the helper' multi 'Busy.*' RMA_ATOMIC_DOMAIN=helper
finish
