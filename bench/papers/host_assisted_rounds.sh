#!/usr/bin/env bash
# The part of figures.sh that runs on the first host of the cluster; results go to $CLUSTER_RESULTS.
#
# usage: host_assisted_rounds.sh BIN QUICK ROUNDS
set -euo pipefail
bin=$1 quick=$2 rounds=$3
sizes=16K,64K,256K,1M segments=128,512,1K,4K,16K,64K iterations=100 idle=10
if [ "$quick" = 1 ]; then
  sizes=64K,256K segments=1K,16K iterations=30
fi
# shellcheck source=bench/attempts.sh
. "$(dirname "${BASH_SOURCE[0]}")/../attempts.sh"
bytes=$(numfmt --from=iec -d , --field=- <<< "$sizes")
granted=$(numfmt --from=iec -d , --field=- <<< "$segments" | tr , '\n' | awk '$1 >= 1024' | paste -sd ,)

# raw_once OUTPUT OPTION...: makes the same measurements with the device itself.
raw_once() {
  local output=$1 target
  shift
  set -- "$bin/raw-verbs" --device rxe0 --repetitions 1 --sizes "$bytes" "$@"
  # Only the client has a time limit. end_there ends the target, which must not be a child of timeout: timeout forgets
  # its child if the signal comes while it forks.
  start_there node2 "$*" > "$output.target" 2>&1
  target=$!
  if timeout 900 "$@" --connect node2 --json "$output.json" > "$output.log" 2>&1; then
    wait $target && return 0
  else
    end_there node2
    wait $target || true
  fi
  cat "$output.log" "$output.target" >&2
  rm -f "$output.json"
  return 1
}
raw() { attempt "figures: raw-verbs for $1" raw_once "$@" || true; }
# ours OUTPUT SETTING OPTION...: runs figures-bench with one rank on each host.
ours() {
  local output=$1 setting=$2
  shift 2
  if ! cluster-run --timeout 1800 -n 1 --env RMA_DEVICES=rxe0 --env "$setting" -- "$bin/figures-bench" \
    --json "$output.json" "$@" > "$output.log" 2>&1; then
    echo "figures: figures-bench $* with $setting failed:" >&2
    cat "$output.log" >&2
    exit 1
  fi
}

for ((round = 1; round <= rounds; ++round)); do
  echo "figures: round $round of $rounds"
  folder=$CLUSTER_RESULTS/round-$round
  mkdir -p "$folder"
  raw "$folder/raw"
  # The control waits as librma's ranks do, and also gathers and scatters, but without a helper's assistance.
  raw "$folder/bare" --form bare --asleep --segments "$granted"
  for protocol in packed pipelined segments host_assisted; do
    copied=()
    case $protocol in packed | pipelined) copied=(--copied) ;; esac
    ours "$folder/$protocol" RMA_NONCONTIGUOUS=$protocol --mode cpu-tolerance,overlap --form $protocol \
      --repetitions 1 --sizes $sizes --segments $segments ${copied[@]+"${copied[@]}"}
  done
  for domain in nic helper; do
    ours "$folder/rmw-$domain" RMA_ATOMIC_DOMAIN=$domain --mode rmw --form $domain --iterations $iterations
  done
done
ours "$CLUSTER_RESULTS/round-1/idle" RMA_NONCONTIGUOUS=host_assisted --mode idle --idle-seconds $idle
