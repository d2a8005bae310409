#!/usr/bin/env bash
# Transfers and atomics between two hosts with two devices each. For cluster.sh --hosts 2 --rails 2.
. "$(dirname "$0")/lib.sh"
bin=$1

# counted NAME VALUE COMMAND...: every rank's statistics have this count of that name.
counted() {
  local name=$1 value=$2 counts
  shift 2
  counts=$(RMA_STATS=json "$@" 2>&1 | grep -o "\"$name\":[0-9]*") || return
  printf '%s\n' "$counts"
  [ "$(sort -u <<< "$counts")" = "\"$name\":$value" ]
}
# limited KB COMMAND...: every rank may register so much and has no capability to register more.
limited() {
  local kb=$1
  shift
  cluster-run -n 1 -- bash -c "ulimit -l $kb && exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock -- \"\$@\"" \
    limited "$@"
}

step 'the transport by itself' "$bin/rma-verbs-tests"
step 'random puts and gets, 2 x 2' cluster-run -n 2 -- "$bin/rma-cluster-job" traffic 60
step 'the same over one rail, 2 x 1' cluster-run -n 1 --env RMA_DEVICES=rxe1 -- "$bin/rma-cluster-job" traffic 60
step 'one counter, 2 x 2' cluster-run -n 2 -- "$bin/rma-cluster-job" hammer 100
step '4-byte atomics are refused' cluster-run -n 2 -- "$bin/rma-cluster-job" four_bytes
for strategy in cache register pipeline bounce; do
  step "memory that changes under its address, $strategy" \
    cluster-run -n 1 --env RMA_LOCAL_BUFFERS=$strategy -- "$bin/rma-cluster-job" reuse_address
done
step 'an idle job connects to nobody' counted connect 0 cluster-run -n 2 -- "$bin/rma-cluster-job" idle
step 'a limit of locked memory' limited 4000 "$bin/rma-cluster-job" memory_limit 8
step 'SUMMA, 2 x 2' cluster-run -n 2 -- "$bin/summa" --m 256 --n 256 --k 256 --block 64 --verify
# The grid decides what the faces between the hosts are: whole planes, lines, or single points.
mg() {
  cluster-run -n 2 -- "$bin/nas_mg" "$@"
}
step 'MG class S, 2 x 2' mg --class S
step 'MG class S, 2 x 2, points between the hosts' mg --class S --grid 4,1,1
step 'MG class W, 2 x 2' mg --class W
step 'MG class W, 2 x 2, lines between the hosts' mg --class W --grid 1,4,1
finish
