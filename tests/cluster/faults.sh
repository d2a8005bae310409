#!/usr/bin/env bash
# What goes wrong between hosts. For cluster.sh --hosts 3 --rails 2. The host that vanishes does so last.
. "$(dirname "$0")/lib.sh"
bin=$1
job=$bin/rma-cluster-job

lossy() {
  cluster-fault netem "loss $1" || return
  cluster-run --hosts 2 -n 1 -- "$job" traffic "$2"
  local status=$?
  cluster-fault netem off
  return $status
}
# Both devices of host 2 lose their links for a second while a job runs.
flapping() {
  cluster-run --hosts 2 -n 1 -- "$job" traffic 150 &
  local rail
  sleep 4
  for rail in eth0 eth1; do cluster-fault link 2 down $rail; done
  sleep 1
  for rail in eth0 eth1; do cluster-fault link 2 up $rail; done
  wait $!
}
# One of two rails goes, and the other takes over what is large.
one_rail_down() {
  cluster-run --hosts 2 -n 1 -- "$job" traffic 150 &
  sleep 4
  cluster-fault link 2 down eth1
  wait $!
  local status=$?
  cluster-fault link 2 up eth1
  return $status
}
killed() {
  # The launcher is not to end the job for the one rank, so that the others have to find out.
  OMPI_MCA_orte_enable_recovery=1 expect_text 'survivors agree' cluster-run -n 1 -- "$job" killed 1
}
vanished() {
  local log
  log=$(mktemp)
  cluster-run -n 1 -- "$job" vanished 2 > "$log" 2>&1 &
  until grep -q now "$log"; do sleep 0.2; kill -0 $! || break; done
  cluster-fault kill-host 3
  wait $!
  cat "$log"
  grep -q 'survivors agree' "$log"
}

step 'a loss of 1 %' lossy 1% 60
step 'a loss of 20 %' lossy 20% 10
step 'links that go down and up' flapping
step 'one rail of two goes down' one_rail_down
step 'a process that is killed' killed
step 'a host that vanishes' vanished
finish
