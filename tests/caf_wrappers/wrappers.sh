#!/usr/bin/env bash
# Builds a program with rma_caf, and from an installation also through pkg-config and CMake. Runs it alone, under rmarun
# and under rma_cafrun.
#
# usage: wrappers.sh build|installed BUILD_DIRECTORY CMAKE FORTRAN_COMPILER
#   installed  installs the build into a prefix first, and moves that to a name with a blank
set -euo pipefail
where=$1 build=$2 cmake=$3 fc=$4
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../wrappers_under_test.sh" caf/bin cafrun

# right IMAGES COMMAND...: prints "sum IMAGES*(IMAGES+1)/2 of IMAGES" and nothing else.
right() {
  local images=$1 out
  shift
  out=$("$@" < /dev/null 2>&1) || fail "'$*' failed: $out"
  [ "$out" = "sum $((images * (images + 1) / 2)) of $images" ] || fail "'$*' printed: $out"
}

# runs NAME: the program is right.
runs() {
  right 1 "$work/$1"
  right 2 "$bin/rmarun" -n 2 --timeout 60 "$work/$1"
  right 3 "$bin/rma_cafrun" -np 3 --timeout 60 "$work/$1"
  right 2 "$usual/cafrun" -n 2 --timeout 60 "$work/$1"
  echo "$where $1: right"
}

# compiled NAME COMMAND...: the command makes a program that is right.
compiled() {
  local name=$1 out
  shift
  out=$("$@" -o "$work/$name" 2>&1) || fail "'$* -o $work/$name' failed: $out"
  runs "$name"
}

compiled wrapper "$bin/rma_caf" -Wall -Wextra -Werror "$here/program.f90"
compiled usual "$usual/caf" -fc="$fc" -O2 "$here/program.f90"
"$bin/rma_caf" -c "$here/program.f90" -o "$work/program.o"
compiled object "$bin/rma_caf" "$work/program.o"
for option in -show -showme:compile -showme:link -showme:version -showme:help; do
  [ -n "$("$bin/rma_caf" $option)" ] || fail "rma_caf $option prints nothing"
done

# gfortran 15 needs the library of its interface, which has the functions of the earlier one, too. A compiler that only
# says that it has this version stands for it.
cat > "$work/later" <<EOF
#!/bin/sh
[ "\$1" != -dumpversion ] || exec echo 15
exec "$fc" "\$@"
EOF
chmod +x "$work/later"
compiled gfortran15 env RMA_FC="$work/later" "$bin/rma_caf" "$here/program.f90"
readelf -d "$work/gfortran15" | grep -q 'NEEDED.*libcaf_rma.so.4' || fail 'a program of gfortran 15 needs another libcaf_rma'
# No library has the interface of gfortran 16: the program would crash.
sed 's/echo 15/echo 16/' "$work/later" > "$work/too_late"
chmod +x "$work/too_late"
! RMA_FC="$work/too_late" "$bin/rma_caf" "$here/program.f90" -o "$work/gfortran16" 2> "$work/log" || fail 'gfortran 16 is not refused'
grep -q 'versions 12 to 15 can be used' "$work/log" || fail "gfortran 16: $(cat "$work/log")"
readelf -d "$work/wrapper" | grep -q 'NEEDED.*libcaf_rma.so.3' || fail 'a program of gfortran 12 needs another libcaf_rma'

if [ "$where" = installed ]; then
  export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name rma-caf.pc)")
  libdir=$(dirname "$(find "$prefix" -name libcaf_rma.so.3)")
  eval "flags=($(pkg-config --cflags --libs rma-caf))"
  compiled pkg_config "$fc" "$here/program.f90" "${flags[@]}" -Wl,-rpath,"$libdir"
  { "$cmake" -S "$here/project" -B "$work" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_Fortran_COMPILER="$fc" &&
    "$cmake" --build "$work"; } > "$work/log" 2>&1 || fail "$(cat "$work/log")"
  runs shared
  runs static
fi
