#!/usr/bin/env bash
# The part of figures.sh --paper eager-ring that runs on the first host of the cluster; results go to $CLUSTER_RESULTS.
#
# usage: eager_ring_rounds.sh BIN QUICK ROUNDS
set -euo pipefail
bin=$1 quick=$2 rounds=$3
iterations=200 windows=3 sizes=8,64,256,1K,1900,4K,16K,64K few=8,256,1K
if [ "$quick" = 1 ]; then
  iterations=30 windows=1 sizes=8,1K,16K few=8
fi
here=$(dirname "${BASH_SOURCE[0]}")
peer=node$CLUSTER_HOSTS
# shellcheck source=bench/attempts.sh
. "$here/../attempts.sh"
# shellcheck source=bench/perftest.sh
. "$here/../perftest.sh"
# shellcheck source=bench/papers/messages_runs.sh
. "$here/messages_runs.sh"
raw() { attempt "figures: ${*:2}" perftest "$@" || true; }

# Ranks poll as long as perftest does. A slot is as long as a message buffer, so that both channels take the same
# messages at once, and longer ones go by the same rendezvous.
common=(RMA_SPIN=1000000 RMA_RING_SLOT=2K)
for ((round = 1; round <= rounds; ++round)); do
  echo "figures: round $round of $rounds"
  folder=$CLUSTER_RESULTS/round-$round
  mkdir -p "$folder"
  # The device's own two ways: a write that the target polls for, and a send into a receive. Perftest's streams have
  # 100 under way, as many as a window.
  raw "$folder/write-latency.raw" ib_write_lat -d rxe0 -s 8 -n $iterations
  raw "$folder/send-latency.raw" ib_send_lat -d rxe0 -s 8 -n $iterations
  raw "$folder/write-rate.raw" ib_write_bw -d rxe0 -s 64 -n 1000 -t 100
  raw "$folder/send-rate.raw" ib_send_bw -d rxe0 -s 64 -n 1000 -t 100 -r 200
  for form in ring queue; do
    case $form in
      ring) channel=(RMA_POLLING_SET=8 RMA_PROMOTE=1 RMA_RING_SLOTS=128) ;;
      queue) channel=(RMA_POLLING_SET=0) ;;
    esac
    run "$folder/$form" "${common[@]}" "${channel[@]}" -- -n 1 -- messages-bench --mode latency,bandwidth --form $form \
      --iterations $iterations --windows $windows --sizes $sizes
    run "$folder/$form-overhead" "${common[@]}" "${channel[@]}" -- -n 1 -- messages-bench --mode overhead --form $form \
      --iterations $((iterations / 2)) --sizes $few
    for output in "$folder/$form" "$folder/$form-overhead"; do
      case $form in
        ring) counted "$output" message_ring ;;
        queue) not_counted "$output" message_ring ;;
      esac
    done
  done
done
