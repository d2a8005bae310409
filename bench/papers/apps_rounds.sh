#!/usr/bin/env bash
# The part of apps.sh that runs the programs, on this machine or on the first host of the cluster; results go to
# $CLUSTER_RESULTS.
#
# usage: apps_rounds.sh BUILD QUICK ROUNDS HOSTS RANKS
set -euo pipefail
build=$1 quick=$2 rounds=$3 hosts=$4 ranks=$5
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
bound=core
[ "$ranks" -le "$(nproc)" ] || bound=none

# The problems. Emulated hosts are a hundred times slower than this machine.
if [ "$hosts" = 0 ]; then mg=(A W) summa=(1024 2048) block=128; else mg=(S W) summa=(256 512) block=32; fi
if [ "$quick" = 1 ]; then mg=(S) summa=(128) block=32; fi

# run LIBRARY OUTPUT PROGRAM OPTION...: runs one program, with its results in OUTPUT.json. None may fail.
run() {
  local library=$1 output=$2 launch
  shift 2
  if [ "$hosts" != 0 ]; then
    launch=(cluster-run --timeout 900 -n $((ranks / hosts)) --)
  elif [ "$library" = rma ]; then
    launch=("$build/bin/rmarun" -n "$ranks" --bind "$bound")
  else
    launch=(mpirun.openmpi -n "$ranks" --oversubscribe)
    if [ $bound = core ]; then
      launch+=(--bind-to core)
    else
      launch+=(--bind-to none --mca mpi_yield_when_idle 1)
    fi
  fi
  if ! "${launch[@]}" "$@" --json > "$output.json" 2> "$output.log" < /dev/null; then
    echo "apps: $* failed:" >&2
    cat "$output.log" >&2
    exit 1
  fi
}

for ((round = 1; round <= rounds; ++round)); do
  echo "apps: round $round of $rounds"
  folder=$CLUSTER_RESULTS/round-$round
  mkdir -p "$folder"
  for class in "${mg[@]}"; do
    run rma "$folder/mg-$class.one-sided" "$build/bin/nas_mg" --class "$class"
    run rma "$folder/mg-$class.two-sided" "$build/bin/nas_mg_two_sided" --class "$class"
    run mpi "$folder/mg-$class.openmpi" "$build/peers/nas_mg_openmpi" --class "$class"
  done
  for side in "${summa[@]}"; do
    shape=(--m "$side" --n "$side" --k "$side" --block "$block" --mode both --verify)
    run rma "$folder/summa-$side.one-sided" "$build/bin/summa" "${shape[@]}"
    run rma "$folder/summa-$side.two-sided" "$build/bin/summa_two_sided" "${shape[@]}"
    run mpi "$folder/summa-$side.openmpi" "$build/peers/summa_openmpi" "${shape[@]}"
  done
done
