#!/usr/bin/env bash
# Runs jobs whose two ranks do not agree about the network. Each must end by itself, with a text that names what differs.
#
# usage: mixed_job.sh RMARUN PROGRAM     PROGRAM communicates with the other rank
set -euo pipefail
rmarun=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The variable NAME has the first value on rank 0, and the second on rank 1.
differing() {
  local name=$1 first=$2 second=$3 expected=$4 status=0
  printf '#!/bin/sh\n[ "$PMIX_RANK" = 0 ] && export %s="%s" || export %s="%s"\nexec "$@"\n' \
    "$name" "$first" "$name" "$second" > "$folder/as_rank"
  chmod +x "$folder/as_rank"
  env RMA_SHM=off RMA_NETWORK=ofi RMA_OFI_PROVIDER=tcp,net RMA_PEER_TIMEOUT=2 "$rmarun" -n 2 --timeout 60 \
    "$folder/as_rank" "$program" fork > "$folder/output" 2>&1 || status=$?
  if [ "$status" = 0 ] || [ "$status" = 124 ] || ! grep -q "$expected" "$folder/output"; then
    echo "$name=$first and $second: exit code $status, no text '$expected':"
    cat "$folder/output"
    exit 1
  fi
}

differing RMA_NETWORK ofi auto 'RMA_NETWORK'
differing RMA_NETWORK ofi verbs 'RDMA device'  # this machine has none
differing RMA_NETWORK auto off 'RMA_NETWORK'
differing RMA_DEVICES lo no-such-interface 'RMA_DEVICES does not name it'
differing RMA_OFI_PROVIDER tcp,net 'tcp;ofi_rxm' 'another provider'
