#!/usr/bin/env bash
# Compares librma's OpenSHMEM with Debian's (Open MPI) on this machine: builds bench/shmem/main.c with both, runs them in
# turn, and prints the medians over the rounds, in nanoseconds, and their ratios.
#
# usage: bench/shmem/compare.sh [ROUNDS]     (3 by default)
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-3}
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "compare: the rounds are '$rounds'" >&2 && exit 2; }
scripts/build.sh release shmem-bench rmarun

results=build/compare-shmem
rm -rf "$results"
mkdir -p "$results"
python3 bench/report/machine.py > "$results/machine.txt"
oshcc -O3 -DNDEBUG bench/shmem/main.c -o "$results/oshmem" 2> "$results/oshcc.log"
bind=none
[ "$(nproc)" -lt 2 ] || bind=core

# Debian's crashes in shmem_finalize unless UCX's memory hooks are off, and aborts in a compare-and-swap.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 UCX_MEM_EVENTS=no
for round in $(seq "$rounds"); do
  build/bin/rmarun -n 2 --bind $bind build/bin/shmem-bench > "$results/librma.$round"
  timeout 300 oshrun -np 2 --bind-to $bind --oversubscribe "$results/oshmem" --no-cswap \
    > "$results/oshmem.$round" 2> "$results/oshmem.log" || true
done

# median NAME ROW MEMORY
median() {
  cat "$results/$1".[0-9]* | awk -v row="$2" -v memory="$3" '$1 == row && $2 == memory { print $3 }' | sort -n |
    awk '{ value[NR] = $1 } END { print NR ? value[int((NR + 1) / 2)] : "-" }'
}
printf '%-12s %-7s %10s %10s %8s\n' call memory librma oshmem ratio
while read -r row memory _; do
  ours=$(median librma "$row" "$memory") theirs=$(median oshmem "$row" "$memory")
  printf '%-12s %-7s %10s %10s %8s\n' "$row" "$memory" "$ours" "$theirs" \
    "$(awk -v a="$ours" -v b="$theirs" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }')"
done < "$results/librma.1"
