#!/usr/bin/env bash
# Ranks compute and never call the library while others use their memory (tests/multi/busy_test.cpp), by every protocol
# and domain. Each host has two ranks and fewer processors than that. If one rank alone works, three compute, and the
# helpers share the processors with them. For cluster.sh --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

for protocol in host_assisted packed pipelined segments; do
  step "busy targets, $protocol" multi 'Busy.*' RMA_NONCONTIGUOUS=$protocol
done
step 'busy targets, atomics by the helper' multi 'Busy.*' RMA_ATOMIC_DOMAIN=helper
finish
