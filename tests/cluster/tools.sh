#!/usr/bin/env bash
# Tests the emulated cluster itself, on which all other tests of this folder rely. For
# cluster.sh --hosts 2 --rails 2 --memlock 65536 --netem 'loss 1%'.
. "$(dirname "$0")/lib.sh"

# on_every_host COMMAND...: prints its output on each host, one host after the other.
on_every_host() {
  local i
  for ((i = 1; i <= CLUSTER_HOSTS; i++)); do ssh "node$i" "$@" || return; done
}
# all_are LINE COUNT COMMAND...: the command must print this line so many times, and nothing else.
all_are() {
  local line=$1 count=$2 output
  shift 2
  output=$("$@") || return
  printf '%s\n' "$output"
  [ "$(sort <<< "$output" | uniq -c | awk '{ $1 = $1; print }')" = "$count $line" ]
}
two_devices() {
  local devices
  devices=$(on_every_host 'ls /sys/class/infiniband') || return
  echo "$devices"
  [ "$(tr '\n' ' ' <<< "$devices")" = 'rxe0 rxe1 rxe0 rxe1 ' ]
}
# perftest PROGRAM DEVICE: runs it between the hosts, over the device. Its option -F lets it end well where it cannot
# measure the frequency of a busy virtual processor: no number of its report is used here.
perftest() {
  # The server's time limit ends it if the client never comes.
  ssh node2 timeout 60 "$1" -F -d "$2" -s 4096 -n 100 > /dev/null &
  until ssh node2 "ss -ltn | grep -q :18515"; do sleep 0.1; done
  timeout 60 "$1" -F -d "$2" -s 4096 -n 100 node2 && wait $!
}
link_down_and_up() {
  cluster-fault link 2 down eth1
  expect_text 'state DOWN' ssh node2 rdma link show rxe1/1 || return
  cluster-fault link 2 up eth1
  expect_text 'state ACTIVE' ssh node2 rdma link show rxe1/1
}
gone() {
  cluster-fault kill-host 2
  ! timeout 5 ssh -o ConnectTimeout=2 node2 true
}

uneven() {
  [ "$(cluster-run -n 1,3 -- hostname | sort | uniq -c | awk '{ print $2 ":" $1 }' | paste -sd ' ')" = 'node1:1 node2:3' ]
}
same_addresses() {
  [ "$(ssh node2 head -n 1 /proc/self/maps)" = "$(ssh node2 head -n 1 /proc/self/maps)" ]
}
different_addresses() {
  ! same_addresses
}

step 'two rails are two devices' two_devices
step 'a payload of 4096 bytes' all_are 'active_mtu: 4096' 4 \
  on_every_host "ibv_devinfo | sed -n 's/.*\(active_mtu:\)[[:space:]]*\([0-9]*\).*/\1 \2/p'"
step 'loss from the start' all_are 'qdisc netem' 4 on_every_host "tc qdisc show | grep 'loss 1%' | cut -d ' ' -f 1,2"
step 'loss switched off' cluster-fault netem off
step 'no loss any more' on_every_host '! tc qdisc show | grep netem'
step 'the limit of locked memory in each of four ranks' all_are 65536 4 cluster-run -n 2 -- bash -c 'ulimit -l'
step 'the exit code of one rank' expect_exit 23 cluster-run -- sh -c 'test $PMIX_RANK = 0 || exit 23'
step 'a killed rank' expect_text 'signal 9' cluster-run -- sh -c 'test $PMIX_RANK = 0 || kill -9 $$; sleep 100'
step 'the exit code of a killed rank' expect_exit 137 cluster-run -- sh -c 'kill -9 $$'
step 'the time limit' expect_exit 124 cluster-run --timeout 5 -- sleep 100
step 'an environment' all_are 'a b 7' 2 cluster-run --env 'SOME=a b' --env RMA_SPIN=7 -- sh -c 'echo $SOME $RMA_SPIN'
step 'more ranks on one host than on the other' uneven
step 'more numbers than hosts' expect_exit 2 cluster-run -n 1,1,1 -- true
step 'the same addresses each time' same_addresses
step 'random addresses' random_addresses different_addresses
step 'an RDMA write between the hosts' perftest ib_write_lat rxe0
step 'an RDMA read over the second rail' perftest ib_read_bw rxe1
step 'a link that goes down and up' link_down_and_up
step 'a host that vanishes' gone
finish
