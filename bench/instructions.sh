#!/usr/bin/env bash
# Counts instructions of calls of MPI, OpenSHMEM and ARMCI with 8 bytes between two processes of this host, by
# Callgrind: for librma, and for Open MPI and MPICH if they are installed. Counts do not depend on other work of the
# machine, except those of barrier and allreduce.
# bench/instructions/calls.c and puts.c have the calls. A row is the number of instructions of one call, of Waitall per
# request:
#   irecv-posted       its message comes later
#   irecv-sent         its message has been sent
#   irecv-unexpected   its message was taken in by another call
#   waitall-posted     the arrival of the messages of posted receives, and the wait for them
#   arrival            the arrival of the message of a posted receive, while the program calls something else
#   start-*            MPI_Start of persistent requests
#   barrier, allreduce of the rank that comes last. It wakes the other rank, by 63 instructions, if that one sleeps; on a
#                      busy machine the other rank has not fallen asleep yet in some of the calls
#   put, get           into and from the mapped window of the other rank
#   *-flush            the call with MPI_Win_flush
#   rma_put            put, by rma.h
#   shmem_*, ARMCI_*   to and from the memory of the other rank, by OpenSHMEM and ARMCI
# MPICH has no rows of windows: its target answers only while it calls MPI.
#
# usage: bench/instructions.sh [--build DIR] [--mpi LIST] [--json FILE] [--limits FILE]
#   --build DIR    build folder with librma and its compiler wrapper (default build)
#   --mpi LIST     only these, separated by commas: librma, openmpi, mpich
#   --json FILE    write the counts as JSON too
#   --limits FILE  fail if librma takes more than the file has for a row: lines of a name and a number
# Exit code 77 if Valgrind is not installed, 1 if a limit is exceeded.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build
chosen=librma,openmpi,mpich
json=
limits=

usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/instructions.sh; }
fail() {
  echo "instructions: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --build | --mpi | --json | --limits)
      [ $# -ge 2 ] || fail "$1 wants a value"
      case $1 in
        --build) build=$2 ;;
        --mpi) chosen=$2 ;;
        --json) json=$2 ;;
        --limits) limits=$2 ;;
      esac
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done

if ! command -v valgrind > /dev/null || ! echo '#include <valgrind/callgrind.h>' | cc -E - &> /dev/null; then
  echo "instructions: Valgrind is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count NAME PROGRAM LAUNCHER...: runs $work/NAME/PROGRAM. The counts are in $work/NAME.
count() {
  local name=$1 program=$2
  shift 2
  head -c 4096 /dev/zero > "$work/$name/meetings"
  timeout 300 "$@" -n 2 valgrind --tool=callgrind --collect-atstart=no \
    --callgrind-out-file="$work/$name/$program.out.%p" "$work/$name/$program" "$work/$name/meetings" \
    < /dev/null > "$work/$name/log" 2>&1 || {
    tail -n 20 "$work/$name/log" >&2
    fail "the program failed with $name"
  }
}

# build_program NAME PROGRAM COMPILER [OPTION...]: builds a program of bench/instructions
build_program() {
  local name=$1 program=$2 compiler=$3
  shift 3
  mkdir -p "$work/$name"
  "$compiler" -O2 -Wno-stringop-overflow -o "$work/$name/$program" "bench/instructions/$program.c" "$@"
}

# armci_rows NAME COMPILER OPTIONS LAUNCHER...: the rows of ARMCI, if it is installed
armci_rows() {
  local name=$1 compiler=$2
  local -a options
  read -ra options <<< "$3"
  shift 3
  mkdir -p "$work/$name"
  "$compiler" -O2 -o "$work/$name/armci" bench/instructions/puts.c "${options[@]}" 2> "$work/$name/log" || return 0
  count "$name" armci "$@"
}

names=()
for name in ${chosen//,/ }; do
  case $name in
    librma)
      rma=(-Iinclude "-L$build/src" "-Wl,-rpath,$build/src" -lrma)
      build_program librma calls "$build/bin/rma_mpicc" -DWITH_RMA "${rma[@]}"
      count librma calls "$build/bin/rmarun"
      build_program librma puts "$build/bin/rma_oshcc" -DWITH_SHMEM
      count librma puts "$build/bin/rmarun"
      armci_rows librma "$build/bin/rma_mpicc" "-Iinclude -L$build/armci-rma -Wl,-rpath,$build/armci-rma -larmci" "$build/bin/rmarun"
      ;;
    openmpi)
      command -v mpicc.openmpi > /dev/null || continue
      export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
      launch=(mpirun.openmpi --oversubscribe --mca btl vader,self --mca osc sm)
      build_program openmpi calls mpicc.openmpi
      count openmpi calls "${launch[@]}"
      if command -v oshcc > /dev/null; then
        build_program openmpi puts oshcc -DWITH_SHMEM
        count openmpi puts env UCX_MEM_EVENTS=no oshrun --oversubscribe
      fi
      armci_rows openmpi mpicc.openmpi -larmci-openmpi "${launch[@]}"
      ;;
    mpich)
      command -v mpicc.mpich > /dev/null || continue
      build_program mpich calls mpicc.mpich -DWITHOUT_WINDOWS
      count mpich calls mpirun.mpich
      ;;
    *) fail "--mpi $name is none of librma, openmpi and mpich" ;;
  esac
  names+=("$name")
done
[ ${#names[@]} -gt 0 ] || fail "none of $chosen is installed"

python3 bench/instructions/table.py "$work" "$json" "$limits" "${names[@]}"
