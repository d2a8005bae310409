#!/usr/bin/env bash
# Compares librma with MPI one-sided communication (Open MPI, MPICH) and OpenSHMEM on this machine, its ARMCI with
# ARMCI-MPI, its MPI with Open MPI and MPICH, its OpenSHMEM with Open MPI's, and its coarrays with OpenCoarrays on both
# MPIs: builds the same measurements against each, runs them in turn, round by round, and prints one table of ratios,
# with the time that a cache line takes between two processors beside it.
# docs/benchmarks.md says what the rows and goals mean.
#
# usage: bench/compare.sh [--rounds N] [--json FILE] [--picture FILE] [--build DIR] [--suite LIST] [--quick]
#   --rounds N    the number of rounds; the table has the medians over the rounds (default 5)
#   --json FILE   write the table as JSON too
#   --picture FILE  draw some rows of the table as an SVG picture, as the README has it
#   --build DIR   build folder (default build); the peers are built in DIR/peers, results kept in DIR/compare
#   --suite LIST  only these suites, separated by commas: those of rma-bench --list, and
#                 `armci`, all of armci-bench, `twosided`, all of twosided-bench, `collectives`, all of
#                 collectives-bench, `shmem`, all of shmem-bench (beside Debian's OpenSHMEM), and `coarrays`, all of
#                 coarrays-bench
#   --quick       one round of very short samples: shows that it works, measures little
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=5
json=
picture=
build=build
suites=put,get,rate,strided,vector,accumulate,fetch-add,barrier,allreduce,notify,idle,armci,twosided,collectives,shmem,coarrays
quick=()

usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' bench/compare.sh; }
fail() {
  echo "compare: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --quick)
      quick=(--quick)
      rounds=1
      shift
      ;;
    --rounds | --json | --picture | --build | --suite)
      [ $# -ge 2 ] || fail "$1 wants a value"
      case $1 in
        --rounds) rounds=$2 ;;
        --json) json=$2 ;;
        --picture) picture=$2 ;;
        --build) build=$2 ;;
        --suite) suites=$2 ;;
      esac
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || fail "--rounds wants a number of 1 or more, not '$rounds'"

# chosen SUITE...: prints the selected ones of these suites, separated by commas.
chosen() {
  local suite list=()
  for suite in "$@"; do
    case ,$suites, in *,"$suite",*) list+=("$suite") ;; esac
  done
  (
    IFS=,
    echo "${list[*]-}"
  )
}
pairs=$(chosen put get rate strided vector accumulate fetch-add barrier allreduce notify)
groups=$(chosen barrier allreduce)
idle=$(chosen idle)
armci=$(chosen armci)
twosided=$(chosen twosided)
collectives=$(chosen collectives)
shmem=$(chosen shmem)
coarrays=$(chosen coarrays)
[ -n "$pairs$idle$armci$twosided$collectives$shmem$coarrays" ] || fail "--suite $suites names no suite; see rma-bench --list"

scripts/setup.sh build peers

# ---- Build: ours with CMake, the peers with their own compilers, all with the same optimisation ----------------
targets=(cache-line rmarun)
[ -z "$pairs$idle" ] || targets+=(rma-bench)
[ -z "$armci" ] || targets+=(armci-bench)
[ -z "$twosided" ] || targets+=(twosided-bench)
[ -z "$collectives" ] || targets+=(collectives-bench)
[ -z "$shmem" ] || targets+=(shmem-bench)
[ -z "$coarrays" ] || targets+=(coarrays-bench)
if [ "$build" = build ]; then
  scripts/build.sh release "${targets[@]}"
else
  cmake -S . -B "$build" -D CMAKE_BUILD_TYPE=Release > /dev/null
  cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}"
fi

peers=$build/peers
mkdir -p "$peers"
flags=(-std=c++20 -O3 -DNDEBUG -Ibench -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
harness=(bench/harness/*.cpp)
# build_peer NAME COMPILER SOURCE [FLAG...]: builds a peer if it is older than any of its sources.
build_peer() {
  local name=$1 compiler=$2 source=$3
  shift 3
  if [ -x "$peers/$name" ] && [ -z "$(find bench -name '*.?pp' -newer "$peers/$name")" ]; then return; fi
  echo "compare: building $name"
  "$compiler" "${flags[@]}" "$source" "${harness[@]}" "$@" -o "$peers/$name"
}
if [ -n "$pairs$idle" ]; then
  build_peer openmpi mpicxx.openmpi bench/backends/mpi.cpp '-DRMA_BENCH_MPI="openmpi"'
  build_peer mpich mpicxx.mpich bench/backends/mpi.cpp '-DRMA_BENCH_MPI="mpich"'
  build_peer openshmem oshcxx bench/backends/shmem.cpp
fi
if [ -n "$shmem" ] &&
  { [ ! "$peers/shmem-openshmem" -nt bench/shmem/main.c ] || [ ! "$peers/shmem-openshmem" -nt bench/harness/placement.h ]; }; then
  echo "compare: building shmem-openshmem"
  oshcc -O3 -DNDEBUG -Ibench '-DRMA_BENCH_SHMEM="openshmem"' bench/shmem/main.c -o "$peers/shmem-openshmem" 2> "$peers/oshcc.log" ||
    { cat "$peers/oshcc.log" >&2 && exit 1; }
fi
for mpi in openmpi mpich; do
  if [ -n "$coarrays" ] && [ ! "$peers/coarrays-$mpi" -nt bench/coarrays/main.F90 ]; then
    echo "compare: building coarrays-$mpi"
    caf.$mpi -O3 -J "$peers" bench/coarrays/main.F90 -o "$peers/coarrays-$mpi"
  fi
  # Debian's ARMCI-MPI is a static library for each MPI.
  [ -z "$armci" ] ||
    build_peer armci-$mpi mpicxx.$mpi bench/armci/main.cpp "-DRMA_BENCH_ARMCI=\"armci-$mpi\"" -larmci-$mpi
  [ -z "$twosided" ] || build_peer twosided-$mpi mpicxx.$mpi bench/twosided/main.cpp "-DRMA_BENCH_MPI=\"$mpi\""
  [ -z "$collectives" ] ||
    build_peer collectives-$mpi mpicxx.$mpi bench/collectives/main.cpp "-DRMA_BENCH_MPI=\"$mpi\""
done

# ---- Run -------------------------------------------------------------------------------------------------------
. bench/attempts.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
results=$build/compare
rm -rf "$results"
mkdir -p "$results"
python3 bench/report/machine.py > "$results/machine.txt"

# run NAME RANKS SUITES OUTPUT [OPTION...]: runs one program, with its results in OUTPUT.json and its messages in
# OUTPUT.log. A peer that fails runs again; if it fails every time, its column stays empty. librma's own program
# must not fail.
run() {
  case $1 in
    rma | armci | twosided | collectives | shmem | coarrays) run_once "$@" ;;
    *) attempt "compare: $1 with $2 ranks" run_once "$@" || true ;;
  esac
}
# run_once NAME RANKS SUITES OUTPUT [OPTION...]: runs it once. Fails if there are no results.
# If every rank has a processor, ranks are bound. If not, they may move, and Open MPI's ranks yield. Ranks of two threads
# are never bound, and need two processors each.
run_once() {
  local name=$1 ranks=$2 suite=$3 output=$4
  shift 4
  local threads=1 bind=none
  [ "$suite" != threads ] || threads=2
  local launch ompi=(--oversubscribe)
  if [ $((ranks * threads)) -gt "$(nproc)" ]; then
    ompi+=(--bind-to none --mca mpi_yield_when_idle 1)
  elif [ $threads = 1 ]; then
    bind=core
    ompi+=(--bind-to core:overload-allowed)
  else
    ompi+=(--bind-to none)
  fi
  case $name in
    rma | armci | twosided | collectives | shmem | coarrays)
      launch=("$build/bin/rmarun" -n "$ranks" --bind "$bind" "$build/bin/$name-bench")
      ;;
    openmpi) launch=(mpirun.openmpi -n "$ranks" "${ompi[@]}" --mca osc sm "$peers/openmpi") ;;
    openshmem) launch=(oshrun -n "$ranks" "${ompi[@]}" "$peers/openshmem") ;;
    # Debian's crashes in shmem_finalize unless UCX's memory hooks are off, and aborts in a compare-and-swap.
    shmem-openshmem) launch=(env UCX_MEM_EVENTS=no oshrun -n "$ranks" "${ompi[@]}" "$peers/$name" --no-cswap) ;;
    armci-openmpi | twosided-openmpi | collectives-openmpi) launch=(mpirun.openmpi -n "$ranks" "${ompi[@]}" "$peers/$name") ;;
    coarrays-openmpi) launch=(mpirun.openmpi -n "$ranks" "${ompi[@]}" "$peers/$name" --backend "$name") ;;
    mpich | armci-mpich | twosided-mpich | collectives-mpich | coarrays-mpich)
      launch=(mpirun.mpich -n "$ranks")
      [ $bind = none ] || launch+=(-bind-to core)
      launch+=("$peers/$name")
      [ "$name" != coarrays-mpich ] || launch+=(--backend "$name")
      ;;
  esac
  # The two ranks note how far their processors are from each other (harness/placement.h).
  local placement=''
  if [ "$ranks" = 2 ] && [ $bind = core ]; then
    placement=$results/placement
    head -c 4096 /dev/zero > "$placement"
  fi
  local code=0
  BENCH_PLACEMENT=$placement timeout 300 "${launch[@]}" --suite "$suite" --json "$output.json" "$@" "${quick[@]}" > "$output.log" 2>&1 < /dev/null || code=$?
  [ $code != 0 ] || return 0
  # After wrong data (exit code 3) those rows are missing.
  if [ $code = 3 ] && [[ ! $name =~ ^(armci|twosided|collectives|shmem|coarrays)$ ]]; then
    grep -h 'wrong data' "$output.log" >&2 || true
    return 0
  fi
  echo "compare: $name with $ranks ranks failed or took more than 300 s; see $output.log" >&2
  rm -f "$output.json"
  return 1
}

transfers=put,get,accumulate,rmw,fence,client
# If ranks share processors, a sample must be longer than the scheduler's time slices. Otherwise it measures one rank
# at a time.
shared=(--repetitions 5 --batch 10000)

for ((round = 1; round <= rounds; ++round)); do
  echo "compare: round $round of $rounds"
  folder=$results/round-$round
  mkdir -p "$folder"
  "$build/bin/cache-line" --json "$folder/cache-line.json" > "$folder/cache-line.log"
  if [ -n "$armci" ]; then
    for name in armci armci-openmpi armci-mpich; do
      run $name 2 "$transfers,lock,malloc" "$folder/$name-2"
    done
    for name in armci armci-openmpi armci-mpich; do
      # MPICH's ranks never yield. If they share processors, an operation takes 20 ms.
      [ "$name" != armci-mpich ] || [ "$(nproc)" -ge 8 ] || continue
      run $name 8 "$transfers,lock,malloc" "$folder/$name-8" "${shared[@]}"
    done
  fi
  if [ -n "$twosided" ]; then
    for name in twosided twosided-openmpi twosided-mpich; do
      run $name 2 latency,bandwidth,bidirectional,rate "$folder/$name-2"
    done
    # These need as many processors as the first number says, or share them. The second one is the ranks.
    for more in 4:2:threads 2:2:halo 4:4:pairs 5:5:peers 8:8:halo 16:16:exchange; do
      IFS=: read -r processors ranks suite <<< "$more"
      for name in twosided twosided-openmpi twosided-mpich; do
        # See above.
        [ "$name" != twosided-mpich ] || [ "$(nproc)" -ge "$processors" ] || continue
        run $name "$ranks" "$suite" "$folder/$name-$suite-$ranks" "${shared[@]}"
      done
    done
  fi
  if [ -n "$collectives" ]; then
    all=barrier,bcast,reduce,allreduce,allgather,gather,scatter,alltoall,reduce_scatter_block,scan,overlap
    for ranks in 2 4 8 16; do
      few=()
      [ "$ranks" -le "$(nproc)" ] || few=("${shared[@]}")
      for name in collectives collectives-openmpi collectives-mpich; do
        # See above.
        [ "$name" != collectives-mpich ] || [ "$(nproc)" -ge "$ranks" ] || continue
        run $name "$ranks" "$all" "$folder/$name-$ranks" "${few[@]}"
      done
    done
  fi
  if [ -n "$shmem" ]; then
    for name in shmem shmem-openshmem; do
      run $name 2 shmem "$folder/$name"
    done
  fi
  if [ -n "$coarrays" ]; then
    for name in coarrays coarrays-openmpi coarrays-mpich; do
      run $name 2 coarrays "$folder/$name"
    done
  fi
  for name in rma openmpi mpich openshmem; do
    [ -z "$pairs" ] || run $name 2 "$pairs" "$folder/$name-2"
    # With more ranks than processors, the scheduler decides the time of each sample, so fewer samples are enough.
    for ranks in 4 16; do
      [ -z "$groups" ] || run $name $ranks "$groups" "$folder/$name-$ranks" --repetitions 5
    done
    # This suite always takes ten seconds, and its results do not vary.
    for ranks in 2 16; do
      [ -z "$idle" ] || [ "$round" -gt 1 ] || run $name $ranks idle "$folder/$name-idle-$ranks"
    done
  done
done

[ -z "$picture" ] || [ -n "$json" ] || json=$build/compare.json
python3 bench/compare_table.py "$results" ${json:+--json "$json"}
[ -z "$picture" ] || python3 bench/compare_picture.py "$json" "$picture"
