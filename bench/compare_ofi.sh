#!/usr/bin/env bash
# Compares librma over libfabric with libfabric itself, between two processes of this machine and by the same provider, and
# librma's MPI with Open MPI and MPICH by TCP between two network namespaces (compare_tcp.py), and the time to start jobs on
# hosts of this kind (compare_start.py). Each round runs all in turn, because only ratios between figures of one moment
# are meaningful. docs/networks.md says what the rows mean.
#
# usage: bench/compare_ofi.sh [--quick] [--json FILE] [--rounds N] [--provider NAME] [--build DIR]
#   --quick          one short round: shows that it works, measures nothing
#   --json FILE      write the comparison as JSON too
#   --rounds N       how often everything is measured; the table has medians over the rounds (default 5)
#   --provider NAME  libfabric's provider (default: tcp, or net where tcp has no reliable datagrams)
#   --build DIR      build folder (default build); results are kept in DIR/compare-ofi
# Skipped (exit code 77) if librma was built without libfabric.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=0 json='' rounds=5 provider='' build=build
fail() {
  echo "compare_ofi: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/compare_ofi.sh && exit 0 ;;
    --quick) quick=1 && shift ;;
    --json | --rounds | --provider | --build)
      [ $# -ge 2 ] || fail "$1 wants a value"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "--rounds wants a number of 1 or more, not '$rounds'"

[ "$build" != build ] || scripts/build.sh release network-bench mpi-network-bench figures-bench rmarun example-hello_put
if [ ! -x "$build/bin/raw-fabric" ] && ! scripts/build.sh release raw-fabric; then
  echo 'compare_ofi: skipped: librma was built without libfabric'
  exit 77
fi
if [ -z "$provider" ]; then
  provider=net
  ! fi_info -p tcp -t FI_EP_RDM 2> /dev/null | grep -x 'provider: tcp' > /dev/null || provider=tcp
fi
size=(--iterations 2000 --megabytes 256)
strided=(--segments 64,1k,16k)
if [ $quick = 1 ]; then
  rounds=1 size=(--iterations 20 --megabytes 8) strided=(--segments 16k --repetitions 1)
fi
results=$build/compare-ofi
rm -rf "$results"
mkdir -p "$results"
python3 bench/report/machine.py > "$results/machine.txt"
for ((round = 1; round <= rounds; round++)); do
  "$build/bin/raw-fabric" --provider "$provider" "${size[@]}" --json "$results/fabric.$round.json" > /dev/null
  "$build/bin/rmarun" -n 2 --timeout 600 --env RMA_SHM=off --env RMA_NETWORK=ofi --env "RMA_OFI_PROVIDER=$provider" \
    "$build/bin/network-bench" --mode complete "${size[@]}" --json "$results/rma.$round.json" > /dev/null
  for protocol in host_assisted pipelined packed; do
    "$build/bin/rmarun" -n 2 --timeout 600 --env RMA_SHM=off --env RMA_NETWORK=ofi --env "RMA_OFI_PROVIDER=$provider" \
      --env "RMA_NONCONTIGUOUS=$protocol" "$build/bin/figures-bench" --mode strided --total 256k "${strided[@]}" \
      --json "$results/strided.$protocol.$round.json" > /dev/null
  done
done
python3 bench/compare_ofi_table.py "$results" ${json:+--json "$json"}
echo
hosts=(--iterations 1000 --megabytes 128)
[ $quick = 0 ] || hosts=(--iterations 20 --megabytes 8)
python3 bench/compare_tcp.py --build "$build" --rounds "$rounds" "${hosts[@]}" --json "$results/tcp.json" || [ $? = 77 ]
echo
small=()
[ $quick = 0 ] || small=(--quick)
python3 bench/compare_start.py --build "$build" --rounds "$rounds" "${small[@]}" --json "$results/start.json" || [ $? = 77 ]
