#!/usr/bin/env bash
# Runs the applications (apps) three ways in turn, round by round: one-sided over librma, two-sided over librma's
# messages, and the same two-sided program over Open MPI, which it builds. Prints their times and ratios, the goals of
# the one-sided ones beside them. docs/benchmarks.md explains them.
#
# usage: bench/apps.sh [--out DIR] [--quick] [--rounds N] [--build DIR] [--hosts H] [--ranks N]
#   --out DIR     where the table goes as JSON, and the figure (default: BUILD/apps); what was measured is kept in
#                 DIR/rounds
#   --quick       one round of small problems: shows that it works, measures little
#   --rounds N    how often everything is measured; figures are medians over the rounds (default 7)
#   --build DIR   build folder (default build); Open MPI's programs are built in DIR/peers
#   --hosts H     on H hosts of the emulated cluster (scripts/cluster.sh), instead of this machine
#   --ranks N     ranks in all (default 2)
# With --hosts, skipped (exit code 77) where emulation is not possible.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=0 out='' rounds=7 build=build hosts=0 ranks=2
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/apps.sh; }
fail() {
  echo "apps: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --quick) quick=1 && shift ;;
    --out | --rounds | --build | --hosts | --ranks)
      [ $# -ge 2 ] || fail "$1 wants a value"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "--rounds wants a number of 1 or more, not '$rounds'"
[[ $hosts =~ ^[0-8]$ ]] || fail "--hosts wants a number up to 8, not '$hosts'"
[[ $ranks =~ ^(1|2|4|8|16)$ ]] || fail "--ranks wants a power of two up to 16, not '$ranks'"
[ "$hosts" = 0 ] || [ $((ranks % hosts)) = 0 ] || fail "$ranks ranks are not as many on each of $hosts hosts"
[ $quick = 0 ] || rounds=1

programs=(nas_mg nas_mg_two_sided summa summa_two_sided)
if [ "$build" = build ]; then
  scripts/build.sh release rmarun "${programs[@]}"
else
  for program in rmarun "${programs[@]}"; do
    [ -x "$build/bin/$program" ] || fail "$program is not built in $build"
  done
fi

# ---- The same programs over Open MPI, with the optimisation of the release build -------------------------------
peers=$build/peers
mkdir -p "$peers"
read -ra openblas <<< "$(pkg-config --cflags --libs openblas)"
# build_peer NAME FOLDER SOURCE...: builds it from these files of the folder if one of apps is newer.
build_peer() {
  local name=$1 folder=$2
  shift 2
  if [ -x "$peers/$name" ] && [ -z "$(find apps -name '*.?pp' -newer "$peers/$name")" ]; then return; fi
  echo "apps: building $name"
  mpicxx.openmpi -std=c++20 -O3 -DNDEBUG -DOMPI_SKIP_MPICXX -Iapps/job "-I$folder" \
    apps/job/job_mpi.cpp "${@/#/$folder/}" "${openblas[@]}" -lfmt -o "$peers/$name"
}
build_peer nas_mg_openmpi apps/nas_mg main.cpp halo_mpi.cpp charges.cpp decomposition.cpp field.cpp gathering.cpp \
  kernels.cpp multigrid.cpp options.cpp problem.cpp report.cpp
build_peer summa_openmpi apps/summa main.cpp transfer_mpi.cpp memory.cpp memory_mpi.cpp options.cpp grid.cpp \
  multiply.cpp verify.cpp report.cpp

build=$(realpath "$build")
out=${out:-$build/apps}
rm -rf "$out/rounds"
mkdir -p "$out/rounds"
out=$(realpath "$out")
python3 bench/report/machine.py > "$out/machine.txt"
arguments=("$build" "$quick" "$rounds" "$hosts" "$ranks")
if [ "$hosts" = 0 ]; then
  CLUSTER_RESULTS=$out/rounds bench/papers/apps_rounds.sh "${arguments[@]}"
else
  scripts/cluster.sh --hosts "$hosts" --timeout 14400 --results "$out/rounds" \
    --script "$PWD/bench/papers/apps_rounds.sh" "${arguments[@]}"
fi
python3 bench/papers/apps_table.py "$out/rounds" --out "$out"
