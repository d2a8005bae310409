#!/usr/bin/env bash
# Runs a job of two ranks on two "hosts": network namespaces with a cable between them. RMA_NETWORK=auto finds no RDMA
# device there, and takes libfabric.
#
# usage: two_hosts.sh job RMARUN PROGRAM ARGUMENT...     the program must succeed
#        two_hosts.sh lossy RMARUN PROGRAM ARGUMENT...   the same over a cable that delays packets and drops some
#        two_hosts.sh link_down RMARUN LOST_HOST         the cable is cut; both ranks must notice
#        two_hosts.sh only_lo RMARUN PROGRAM ARGUMENT... both ranks on one host that has no interface but lo
# Skipped (exit code 77) where this user may not make network namespaces.
set -euo pipefail
case=$1 rmarun=$2
shift 2
name=rma-ofi-$$
folder=$(mktemp -d)
cleanup() {
  ip netns del "$name-0" 2> /dev/null || true
  ip netns del "$name-1" 2> /dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT

if ! { ip netns add "$name-0" && ip netns add "$name-1" &&
  ip link add "v$$-0" type veth peer name "v$$-1"; } 2> "$folder/refused"; then
  echo "skipped: no network namespaces: $(cat "$folder/refused")"
  exit 77
fi
for host in 0 1; do
  ip link set "v$$-$host" netns "$name-$host"
  ip -n "$name-$host" addr add "10.99.0.$((host + 1))/24" dev "v$$-$host"
  ip -n "$name-$host" link set "v$$-$host" up
  ip -n "$name-$host" link set lo up
done
printf '#!/bin/sh\nexec ip netns exec "%s-$PMIX_RANK" "$@"\n' "$name" > "$folder/on_host"
chmod +x "$folder/on_host"
run() { "$rmarun" -n 2 --timeout 120 --env RMA_SHM=off --env RMA_OFI_PROVIDER=tcp,net "$@"; }

case $case in
  only_lo)
    ip -n "$name-0" link del "v$$-0"
    ip netns exec "$name-0" "$rmarun" -n 2 --timeout 120 --env RMA_SHM=off --env RMA_NETWORK=ofi \
      --env RMA_OFI_PROVIDER=tcp,net "$@"
    ;;
  job)
    run "$folder/on_host" "$@"
    ;;
  lossy)
    # A short queue in front of a slow cable: packets wait there, and those that find it full are lost.
    for host in 0 1; do
      ip netns exec "$name-$host" tc qdisc add dev "v$$-$host" root tbf rate 400mbit burst 16kb limit 20kb
    done
    run "$folder/on_host" "$@"
    for host in 0 1; do ip netns exec "$name-$host" tc -s qdisc show dev "v$$-$host"; done | tee "$folder/queues"
    grep -q 'dropped [1-9]' "$folder/queues"
    ;;
  link_down)
    run --env RMA_PEER_TIMEOUT=2 "$folder/on_host" "$@" "$folder/ready" > "$folder/output" 2>&1 &
    job=$!
    while [ ! -e "$folder/ready" ] && kill -0 $job 2> /dev/null; do sleep 0.1; done
    ip -n "$name-1" link set "v$$-1" down
    wait $job || true  # rmarun complains that a rank ended by itself
    cat "$folder/output"
    [ "$(grep -c '^rank [01]: ' "$folder/output")" -eq 2 ]
    ;;
esac
