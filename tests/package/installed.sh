#!/usr/bin/env bash
# Installs a build into a prefix of its own and uses it only from there, as other projects do: in programs in C, C++
# and Fortran, and of ARMCI, MPI and OpenSHMEM, with the shared and with the static library, found by CMake, by
# pkg-config and by the wrapped compilers, run alone and on two ranks. On Debian the prefix has what the Debian packages
# contain.
#
# usage: installed.sh BUILD_DIRECTORY CMAKE C_COMPILER C++_COMPILER [FORTRAN_COMPILER]
#   FORTRAN_COMPILER  for a build that has the Fortran interface
set -euo pipefail
build=$1 cmake=$2 cc=$3 cxx=$4 fortran=${5:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
  echo "installed.sh: $*" >&2
  exit 1
}

if command -v dpkg-shlibdeps > /dev/null; then
  "$here/debian.sh" "$build" "$cmake" "$work/root"
  mv "$work/root/usr" "$prefix"
else
  "$cmake" --install "$build" --prefix "$prefix" > /dev/null
fi
# The installation is moved: no file in it may contain the old place.
mv "$prefix" "$work/moved"
prefix=$work/moved
pc=$(find "$prefix" -name rma.pc)
[ -n "$pc" ] || fail 'no rma.pc was installed'
export PKG_CONFIG_PATH=${pc%/rma.pc}
libdir=$(pkg-config --variable=libdir rma)

# librma.so shows only the C interface: all names that rma.h declares, and only names that begin with rma_.
shown=$(nm -D --defined-only --format=just-symbols "$libdir/librma.so" | sort)
foreign=$(grep -v '^rma_' <<< "$shown" || true)
[ -z "$foreign" ] || fail "librma.so shows names that are not its own: $foreign"
declared=$(sed -n 's/^[a-z].*\b\(rma_[a-z0-9_]*\)(.*/\1/p' "$prefix/include/rma/rma.h" | sort -u)
[ "$(wc -l <<< "$declared")" -gt 50 ] || fail "this test no longer finds rma.h's functions; it found: $declared"
absent=$(comm -23 <(echo "$declared") <(echo "$shown"))
[ -z "$absent" ] || fail "rma.h declares what librma.so does not show: $absent"

# A library for dlopen must not need per-thread space that only the program's start reserves.
# librma_heap.so is none: it is the program's malloc from the start.
for library in "$libdir"/lib*.so; do
  [ "$library" != "$libdir/librma_heap.so" ] || continue
  ! readelf -d "$library" | grep STATIC_TLS > /dev/null || fail "$library keeps thread-local data in the static model"
done

# The tools find the library from their own folder.
settings=$("$prefix/bin/rma-info" --settings) || fail 'the installed rma-info does not run'
grep -q '^RMA_HEAP_SIZE = ' <<< "$settings" || fail "the installed rma-info prints no settings, but: $settings"

# linked PROGRAM yes|no: checks whether the program loads librma.so at start.
linked() {
  local needs=no
  ! readelf -d "$1" | grep 'NEEDED.*librma\.so' > /dev/null || needs=yes
  [ "$needs" = "$2" ] || fail "$1 needs librma.so: $needs; expected: $2"
}

# right PROGRAM: it must find its numbers right, as a job of one and on two ranks of the installed launcher, also with
# the process heap, which the launcher has to find.
right() {
  local out
  for launch in '' "$prefix/bin/rmarun -n 2" "$prefix/bin/rmarun -n 2 --env RMA_PROCESS_HEAP=1"; do
    out=$($launch "$1" < /dev/null) || fail "'$launch $1' failed: $out"
    [ "$(grep -c ': right$' <<< "$out")" -eq "$([ -z "$launch" ] && echo 1 || echo 2)" ] || fail "'$launch $1': $out"
  done
}

for language in c cpp ${fortran:+fortran}; do
  source=$here/consumer_$language
  package=rma
  case $language in
    c) suffix=c compile=$cc compiler=(-D CMAKE_C_COMPILER="$cc") ;;
    cpp) suffix=cpp compile="$cxx -std=c++20" compiler=(-D CMAKE_C_COMPILER="$cc" -D CMAKE_CXX_COMPILER="$cxx") ;;
    fortran) suffix=f90 compile=$fortran compiler=(-D CMAKE_Fortran_COMPILER="$fortran") package=rma-fortran ;;
  esac
  "$cmake" -S "$source" -B "$work/$language" -D CMAKE_PREFIX_PATH="$prefix" "${compiler[@]}" > "$work/log" 2>&1 ||
    fail "$(cat "$work/log")"
  "$cmake" --build "$work/$language" > "$work/log" 2>&1 || fail "$(cat "$work/log")"

  $compile "$source/consumer.$suffix" $(pkg-config --cflags --libs $package) -Wl,-rpath,"$libdir" \
    -o "$work/$language/pc_shared"
  # pkg-config has no option for "the archive": the archive is named in the place of -lrma.
  $compile "$source/consumer.$suffix" \
    $(pkg-config --cflags --static --libs $package | sed 's/-l\(rma_fortran\|rma\)\b/-l:lib\1.a/g') \
    -o "$work/$language/pc_static"

  linked "$work/$language/shared" yes
  linked "$work/$language/static" no
  linked "$work/$language/pc_shared" yes
  linked "$work/$language/pc_static" no
  for program in shared static pc_shared pc_static; do
    right "$work/$language/$program"
    echo "$language $program: right"
  done
done

readelf -d "$work/cpp/heap" | grep 'NEEDED.*librma_heap' > /dev/null || fail "a program linked with rma::process_heap does not need it"
right "$work/cpp/heap"
echo "cpp heap: right"

# Whichever flavour of ARMCI is chosen for a build that is done, its libraries can be installed: all that exist were
# linked for that. CMake pads the path to the build's librma for those, and refuses to install others.
# One flavour has the path to the build's libmpi_abi too.
for library in "$build"/armci-*/libarmci.so; do
  path=$(readelf -d "$library" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p')
  [[ $path == *"$(readelf -d "$build/armci-plain/libarmci.so" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p')" ]] ||
    fail "$library was not linked to be installed: its path is '$path'"
done

# ARMCI, unless the build has it beside an MPI: those programs need that MPI's launcher.
if ! grep -q '^#define RMA_ARMCI_MPI 1' "$prefix/include/armci.h"; then
  foreign=$(nm -D --defined-only --format=just-symbols "$libdir/libarmci.so" | grep -v '^P\?ARMCI_\|^p\?armci_' || true)
  [ -z "$foreign" ] || fail "libarmci.so shows names that are not its own: $foreign"
  source=$here/consumer_armci
  "$cmake" -S "$source" -B "$work/armci" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_COMPILER="$cc" \
    > "$work/log" 2>&1 || fail "$(cat "$work/log")"
  "$cmake" --build "$work/armci" > "$work/log" 2>&1 || fail "$(cat "$work/log")"
  "$cc" "$source/consumer.c" $(pkg-config --cflags --libs armci) -Wl,-rpath,"$libdir" -o "$work/armci/pc_shared"
  "$cc" "$source/consumer.c" $(pkg-config --cflags --static --libs armci | sed 's/-larmci\b/-l:libarmci.a/') \
    -o "$work/armci/pc_static"
  # A configure script links in this way: by the library's folder and name, without naming the runtime.
  "$cc" "$source/consumer.c" -I"$prefix/include" -L"$libdir" -larmci -Wl,-rpath,"$libdir" -o "$work/armci/plain"
  for program in shared static pc_shared pc_static plain; do
    right "$work/armci/$program"
    echo "ARMCI $program: right"
  done
  linked "$work/armci/static" no
  linked "$work/armci/pc_static" no
fi

# OpenSHMEM, which is a shared library only.
source=$here/consumer_shmem
"$cmake" -S "$source" -B "$work/shmem" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_COMPILER="$cc" > "$work/log" 2>&1 ||
  fail "$(cat "$work/log")"
"$cmake" --build "$work/shmem" > "$work/log" 2>&1 || fail "$(cat "$work/log")"
"$cc" "$source/consumer.c" $(pkg-config --cflags --libs rma-shmem) -Wl,-rpath,"$libdir" -o "$work/shmem/pc_shared"
"$prefix/bin/rma_oshcc" "$source/consumer.c" -o "$work/shmem/wrapper"
for program in shared pc_shared wrapper; do
  right "$work/shmem/$program"
  echo "OpenSHMEM $program: right"
done

# MPI; tests/mpi_wrappers has the other ways to build a program.
"$prefix/bin/rma_mpicc" "$here/consumer_mpi/consumer.c" -o "$work/mpi"
right "$work/mpi"
echo "MPI wrapper: right"

# A program of another MPI, which finds the library that stands in for that MPI's.
for mpi in openmpi mpich; do
  if command -v mpicc.$mpi > /dev/null; then
    mpicc.$mpi "$here/../personality/program.c" -o "$work/$mpi"
    said=$("$prefix/bin/rmarun" -n 2 --timeout 60 "$work/$mpi") || fail "a program of $mpi failed: $said"
    [ "$(grep -c '^rank . of 2: librma' <<< "$said")" -eq 2 ] || fail "a program of $mpi says: $said"
    echo "a program of $mpi: right"
  fi
done

# Several interfaces in one program.
if ! grep -q '^#define RMA_ARMCI_MPI 1' "$prefix/include/armci.h"; then
  "$cc" "$here/../mixed/orders.c" $(pkg-config --cflags --libs rma-mpi rma-shmem armci rma) -Wl,-rpath,"$libdir" -o "$work/mixed"
  said=$("$prefix/bin/rmarun" -n 2 --timeout 60 "$work/mixed" mars samr) || fail 'a program with several interfaces failed'
  [ "$said" = right ] || fail "a program with several interfaces says: $said"
  echo "several interfaces: right"
fi
