#!/usr/bin/env bash
# Installs missing packages, configures one of the builds of CMakePresets.json and builds it. Shows progress on a
# terminal; in a pipe it prints output only after a failure.
#
# usage: scripts/build.sh [PRESET [TARGET...]]     (release by default, into build/; everything by default)
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  -h | --help)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' scripts/build.sh
    exit 0
    ;;
esac
preset=${1:-release}
shift || true
[ $# -gt 0 ] || set -- all
scripts/setup.sh build

# Runs a command. Shows its output only on a terminal, or if it fails.
quietly() {
  if [ -t 1 ]; then
    "$@"
    return
  fi
  local log
  log=$(mktemp)
  if ! "$@" > "$log" 2>&1; then
    # Print the compilers' messages first, because with two jobs at once they may not be near the end.
    grep -E -A 12 'error:|Error |FAILED:' "$log" | head -n 60 || true
    echo "... the last lines of '$*':"
    tail -n 40 "$log"
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# The launcher is passed every time, so that a build directory stays valid if the compiler cache is
# installed or removed. With paths relative to the checkout, one cache serves all checkouts of this machine. The launcher
# sets this itself, so that a later `ninja -C build` fills the same cache.
launcher=$(command -v ccache || true)
[ -z "$launcher" ] || launcher="env;CCACHE_BASEDIR=$PWD;CCACHE_NOHASHDIR=1;$launcher"
echo "build: preset $preset, targets: $*"
quietly cmake --preset "$preset" -D CMAKE_C_COMPILER_LAUNCHER="$launcher" -D CMAKE_CXX_COMPILER_LAUNCHER="$launcher"
quietly cmake --build --preset "$preset" --target "$@"
