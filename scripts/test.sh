#!/usr/bin/env bash
# Runs every test: installs missing packages, builds into build/, runs the tests and ends with ctest's summary.
#
# usage: scripts/test.sh [OPTION...]     (the options are ctest's)
#   -L unit        the tests of one process, a folder of src each
#   -L multi       several ranks under rmarun
#   -L cluster     jobs over emulated hosts with RDMA devices; skipped if emulation is not possible
#   -LE package    all but the test that installs the library and builds against it
#   -R NAME        the tests whose name matches
#   -N             only list them
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' scripts/test.sh
    exit 0
    ;;
esac

scripts/build.sh release
# Without these packages the tests of several hosts print what is missing, and count as skipped.
scripts/setup.sh cluster || echo 'test: the tests of several hosts will be skipped'
# A test of several ranks counts as two processors (its PROCESSORS property), so on a small machine no other one of them
# runs beside it, but a test that mostly waits does.
exec ctest --preset release --parallel $(($(nproc) + 1)) --no-tests=error "$@" < /dev/null
