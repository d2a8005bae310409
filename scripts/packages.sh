#!/usr/bin/env bash
# The one list of Debian packages that this project needs, by group. Everything else that needs the list asks here.
#
# usage: scripts/packages.sh [GROUP...]
#   build  to build the library, its programs and its tests (the default)
#   ci     what .ci/run needs besides
#   peers  the libraries that bench/compare.sh measures against
set -euo pipefail

build='build-essential g++ cmake ninja-build pkg-config python3 git
  libpmix-dev libjemalloc-dev libhwloc-dev libopenblas-dev
  libfmt-dev libspdlog-dev libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev'
ci='ccache clang-format clang-tidy'
peers='openmpi-bin libopenmpi-dev mpich libmpich-dev'

[ $# -gt 0 ] || set -- build
for group in "$@"; do
  case $group in
    build) printf '%s\n' $build ;;
    ci) printf '%s\n' $ci ;;
    peers) printf '%s\n' $peers ;;
    -h | --help) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" ;;
    *)
      echo "packages.sh: unknown group '$group'; the groups are build, ci and peers" >&2
      exit 2
      ;;
  esac
done
