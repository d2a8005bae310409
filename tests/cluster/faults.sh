#!/usr/bin/env bash
# Processes and hosts that are lost. For cluster.sh --hosts 3 --rails 2. A host vanishes in the last step.
. "$(dirname "$0")/lib.sh"
bin=$1
job=$bin/rma-cluster-job

killed() {
  # The launcher must not end the job because of one rank, so that the others have to notice the loss.
  OMPI_MCA_orte_enable_recovery=1 expect_text 'survivors agree' cluster-run -n 1 -- "$job" killed 1
}
# messages_lost N: pairs of ranks of two hosts, each with its protocol for two-sided messages; the ranks of the second
# host are killed, which send (0) or receive (1).
messages_lost() {
  OMPI_MCA_orte_enable_recovery=1 expect_text 'survivors agree' cluster-run --hosts 2 -n 8 --timeout 60 \
    --env RMA_PEER_TIMEOUT=3 --env RMA_UNEXPECTED=4K --env RMA_PIPELINE=64K -- "$job" messages_lost "$1"
}
# agreed LOG PID: waits until rank 0 has said what the survivors saw, and ends the job then: mpirun may wait for its
# time limit if a host has several ranks and one was killed, or if a host vanished.
agreed() {
  until grep -qE 'survivors agree|something was wrong' "$1"; do
    sleep 0.2
    kill -0 "$2" 2> /dev/null || break
  done
  kill "$2" 2> /dev/null
  wait "$2" || true
  cat "$1"
  grep -q 'survivors agree' "$1"
}
# until_said ARGUMENT...: a job by cluster-run in which ranks are killed.
until_said() {
  local log
  log=$(mktemp)
  OMPI_MCA_orte_enable_recovery=1 cluster-run --timeout 60 --env RMA_PEER_TIMEOUT=3 "$@" > "$log" 2>&1 &
  agreed "$log" $!
}
# collectives_lost RANK: two ranks on each of two hosts, one of which is killed between two collectives.
collectives_lost() {
  until_said --hosts 2 -n 2 -- "$job" collectives_lost "$1"
}
# Two ranks on each of three hosts, of which two are killed that hold mutexes of rank 2.
mutexes_lost() {
  until_said -n 2 -- "$job" mutexes_lost
}
# allgather_lost RANK RANKS-PER-HOST WAY: one of the ranks of three hosts is killed during long allgathers.
allgather_lost() {
  until_said -n "$2" --env RMA_PEER_TIMEOUT=8 --env RMA_ALLGATHER="$3" -- "$job" allgather_lost "$1"
}
window_lost() {
  OMPI_MCA_orte_enable_recovery=1 expect_text 'survivors agree' cluster-run -n 1 --timeout 60 \
    --env RMA_PEER_TIMEOUT=3 -- "$bin/mpi-windows-holder"
}
vanished() {
  local log job_pid
  log=$(mktemp)
  cluster-run -n 1 --timeout 60 -- "$job" vanished 2 > "$log" 2>&1 &
  job_pid=$!
  until grep -q now "$log"; do
    sleep 0.2
    kill -0 $job_pid 2> /dev/null || break
  done
  cluster-fault kill-host 3
  agreed "$log" $job_pid
}

step 'a process that is killed' killed
step 'a rank is killed between collectives' collectives_lost 1
step 'a leader of its host is killed between collectives' collectives_lost 2
step 'a rank is killed that holds the lock of a window' window_lost
step 'ranks are killed that hold mutexes' mutexes_lost
step 'a rank is killed during allgathers' allgather_lost 2 1 auto
step 'a rank is killed during allgathers, two on each host' allgather_lost 4 2 rdma
step 'a rank is killed during allgathers around the ring' allgather_lost 1 1 ring
step 'senders of messages that are killed, by each protocol' messages_lost 0
step 'receivers of messages that are killed, by each protocol' messages_lost 1
step 'a host that vanishes' vanished
finish
