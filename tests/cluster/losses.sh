#!/usr/bin/env bash
# Packets and links that are lost between two hosts; no rank is lost. For cluster.sh --hosts 2 --rails 2.
. "$(dirname "$0")/lib.sh"
job=$1/rma-cluster-job

# lossy LOSS ARGUMENT...: the job, while each host loses so many of the packets that it sends
lossy() {
  cluster-fault netem "loss $1" || return
  shift
  cluster-run -n 1 -- "$job" "$@"
  local status=$?
  cluster-fault netem off
  return $status
}
# during COMMAND...: starts a job, and runs the command as soon as all its ranks are connected.
during() {
  local log job_pid status
  log=$(mktemp)
  cluster-run -n 1 -- "$job" traffic 150 > "$log" 2>&1 &
  job_pid=$!
  until grep -q running "$log"; do
    sleep 0.2
    kill -0 $job_pid 2> /dev/null || break
  done
  "$@"
  status=0
  wait $job_pid || status=$?
  cat "$log"
  return $status
}
# Both devices of host 2 lose their links for a second.
flap() {
  local rail
  for rail in eth0 eth1; do cluster-fault link 2 down $rail; done
  sleep 1
  for rail in eth0 eth1; do cluster-fault link 2 up $rail; done
}

step 'a loss of 1 %' lossy 1% traffic 40
step 'a loss of 20 %' lossy 20% lossy 10
step 'links that go down and up' during flap
step 'one rail of two goes down, and the other takes over' during cluster-fault link 2 down eth1
cluster-fault link 2 up eth1
# The first rail of host 2 is the second of host 1.
cluster-fault link 2 down eth0
step 'a job that starts while a port is down' cluster-run -n 1 -- "$job" traffic 40
cluster-fault link 2 up eth0
finish
