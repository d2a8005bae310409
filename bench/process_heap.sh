#!/usr/bin/env bash
# What the process heap costs a program (docs/process_heap.md): the median of each measurement of heap-bench
# without it and with it, and the start of an empty job. The two take turns.
#
# usage: bench/process_heap.sh [ROUNDS] [BUILD_DIRECTORY]     (5, build)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5} bin=$(realpath "${2:-build}")/bin
library=$(realpath "${2:-build}")/lib/librma_heap.so.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1

with() { RMA_PROCESS_HEAP=1 LD_PRELOAD=$library "$@"; }
without() { RMA_PROCESS_HEAP=0 "$@"; }
milliseconds() { # of a command
  local begin end
  begin=$(date +%s%N)
  "$@" > /dev/null
  end=$(date +%s%N)
  echo $(((end - begin) / 1000))e-3
}
job() { milliseconds env RMA_PROCESS_HEAP="$1" "$bin/rmarun" -n 2 "${@:2}"; }

median() { sort -g "$1" | sed -n "$(((rounds + 1) / 2))p"; }
row() { # NAME COMMAND_WITHOUT... -- COMMAND_WITH...
  local name=$1 round
  shift
  local -a off=() on=()
  while [ "$1" != -- ]; do off+=("$1") && shift; done
  shift
  on=("$@")
  : > "$work/off"
  : > "$work/on"
  for ((round = 0; round < rounds; ++round)); do
    "${off[@]}" >> "$work/off"
    "${on[@]}" >> "$work/on"
  done
  awk -v name="$name" -v off="$(median "$work/off")" -v on="$(median "$work/on")" \
    'BEGIN { printf "%-34s %10.2f %10.2f %7.2f\n", name, off, on, on / off }'
}

printf '%-34s %10s %10s %7s\n' "milliseconds" "without" "with" "ratio"
echo "transparent_hugepage: $(cat /sys/kernel/mm/transparent_hugepage/enabled), shmem: $(
  cat /sys/kernel/mm/transparent_hugepage/shmem_enabled)"
row "start of 2 x true" job 0 true -- job auto true
row "start of 2 x rma_init" job 0 "$bin/heap-bench" job -- job auto "$bin/heap-bench" job
measure() { # NAME MEASUREMENT SIZE...
  local name=$1 measurement=$2 bytes
  shift 2
  for bytes; do
    row "$name of $bytes" without "$bin/heap-bench" "$measurement" "$bytes" \
      -- with "$bin/heap-bench" "$measurement" "$bytes"
  done
}
measure "first touch, blocks" touch 4K 64K 1M 4M 64M
measure "triad, blocks" triad 1M 64M
measure "random walk, blocks" walk 1M 64M
measure "10^7 malloc and free, 16 to 16+n" pairs 1K 64K
measure "fork with 2 GiB in blocks" fork 1M 64M
