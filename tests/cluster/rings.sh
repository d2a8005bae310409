#!/usr/bin/env bash
# Messages by rings (src/channel) between hosts that have processors to spare. Helpers without one never poll and offer
# no rings. Here every peer is offered one at its first message. For cluster.sh --hosts 2 --cpus 2; the argument is the
# folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

# by_rings FILTER SETTING...: runs tests of several ranks, and fails if no message went by a ring.
by_rings() {
  local filter=$1 output settings=()
  shift
  for setting in RMA_POLLING_SET=8 RMA_PROMOTE=1 RMA_STATS=table "$@"; do settings+=(--env "$setting"); done
  output=$(mktemp)
  cluster-run -n 1 --timeout 300 "${settings[@]}" -- "$programs/rma-multi-tests" --gtest_filter="$filter" > "$output" 2>&1 ||
    { cat "$output"; return 1; }
  grep 'tests on' "$output"
  awk '$1 == "message_ring" { sum += $2 } END { print sum + 0, "messages by rings"; exit sum == 0 }' "$output"
}

# flood SETTING...: two ranks flood each other through the smallest windows. 188 of the 600 messages of each are announced
# in any case; more are if there is no room for them.
flood() {
  local output settings=()
  for setting in RMA_STATS=table RMA_UNEXPECTED=4K RMA_SRQ_BASE=1 RMA_SRQ_FACTOR=0 RMA_SRQ_PEER=3 "$@"; do
    settings+=(--env "$setting")
  done
  output=$(mktemp)
  cluster-run -n 1 --timeout 100 "${settings[@]}" -- "$programs/rma-multi-job" flood_both_ways > "$output" 2>&1 ||
    { cat "$output"; return 1; }
  grep passed "$output"
  awk '$1 == "send_rendezvous" { n++; least = n == 1 || $2 < least ? $2 : least }
       END { print least + 0, "messages announced"; exit !(n == 2 && least > 188) }' "$output"
}

step 'order and requests by rings' by_rings 'Order.*:Accumulate.*:Mutex.*:Strided.*:Vector.*'
step 'atomics by rings' by_rings 'Atomic.*:Order.*:Thread.OneCounter*' RMA_ATOMIC_DOMAIN=helper
step 'a flood both ways, by rings' flood RMA_POLLING_SET=8 RMA_PROMOTE=1 RMA_RING_SLOTS=2
step 'a flood both ways, by the queue' flood RMA_POLLING_SET=0
finish
