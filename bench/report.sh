#!/usr/bin/env bash
# Runs all comparisons and measures all figures of the papers, and writes what they say as one page,
# build/report/index.html, with performance.svg, the README's picture. The page needs no network and no other file.
#
# usage: bench/report.sh [--read] [--rounds N] [--quick] [--only LIST] [--out DIR]
#   --read       measure nothing: only write the page, on the finished runs in build/
#   --rounds N   how often everything is measured (default: that of each script)
#   --quick      one short round of everything: shows that it works, measures little
#   --only LIST  measure only these, separated by commas: compare, verbs, tcp, instructions, installed,
#                host-assisted, eager-ring, pipeline, scalability, allgather, apps. The page has the others'
#                finished runs. `installed` installs about 1 GB of programs, so it runs only if it is named
#   --out DIR    where the page goes (default build/report)
# A measurement that is not possible here, such as emulated hosts, is "not measured" on the page. If one fails, the page
# is written without it, and the exit code is 1. All of them together take several hours; docs/benchmarks.md explains
# them.
set -euo pipefail
cd "$(dirname "$0")/.."

read=0 quick=0 rounds='' out=build/report
parts=compare,verbs,tcp,instructions,host-assisted,eager-ring,pipeline,scalability,allgather,apps
only=$parts
parts+=,installed
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/report.sh; }
fail() {
  echo "report: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --read) read=1 && shift ;;
    --quick) quick=1 && shift ;;
    --rounds | --only | --out)
      [ $# -ge 2 ] || fail "$1 wants a value"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
[ -z "$rounds" ] || [[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "--rounds wants a number of 1 or more, not '$rounds'"
for part in ${only//,/ }; do
  case ,$parts, in *,"$part",*) ;; *) fail "--only knows no '$part'; there are $parts" ;; esac
done

options=(${rounds:+--rounds "$rounds"})
[ $quick = 0 ] || options=(--quick)
command_of() {
  case $1 in
    compare) command=(bench/compare.sh "${options[@]}") ;;
    verbs) command=(bench/compare_verbs.sh "${options[@]}") ;;
    tcp) command=(bench/compare_ofi.sh "${options[@]}") ;;
    apps) command=(bench/apps.sh "${options[@]}") ;;
    instructions) command=(bench/instructions.sh --json build/instructions/counts.json) ;;
    installed) command=(bench/installed.sh --rounds "${rounds:-$((quick ? 1 : 3))}" --json build/installed/table.json) ;;
    *) command=(bench/figures.sh --paper "$1" "${options[@]}") ;;
  esac
}

failed=()
if [ $read = 0 ]; then
  for part in ${only//,/ }; do
    command_of "$part"
    case $part in instructions | installed) mkdir -p "build/$part" ;; esac
    [ "$part" != installed ] || python3 bench/report/machine.py > build/installed/machine.txt
    echo "report: ${command[*]}"
    status=0
    "${command[@]}" || status=$?
    case $status in
      0) ;;
      77) echo "report: $part is not possible on this machine" ;;
      *) failed+=("$part") ;;
    esac
  done
fi
python3 bench/report/make.py --out "$out"
[ ${#failed[@]} -eq 0 ] || {
  echo "report: these failed, their messages are above: ${failed[*]}" >&2
  exit 1
}
