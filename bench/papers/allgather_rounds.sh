#!/usr/bin/env bash
# The part of figures.sh --paper allgather that runs on the first host of the cluster; results go to $CLUSTER_RESULTS.
#
# usage: allgather_rounds.sh BIN QUICK ROUNDS
set -euo pipefail
bin=$1 quick=$2 rounds=$3
options=()
[ "$quick" = 0 ] || options=(--quick)
# shellcheck source=bench/papers/messages_runs.sh
. "$(dirname "${BASH_SOURCE[0]}")/messages_runs.sh"

for ((round = 1; round <= rounds; ++round)); do
  echo "figures: round $round of $rounds"
  folder=$CLUSTER_RESULTS/round-$round
  mkdir -p "$folder"
  for hosts in 2 3 4; do
    # Without the cache of registrations, no buffer profits from an earlier call, as if it were used once.
    for buffers in cache register; do
      for way in p2p rdma; do
        name=$folder/$way-$buffers-$hosts
        run "$name" RMA_ALLGATHER=$way RMA_LOCAL_BUFFERS=$buffers -- --hosts $hosts -n 1 -- collectives-bench \
          --suite allgather ${options[@]+"${options[@]}"}
        if [ $way = rdma ]; then
          counted "$name" allgather_zero_copy
          not_counted "$name" allgather_refused
        else
          not_counted "$name" allgather_rdma
        fi
      done
    done
  done
done
