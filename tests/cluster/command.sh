#!/usr/bin/env bash
# Tests scripts/cluster.sh from outside: its exit codes, its output, and that it leaves nothing behind.
. "$(dirname "$0")/lib.sh"
command=$(cd "$(dirname "$0")/../.." && pwd)/scripts/cluster.sh

# All files that a cluster makes are in a folder of this test, which must be empty afterwards.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp"
cluster() {
  TMPDIR=$scratch/tmp "$command" "$@"
}

nothing_left() {
  local i
  ls -A "$scratch/tmp"
  [ -z "$(ls -A "$scratch/tmp")" ] || return
  # The command lines of the emulators name a file of that folder.
  for i in /proc/[0-9]*; do
    ! tr '\0' ' ' 2> /dev/null < "$i/cmdline" | grep -qF "path=$scratch/tmp/" || return
  done
}
job() {
  cluster --hosts 1 --ranks-per-host 2 --env WORD='two words' -- bash -c 'echo "out $WORD"; echo err >&2; exit 7' \
    > "$scratch/out" 2> "$scratch/err"
}
streams_apart() {
  cat -A "$scratch/out" "$scratch/err"
  [ "$(cat "$scratch/out")" = $'out two words\nout two words' ] && [ "$(grep -c '^err$' "$scratch/err")" = 2 ] &&
    ! grep -q 'out two words' "$scratch/err"
}
# signalled SIGNAL CODE: ends the cluster while the job runs.
signalled() {
  local status=0 pid
  mkdir "$scratch/results"
  echo ': > "$CLUSTER_RESULTS/runs"; sleep 1000' > "$scratch/script"
  TMPDIR=$scratch/tmp "$command" --hosts 1 --results "$scratch/results" --script "$scratch/script" &
  pid=$!
  until [ -e "$scratch/results/runs" ]; do
    kill -0 $pid || return
    sleep 0.1
  done
  kill -"$1" $pid
  wait $pid || status=$?
  echo "exit code $status"
  [ $status -eq "$2" ]
}

step 'an unknown option' expect_exit 2 cluster --hots 2 -- true
step 'too many hosts' expect_text 'takes a number from 1 to 8' cluster --hosts 9 -- true
step 'a program that is not there' expect_exit 2 cluster -- /nowhere/program
job
status=$?
if [ $status -eq 77 ]; then
  cat "$scratch/err" >&2
  exit 77
fi
step 'the exit code of a job' test $status -eq 7
step 'both output streams, unaltered' streams_apart
step 'nothing stays behind a job' nothing_left
step 'SIGTERM while the job runs' signalled TERM 143
step 'nothing stays behind a signal' nothing_left
finish
