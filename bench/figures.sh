#!/usr/bin/env bash
# Makes the measurements of the paper's figures in one boot of the emulated cluster (scripts/cluster.sh), and draws the
# figures. Each gives a JSON and an SVG, named after the paper's. Prints a table of the ratios that have goals.
# docs/benchmarks.md explains them.
#
# usage: bench/figures.sh [--out DIR] [--quick] [--rounds N] [--build DIR] [--cpus C]
#   --out DIR     where the figures go (default: BUILD/figures); what was measured is kept in DIR/rounds
#   --quick       one short round: shows that it works, measures little
#   --rounds N    how often everything is measured; figures are medians over the rounds (default 5)
#   --build DIR   build folder (default build)
#   --cpus C      processors of each host (default 1)
# Skipped (exit code 77) where emulation is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=0 out='' rounds=5 build=build cpus=1
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/figures.sh; }
fail() {
  echo "figures: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --quick) quick=1 && shift ;;
    --out | --rounds | --build | --cpus)
      [ $# -ge 2 ] || fail "$1 wants a value"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "--rounds wants a number of 1 or more, not '$rounds'"
[ $quick = 0 ] || rounds=1
command -v gnuplot > /dev/null || fail 'there is no gnuplot; scripts/setup.sh peers installs it'

if [ "$build" = build ]; then
  scripts/build.sh release figures-bench raw-verbs
elif [ ! -x "$build/bin/figures-bench" ] || [ ! -x "$build/bin/raw-verbs" ]; then
  fail "figures-bench and raw-verbs are not built in $build"
fi
build=$(realpath "$build")
out=${out:-$build/figures}
rm -rf "$out/rounds"
mkdir -p "$out/rounds"
out=$(realpath "$out")

scripts/cluster.sh --hosts 2 --cpus "$cpus" --timeout 14400 --results "$out/rounds" \
  --script "$PWD/bench/figures_rounds.sh" "$build/bin" "$quick" "$rounds"
python3 bench/figures_table.py "$out/rounds" --out "$out"
