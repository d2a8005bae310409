#!/usr/bin/env bash
# The part of compare_verbs.sh that runs on the first host of the cluster; results go to $CLUSTER_RESULTS.
#
# usage: compare_verbs_rounds.sh NETWORK-BENCH QUICK ROUNDS PARTS RANKS USES
set -euo pipefail
bench=$1 quick=$2 rounds=$3 parts=$4 ranks=$5 uses=$6
results=$CLUSTER_RESULTS
iterations=200 megabytes=6 buffer=8M
if [ "$quick" = 1 ]; then
  iterations=20 megabytes=1 buffer=1M
fi
# Both ends are on one host. The ranks must not use shared memory.
placement=(-n 1)
if [ "$CLUSTER_HOSTS" = 1 ]; then
  placement=(-n 2 --env RMA_SHM=off)
fi
peer=node$CLUSTER_HOSTS
# shellcheck source=bench/attempts.sh
. "$(dirname "${BASH_SOURCE[0]}")/attempts.sh"
# shellcheck source=bench/perftest.sh
. "$(dirname "${BASH_SOURCE[0]}")/perftest.sh"

wanted() { case ,$parts, in *,"$1",*) ;; *) return 1 ;; esac }

# raw OUTPUT PROGRAM OPTION...: runs perftest until it succeeds, within the limit of attempts.
raw() { attempt "compare_verbs: ${*:2}" perftest "$@" || true; }
# ours OUTPUT SETTING... -- OPTION...: runs network-bench between the same hosts.
ours() {
  local output=$1 settings=()
  shift
  while [ "$1" != -- ]; do
    settings+=(--env "$1")
    shift
  done
  shift
  if ! cluster-run --timeout 1800 "${placement[@]}" ${settings[@]+"${settings[@]}"} -- "$bench" --json "$output.json" \
    "$@" > "$output.log" 2>&1; then
    echo "compare_verbs: network-bench $* failed:" >&2
    cat "$output.log" >&2
    exit 1
  fi
}

latencies() {
  raw "$1/put-latency.raw" ib_write_lat -d rxe0 -s 8 -n $iterations
  raw "$1/get-latency.raw" ib_read_lat -d rxe0 -s 8 -n $iterations
  raw "$1/fetch-add-latency.raw" ib_atomic_lat -d rxe0 -A FETCH_AND_ADD -n $iterations
}
bandwidths() {
  local bytes
  for bytes in 65536 1048576; do
    # perftest needs at least five iterations.
    local count=$((megabytes * 1048576 / bytes))
    [ $count -ge 5 ] || count=5
    raw "$1/put-bandwidth-$bytes.raw" ib_write_bw -d rxe0 -s $bytes -n $count
    # Allow as many reads at once as librma's connections do. With perftest's own 128, Soft-RoCE sends
    # most answers twice.
    raw "$1/get-bandwidth-$bytes.raw" ib_read_bw -d rxe0 -s $bytes -n $count -o 16
  done
}

for ((round = 1; round <= rounds; ++round)); do
  echo "compare_verbs: round $round of $rounds"
  folder=$results/round-$round
  mkdir -p "$folder"
  if wanted raw; then
    latencies "$folder"
    # perftest always polls. So the ranks poll here too; 2000 polls are shorter than an operation of
    # an emulated network.
    ours "$folder/latency" RMA_DEVICES=rxe0 RMA_SPIN=1000000 -- --mode latency --iterations $iterations
    bandwidths "$folder"
    ours "$folder/bandwidth" RMA_DEVICES=rxe0 -- --mode bandwidth --megabytes $megabytes
  fi
  if wanted rails; then
    ours "$folder/rails-1" RMA_DEVICES=rxe0 -- --mode bandwidth --megabytes $megabytes --sizes 1M --label '1 rail: '
    ours "$folder/rails-2" RMA_DEVICES=rxe0,rxe1 -- --mode bandwidth --megabytes $megabytes --sizes 1M \
      --label '2 rails: '
  fi
  if wanted reuse; then
    # Rows with many uses of a buffer take long and do not vary.
    [ $round -eq 1 ] || uses=$(tr , '\n' <<< "$uses" | awk '$1 < 50' | paste -sd ,)
    [ -n "$uses" ] || continue
    for strategy in register cache pipeline bounce; do
      ours "$folder/reuse-$strategy" RMA_DEVICES=rxe0 RMA_LOCAL_BUFFERS=$strategy -- --mode reuse --uses $uses \
        --buffer $buffer --label "$strategy: "
    done
  fi
done

if wanted memory; then
  # Without sharing, each peer has as many buffers of its own as the shared queue lends to all of them together, at 4 ranks.
  for count in ${ranks//,/ }; do
    for sharing in shared own; do
      echo "compare_verbs: memory of $count ranks, message buffers $sharing"
      placement=(--hosts 1 -n "$count")
      meet=$(mktemp)
      buffers=()
      [ $sharing = shared ] || buffers=(RMA_SRQ_PEER=32 RMA_SRQ_FACTOR=0 RMA_SRQ_BASE=1)
      ours "$results/memory-$sharing-$count" RMA_SHM=off RMA_DEVICES=rxe0 "${buffers[@]}" -- --mode memory --meet "$meet" \
        --label "$sharing: "
      rm -f "$meet"
    done
  done
fi
