#!/usr/bin/env bash
# Builds programs in C and C++ with the SHMEM compilers and through pkg-config. Runs each alone, under rmarun and under
# rma_oshrun.
#
# usage: wrappers.sh build|installed BUILD_DIRECTORY CMAKE C_COMPILER C++_COMPILER
#   installed  installs the build into a prefix first, and moves that to a name with a blank
set -euo pipefail
where=$1 build=$2 cmake=$3 cc=$4 cxx=$5
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../wrappers_under_test.sh" shmem/bin oshcc

# right PES COMMAND...: prints "sum PES*(PES+1)/2 of PES" once.
right() {
  local pes=$1 out
  shift
  out=$("$@" < /dev/null 2>&1) || fail "'$*' failed: $out"
  [ "$(grep -c "^sum $((pes * (pes + 1) / 2)) of $pes\$" <<< "$out")" -eq 1 ] || fail "'$*' printed: $out"
}

# compiled NAME COMMAND...: the command makes a program that is right.
compiled() {
  local name=$1 out
  shift
  out=$("$@" -o "$work/$name" 2>&1) || fail "'$* -o $work/$name' failed: $out"
  right 1 "$work/$name"
  right 2 "$bin/rmarun" -n 2 --timeout 60 "$work/$name"
  right 2 "$bin/rma_oshrun" -np 2 --oversubscribe "$work/$name"
  right 3 "$usual/oshrun" -n 3 -x NAME=VALUE --timeout 60 "$work/$name"
  echo "$where $name: right"
}

compiled c "$bin/rma_oshcc" -Wall -Wextra -Werror "$here/program.c"
compiled c99 "$usual/oshcc" -cc="$cc" -std=gnu11 "$here/program.c"
compiled cxx "$bin/rma_oshcxx" -Wall -Wextra -Werror "$here/program.cpp"
compiled cxx17 "$usual/oshc++" -std=c++17 "$here/program.cpp"
RMA_CXX=$cxx compiled c_as_cxx "$usual/oshCC" -x c++ "$here/program.c"
"$bin/rma_oshcc" -c "$here/program.c" -o "$work/program.o"
compiled object "$bin/rma_oshcc" "$work/program.o"
for option in -show -showme:compile -showme:link -showme:version -showme:help; do
  [ -n "$("$bin/rma_oshcc" $option)" ] || fail "rma_oshcc $option prints nothing"
done

if [ "$where" = installed ]; then
  export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name rma-shmem.pc)")
  libdir=$(dirname "$(find "$prefix" -name libshmem.so)")
  eval "flags=($(pkg-config --cflags --libs rma-shmem))"
  compiled pc_c "$cc" "$here/program.c" "${flags[@]}" -Wl,-rpath,"$libdir"
fi
