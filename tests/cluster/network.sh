#!/usr/bin/env bash
# Transfers and atomics between two hosts with two devices each. For cluster.sh --hosts 2 --rails 2.
. "$(dirname "$0")/lib.sh"
bin=$1

# counted NAME VALUE COMMAND...: the statistics of every rank must have this count of that name.
counted() {
  local name=$1 value=$2 counts
  shift 2
  counts=$(RMA_STATS=json "$@" 2>&1 | grep -o "\"$name\":[0-9]*") || return
  printf '%s\n' "$counts"
  [ "$(sort -u <<< "$counts")" = "\"$name\":$value" ]
}
# copied COMMAND...: the command must succeed, and both ranks must use each other's helper for every kind of
# operation.
copied() {
  local log status=0 name
  log=$(mktemp)
  RMA_STATS=json "$@" > "$log" 2>&1 || status=$?
  cat "$log"
  for name in put_copied get_copied accumulate_helper atomic_helper; do
    [ "$(grep -c "\"$name\":[1-9]" "$log")" = 2 ] || status=1
  done
  rm -f "$log"
  return $status
}

step 'the transport by itself' "$bin/rma-verbs-tests"
step 'random puts and gets, 2 x 2' random_addresses cluster-run -n 2 -- "$bin/rma-cluster-job" traffic 60
step 'the same over one rail, 2 x 1' cluster-run -n 1 --env RMA_DEVICES=rxe1 -- "$bin/rma-cluster-job" traffic 60
for bytes in 4 8; do
  step "atomic operations on $bytes bytes, 2 x 2" cluster-run -n 2 -- "$bin/rma-cluster-job" operations_$bytes
  step "one counter of $bytes bytes, 2 x 2" cluster-run -n 2 -- "$bin/rma-cluster-job" hammer_$bytes 100
done
step 'atomic operations by the helper, 2 x 2' cluster-run -n 2 --env RMA_ATOMIC_DOMAIN=helper -- \
  "$bin/rma-cluster-job" operations_8
step 'one counter by the helper, 2 x 2' cluster-run -n 2 --env RMA_ATOMIC_DOMAIN=helper -- \
  "$bin/rma-cluster-job" hammer_8 100
for strategy in cache register pipeline bounce; do
  step "memory that changes under its address, $strategy" \
    cluster-run -n 1 --env RMA_LOCAL_BUFFERS=$strategy -- "$bin/rma-cluster-job" reuse_address
done
# Announced messages are read, or written piece by piece, over both rails by both ranks.
both_rails() {
  local counts
  counts=$(cluster-run -n 1 --timeout 300 --env RMA_STATS=json --env RMA_RENDEZVOUS="$1" -- "$bin/rma-multi-tests" \
    --gtest_filter='Rendezvous.*' 2>&1 | grep -o "\"$2\":[1-9][0-9]*\|\"rdma_bytes_rail[01]\":[1-9][0-9]*") || return
  printf '%s\n' "$counts"
  [ "$(cut -d: -f1 <<< "$counts" | sort | uniq -c | awk '$1 == 2' | wc -l)" = 3 ]
}
step 'announced messages are read over both rails' both_rails read receive_rdma
step 'announced messages are written over both rails' both_rails pipeline receive_pipeline
# Rank 1 finds no device, so RMA_NETWORK=auto takes another network for it than for rank 0.
as_hosts_differ() {
  cluster-run -n 1 --timeout 120 "$@" -- \
    sh -c 'test "$PMIX_RANK" = 0 || export RMA_DEVICES=eth0; exec "$0" operations_8' "$bin/rma-cluster-job"
}
# refused COMMAND...: it must end before its time limit, with both networks' names.
refused() {
  local output status=0
  output=$("$@" 2>&1) || status=$?
  printf '%s\n' "$output"
  [ $status -ne 0 ] && [ $status -ne 124 ] && grep -qE 'the network of rank 0 is verbs, and that of rank 1 is ofi|the network of rank 1 is ofi, and that of rank 0 is verbs' \
      <<< "$output"
}
step 'one host has RDMA devices, and the other has none' refused as_hosts_differ
step 'the same hosts by ofi' as_hosts_differ --env RMA_NETWORK=ofi --env RMA_DEVICES=eth0
step 'an idle job connects to nobody' counted connect 0 cluster-run -n 2 -- "$bin/rma-cluster-job" idle
step 'a limit of locked memory' copied limited 4000 "$bin/rma-cluster-job" memory_limit 5
step 'SUMMA, 2 x 2' cluster-run -n 2 -- "$bin/summa" --m 256 --n 256 --k 256 --block 64 --verify
# The grid decides the shape of the faces between the hosts: whole planes, lines, or single points.
mg() {
  cluster-run -n 2 -- "$bin/nas_mg" "$@"
}
step 'MG class S, 2 x 2' mg --class S
step 'MG class S, 2 x 2, points between the hosts' mg --class S --grid 4,1,1
step 'MG class W, 2 x 2' mg --class W
step 'MG class W, 2 x 2, lines between the hosts' mg --class W --grid 1,4,1
finish
