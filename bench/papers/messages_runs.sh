# shellcheck shell=bash
# Functions for the rounds of the papers on messages. Those scripts source this file, and set `bin`.

# run OUTPUT SETTING... -- [CLUSTER-RUN OPTION...] -- PROGRAM OPTION...: runs a program of the folder `bin` over the
# hosts, with its results in OUTPUT.json and rank 0's counts in OUTPUT.counts.
run() {
  local output=$1 settings=() placement=()
  shift
  while [ "$1" != -- ]; do settings+=(--env "$1") && shift; done
  shift
  while [ "$1" != -- ]; do placement+=("$1") && shift; done
  shift
  local program=$1
  shift
  if ! cluster-run --timeout 1800 ${placement[@]+"${placement[@]}"} --env RMA_DEVICES=rxe0 --env RMA_STATS=table \
    --env "RMA_STATS_FILE=$output.counts.%r" ${settings[@]+"${settings[@]}"} -- "$bin/$program" --json "$output.json" \
    "$@" > "$output.log" 2>&1; then
    echo "figures: $program $* with ${settings[*]-} failed:" >&2
    cat "$output.log" >&2
    exit 1
  fi
}
# counted OUTPUT COUNTER: fails unless the run counted this at any rank. So a figure never shows one protocol under the
# name of another.
counted() {
  cat "$1".counts.* | awk -v name="$2" '$1 == name { sum += $2 } END { exit sum == 0 }' || {
    echo "figures: $1: nothing was counted as $2" >&2
    exit 1
  }
}
# not_counted OUTPUT COUNTER: fails if the run counted this.
not_counted() {
  cat "$1".counts.* | awk -v name="$2" '$1 == name { sum += $2 } END { exit sum != 0 }' || {
    echo "figures: $1: something was counted as $2" >&2
    exit 1
  }
}
