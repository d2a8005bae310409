#!/usr/bin/env bash
# The part of figures.sh --paper pipeline that runs on the first host of the cluster; results go to $CLUSTER_RESULTS.
#
# usage: pipeline_rounds.sh BIN QUICK ROUNDS
set -euo pipefail
bin=$1 quick=$2 rounds=$3
sizes=256K,1M,4M,8M uses=1,2,5,10,20,50 buffer=8M buffers=2 effective=(--longest 1M)
if [ "$quick" = 1 ]; then
  sizes=256K,1M uses=1,4 buffer=1M buffers=1 effective=(--longest 64K --budget 1)
fi
# shellcheck source=bench/papers/messages_runs.sh
. "$(dirname "${BASH_SOURCE[0]}")/messages_runs.sh"

for ((round = 1; round <= rounds; ++round)); do
  echo "figures: round $round of $rounds"
  folder=$CLUSTER_RESULTS/round-$round
  mkdir -p "$folder"
  for protocol in copy read register cache pipeline caching_pipeline; do
    name=$folder/$protocol
    case $protocol in
      copy) counter=receive_fragments ;;
      read) counter=receive_rdma ;;
      *) counter=receive_$protocol ;;
    esac
    run "$name-sizes" RMA_RENDEZVOUS=$protocol -- -n 1 -- messages-bench --mode reuse --form $protocol --sizes $sizes \
      --uses 1 --buffers $buffers
    counted "$name-sizes" $counter
    # Rows with many uses take long, and vary little.
    [ "$round" = 1 ] || uses=$(tr , '\n' <<< "$uses" | awk '$1 < 20' | paste -sd ,)
    run "$name-uses" RMA_RENDEZVOUS=$protocol -- -n 1 -- messages-bench --mode reuse --form $protocol --sizes $buffer \
      --uses "$uses" --buffers 1
    # Ranks of one host use the network too, so that the protocol moves every message.
    run "$name-effective" RMA_RENDEZVOUS=$protocol RMA_SHM=off -- -n 2 -- messages-bench --mode effective \
      --form $protocol "${effective[@]}"
    counted "$name-effective" $counter
  done
done
