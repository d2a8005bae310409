#!/usr/bin/env bash
# Builds programs in C, C++ and Fortran with the MPI compilers, by themselves, through CMake's FindMPI and through
# pkg-config. Runs each under rmarun, and one in C and one in Fortran also alone, under rma_mpiexec, and under other MPIs'
# launchers that are there.
#
# usage: wrappers.sh build|installed BUILD_DIRECTORY CMAKE C_COMPILER C++_COMPILER [FORTRAN_COMPILER]
#   installed  installs the build into a prefix first, and moves that to a name with a blank
set -euo pipefail
where=$1 build=$2 cmake=$3 cc=$4 cxx=$5 fortran=${6:-}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../wrappers_under_test.sh" mpi/bin mpicc moved
[ "$where" != installed ] || export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name rma-mpi.pc)")

# right RANKS COMMAND...: prints "sum RANKS*(RANKS+1)/2 of RANKS" once.
right() {
  local ranks=$1 out
  shift
  out=$("$@" < /dev/null 2>&1) || fail "'$*' failed: $out"
  [ "$(grep -c "^ *sum *$((ranks * (ranks + 1) / 2)) of *$ranks *\$" <<< "$out")" -eq 1 ] || fail "'$*' printed: $out"
}

launchers() {
  local program=$1 mpirun
  right 1 "$program"
  right 2 "$bin/rma_mpiexec" -np 2 --oversubscribe "$program"
  right 3 "$usual/mpiexec" -n 3 -x NAME=VALUE --timeout 60 "$program"
  mpirun=$(command -v mpirun.openmpi || true)
  [ -z "$mpirun" ] || right 2 timeout 100 "$mpirun" --oversubscribe --allow-run-as-root -n 2 "$program"
}

# compiled NAME COMMAND...: the command makes a program that is right.
compiled() {
  local name=$1 out
  shift
  out=$("$@" -o "$work/$name" 2>&1) || fail "'$* -o $work/$name' failed: $out"
  right 2 "$bin/rmarun" -n 2 --timeout 60 "$work/$name"
  echo "$where $name: right"
}

# with_heap PROGRAM: it is linked with the process heap.
with_heap() {
  readelf -d "$1" | grep -q 'NEEDED.*librma_heap\.so' || fail "$1 was not linked with the process heap"
}

compiled c "$bin/rma_mpicc" -Wall -Wextra -Werror "$here/program.c"
with_heap "$work/c"
launchers "$work/c"
compiled cxx "$bin/rma_mpicxx" -Wall -Wextra -Werror "$here/program.cpp"
with_heap "$work/cxx"
RMA_CC=$cc compiled c_override "$bin/rma_mpicc" "$here/program.c"
compiled c_option "$usual/mpicc" -cc="$cc" "$here/program.c"
"$bin/rma_mpicc" -c "$here/program.c" -o "$work/program.o"
compiled c_object "$bin/rma_mpicc" "$work/program.o"
"$bin/rma_mpicc" -shared -fPIC "$here/program.c" -o "$work/extension.so"
"$cc" "$here/loads.c" -o "$work/loads" -ldl
right 1 "$work/loads" "$work/extension.so"
right 2 "$bin/rmarun" -n 2 --timeout 60 "$work/loads" "$work/extension.so"
compiled c_show bash -c "$("$bin/rma_mpicc" -show "$here/program.c") \"\$@\"" show
languages='C;CXX' names=(c cxx)
arguments=(-D MPI_C_COMPILER="$bin/rma_mpicc" -D MPI_CXX_COMPILER="$bin/rma_mpicxx" -D CMAKE_C_COMPILER="$cc"
  -D CMAKE_CXX_COMPILER="$cxx" -D MPIEXEC_EXECUTABLE="$bin/rma_mpiexec")
if [ -n "$fortran" ]; then
  compiled fixed "$bin/rma_mpifort" "$here/program.f"
  compiled module "$usual/mpifort" -Wall -Wextra -Werror "$here/program.f90"
  with_heap "$work/fixed"
  launchers "$work/module"
  "$bin/rma_mpifort" -J"$work" "$here/../process_heap/static_data.f90" -o "$work/static_data"
  out=$("$bin/rmarun" -n 2 --timeout 60 --env RMA_STATS=json "$work/static_data" 2>&1)
  grep -q '"receive_mapped":[2-9]' <<< "$out" && ! grep -q '"receive_cma":[1-9]' <<< "$out" ||
    fail "messages of static data were not copied once: $out"
  languages='C;CXX;Fortran' names=(c cxx fixed module)
  arguments+=(-D MPI_Fortran_COMPILER="$bin/rma_mpifort" -D CMAKE_Fortran_COMPILER="$fortran")
fi

for option in -showme:compile -showme:link --showme:incdirs -showme:libdirs -showme:libs -showme:command -showme:version \
  -showme:help; do
  [ -n "$("$bin/rma_mpicc" $option)" ] || fail "rma_mpicc $option prints nothing"
done
help=$("$bin/rma_mpiexec" --help) && grep -q -- '-genv NAME VALUE' <<< "$help" || fail "rma_mpiexec --help prints: $help"
! "$bin/rma_mpicc" -showme:nothing 2> "$work/log" || fail 'rma_mpicc -showme:nothing succeeds'
"$bin/rma_mpicc" --version > /dev/null || fail 'rma_mpicc --version fails'
"$bin/rma_mpicc" -v 2> "$work/log" || fail "rma_mpicc -v: $(cat "$work/log")"

cmake_project() {
  local folder=$work/cmake_$1 out name
  shift
  out=$("$cmake" -S "$here/project" -B "$folder" -D LANGUAGES="$languages" "$@" 2>&1) || fail "$out"
  out=$("$cmake" --build "$folder" 2>&1) || fail "$out"
  for name in "${names[@]}"; do
    right 2 "$bin/rmarun" -n 2 --timeout 60 "$folder/$name"
    echo "$where FindMPI $name: right"
  done
  (cd "$folder" && "${cmake%cmake}ctest" --output-on-failure > "$work/log" 2>&1) || fail "$(cat "$work/log")"
}
cmake_project compilers "${arguments[@]}"
# By the folder with the usual names alone.
cmake_project home -D MPI_HOME="$(dirname "$usual")"

if [ "$where" = installed ]; then
  libdir=$(pkg-config --variable=libdir rma-mpi)
  eval "flags=($(pkg-config --cflags --libs rma-mpi))"
  compiled pc_c "$cc" "$here/program.c" "${flags[@]}" -Wl,-rpath,"$libdir"
  if [ -n "$fortran" ]; then
    eval "flags=($(pkg-config --cflags --libs rma-mpi-fortran))"
    compiled pc_module "$fortran" "$here/program.f90" "${flags[@]}" -Wl,-rpath,"$libdir"
  fi
fi
