#!/usr/bin/env bash
# Demonstrates the library. Installs missing packages and builds into build/ (programs in build/bin). Then multiplies
# two matrices with four processes, which fetch each other's blocks by one-sided gets, and verifies the result. Then
# runs two sizes of the NAS benchmark MG, whose processes put the faces of their grids into each other's grids, and
# verifies these too.
#
# usage: scripts/demo.sh [-n RANKS] [OPTION...]
#   -n RANKS   how many processes (4); MG takes the power of two below if it is none
#   OPTION...  given to summa instead of --m 2048 --n 2048 --k 2048 --verify; see build/bin/summa --help
set -euo pipefail
cd "$(dirname "$0")/.."

ranks=4
case ${1:-} in
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' scripts/demo.sh
    exit 0
    ;;
  -n)
    ranks=${2:?demo.sh: -n needs a number of ranks}
    shift 2
    ;;
esac
[ $# -gt 0 ] || set -- --m 2048 --n 2048 --k 2048 --verify

scripts/build.sh release rmarun summa nas_mg
# demo RANKS PROGRAM [ARGUMENT...]
demo() {
  echo "demo: build/bin/rmarun -n $1 build/bin/$2 ${*:3}"
  build/bin/rmarun -n "$1" build/bin/"$2" "${@:3}"
}
demo "$ranks" summa "$@"
power=1
while [ $((2 * power)) -le "$ranks" ]; do power=$((2 * power)); done
for class in S W; do demo $power nas_mg --class $class; done
