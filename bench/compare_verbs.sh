#!/usr/bin/env bash
# Compares librma between hosts with the network device itself, as Debian's perftest measures it. All runs are in one
# boot of the emulated cluster (scripts/cluster.sh), because only ratios between figures of one boot are meaningful
# there. Each round runs both in turn. docs/benchmarks.md says what the rows and goals mean.
#
# usage: bench/compare_verbs.sh [--quick] [--json FILE] [--hosts 1|2] [--rounds N] [--parts LIST] [--build DIR]
#   --quick       one short round of everything: shows that it works, measures nothing
#   --json FILE   write the comparison as JSON too
#   --hosts 1|2   between two hosts (default), or both ends on one, with RMA_SHM=off
#   --rounds N    how often everything is measured; the table has medians over the rounds (default 5)
#   --parts LIST  of: raw (latency and bandwidth, librma and perftest), rails (one rail and two), reuse (bandwidth by
#                 how often a buffer is used), memory (of each rank); separated by commas (default: all)
#   --ranks LIST  ranks of part memory, separated by commas (default 2,4,8,16)
#   --uses LIST   how often a buffer is used in part reuse (default 1,2,5,10,50,200; from 50 on in the first round only)
#   --build DIR   build folder (default build); results are kept in DIR/compare-verbs
#   --cpus C      processors of each host (default 1; 2 with --hosts 1)
# Skipped (exit code 77) where emulation is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=0 json='' hosts=2 rounds=5 parts=raw,rails,reuse,memory ranks=2,4,8,16 uses=1,2,5,10,50,200 build=build cpus=''
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/compare_verbs.sh; }
fail() {
  echo "compare_verbs: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --quick) quick=1 && shift ;;
    --json | --hosts | --rounds | --parts | --ranks | --uses | --build | --cpus)
      [ $# -ge 2 ] || fail "$1 wants a value"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
[[ $hosts =~ ^[12]$ ]] || fail "--hosts is 1 or 2, not '$hosts'"
[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "--rounds wants a number of 1 or more, not '$rounds'"
[[ $ranks =~ ^[0-9]+(,[0-9]+)*$ ]] || fail "--ranks wants numbers, not '$ranks'"
[[ $uses =~ ^[0-9]+(,[0-9]+)*$ ]] || fail "--uses wants numbers, not '$uses'"
for part in ${parts//,/ }; do
  case $part in raw | rails | reuse | memory) ;; *) fail "--parts knows no '$part'; see --help" ;; esac
done
[ -n "$cpus" ] || cpus=$((3 - hosts))
if [ $quick = 1 ]; then
  rounds=1 ranks=2 uses=1,2
fi

if [ "$build" = build ]; then
  scripts/build.sh release network-bench
elif [ ! -x "$build/bin/network-bench" ]; then
  fail "$build/bin/network-bench is not built"
fi
build=$(realpath "$build")
results=$build/compare-verbs
rm -rf "$results"
mkdir -p "$results"
python3 bench/report/machine.py > "$results/machine.txt"

# 64 ranks need more memory than a host of the cluster has by default.
status=0
scripts/cluster.sh --hosts "$hosts" --rails 2 --cpus "$cpus" --memory 4096 --timeout 14400 --results "$results" \
  --script "$PWD/bench/compare_verbs_rounds.sh" "$build/bin/network-bench" "$quick" "$rounds" "$parts" "$ranks" "$uses" ||
  status=$?
[ $status -eq 0 ] || exit $status
python3 bench/compare_verbs_table.py "$results" ${json:+--json "$json"}
