# Sourced by the tests of the compilers' wrappers: tests/{mpi,shmem,caf}_wrappers/wrappers.sh, whose first arguments are
# `where` (build or installed), `build` (a folder) and `cmake`.
#
# usage: . wrappers_under_test.sh FOLDER LAUNCHER [MOVED]
#   FOLDER    of the build, which has the wrappers by their usual names
#   LAUNCHER  one of these names
#   MOVED     the name that the folder of the installation gets at last (default "mo ved", with a blank)
# Sets `work`, a folder that goes at the end, `bin`, the folder of librma's own names, and `usual`, that of the usual
# ones. With `installed`, both are of an installation in `prefix` that was moved there.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "wrappers.sh: $*" >&2
  exit 1
}

bin=$build/bin usual=$build/$1
if [ "$where" = installed ]; then
  "$cmake" --install "$build" --prefix "$work/pre fix" > /dev/null
  prefix=$work/${3:-mo ved}
  mv "$work/pre fix" "$prefix"
  bin=$prefix/bin
  usual=$(dirname "$(find "$prefix" -name "$2")")
fi
