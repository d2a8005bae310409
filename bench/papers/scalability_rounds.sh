#!/usr/bin/env bash
# The part of figures.sh --paper scalability that runs on the first host of the cluster; results go to $CLUSTER_RESULTS.
#
# usage: scalability_rounds.sh BIN QUICK ROUNDS
set -euo pipefail
bin=$1 quick=$2 rounds=$3
ranks=(2 4 8 16 32 64) peers=1,2,4,8,16,32 others=32 iterations=256
if [ "$quick" = 1 ]; then
  ranks=(2 4) peers=1,2 others=2 iterations=16
fi
# shellcheck source=bench/papers/messages_runs.sh
. "$(dirname "${BASH_SOURCE[0]}")/messages_runs.sh"

# channel FORM: sets the settings of a way of short messages: by the shared receive queue; by a ring from each peer; by
# a queue of which each peer has as many buffers to itself as all of them share otherwise.
channel() {
  case $1 in
    shared) settings=(RMA_POLLING_SET=0) ;;
    ring) settings=(RMA_POLLING_SET=64 RMA_PROMOTE=1) ;;
    own) settings=(RMA_POLLING_SET=0 RMA_SRQ_PEER=32 RMA_SRQ_FACTOR=0 RMA_SRQ_BASE=1) ;;
  esac
}

for ((round = 1; round <= rounds; ++round)); do
  echo "figures: round $round of $rounds"
  folder=$CLUSTER_RESULTS/round-$round
  mkdir -p "$folder"
  for form in shared ring; do
    channel $form
    run "$folder/peers-$form" "${settings[@]}" -- -n 1,$others -- messages-bench --mode peers --form $form \
      --peers $peers --iterations $iterations
  done
  counted "$folder/peers-ring" message_ring
  # Memory does not vary.
  [ "$round" = 1 ] || continue
  for form in shared own ring; do
    channel $form
    for count in "${ranks[@]}"; do
      meet=$(mktemp)
      run "$folder/memory-$form-$count" RMA_SHM=off "${settings[@]}" -- --hosts 1 -n "$count" -- network-bench \
        --mode memory --messages --meet "$meet" --label "$form $count: "
      rm -f "$meet"
    done
  done
done
