#!/usr/bin/env bash
# Makes the measurements of a paper's figures in one boot of the emulated cluster (scripts/cluster.sh), and draws the
# figures. Each gives a JSON and an SVG, named after the paper's. Prints a table of the values that have goals, with the
# paper's own beside them. docs/benchmarks.md explains the figures.
#
# usage: bench/figures.sh [--paper NAME] [--out DIR] [--quick] [--rounds N] [--build DIR] [--cpus C]
#   --paper NAME  whose figures:
#                   host-assisted  transfers of all layouts, and read-modify-write (the default)
#                   eager-ring     messages by rings and by the shared queue; the time of polling
#                   pipeline       protocols of long messages by the reuse of buffers; effective bandwidth
#                   scalability    memory and latency by the number of peers
#                   allgather      MPI_Allgather by RDMA and by messages, on 2 to 4 hosts
#                 bench/apps.sh measures the applications of the first.
#   --out DIR     where the figures go (default: BUILD/figures/NAME); what was measured is kept in DIR/rounds
#   --quick       one short round: shows that it works, measures little
#   --rounds N    how often everything is measured; figures are medians over the rounds (default 5)
#   --build DIR   build folder (default build)
#   --cpus C      processors of each host (default 1)
# Skipped (exit code 77) where emulation is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=0 out='' rounds=5 build=build cpus=1 paper=host-assisted hosts=2 memory=1536
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/figures.sh; }
fail() {
  echo "figures: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --quick) quick=1 && shift ;;
    --paper | --out | --rounds | --build | --cpus)
      [ $# -ge 2 ] || fail "$1 wants a value"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "--rounds wants a number of 1 or more, not '$rounds'"
[ $quick = 0 ] || rounds=1

# The programs that a paper's rounds run.
case $paper in
  host-assisted) programs=(figures-bench raw-verbs) ;;
  eager-ring) programs=(messages-bench rings-bench) ;;
  pipeline) programs=(messages-bench) ;;
  # 64 ranks of one host, each with buffers of its own for each peer, take 2 GB.
  scalability) programs=(messages-bench network-bench) memory=4096 ;;
  allgather) programs=(collectives-bench) hosts=4 ;;
  *) fail "--paper is host-assisted, eager-ring, pipeline, scalability or allgather, not '$paper'" ;;
esac
if [ "$build" = build ]; then
  scripts/build.sh release "${programs[@]}"
else
  for program in "${programs[@]}"; do
    [ -x "$build/bin/$program" ] || fail "$program is not built in $build"
  done
fi
build=$(realpath "$build")
out=${out:-$build/figures/$paper}
rm -rf "$out/rounds"
mkdir -p "$out/rounds"
out=$(realpath "$out")
python3 bench/report/machine.py > "$out/machine.txt"

# Polling needs no network, and is measured at this machine's own speed.
if [ "$paper" = eager-ring ]; then
  "$build/bin/rings-bench" --json "$out/rounds/polling.json"
fi
scripts/cluster.sh --hosts $hosts --cpus "$cpus" --memory "$memory" --timeout 14400 --results "$out/rounds" \
  --script "$PWD/bench/papers/${paper//-/_}_rounds.sh" "$build/bin" "$quick" "$rounds"
python3 "bench/papers/${paper//-/_}_table.py" "$out/rounds" --out "$out"
