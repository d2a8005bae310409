#!/usr/bin/env bash
# The tests of several ranks (tests/multi) between hosts, two ranks on each, so that one program has targets on its own
# host and on others. For cluster.sh --hosts 2; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

# A few suites share each job, because its start takes longer than most suites.
for suites in 'Memory.*:Contiguous.*:Order.*:Misuse.*:Team.*' 'Strided.*:Vector.*:Request.*:Notify.*' \
  'Accumulate.*:Atomic.*:Context.*:Mutex.*:Thread.*'; do
  step "$suites" multi "$suites"
done
step 'random addresses' random_addresses multi 'Memory.*:Contiguous.Put:Accumulate.*:Message.*Probe*'
# In one process, messages go over shared memory and over the rails: to ranks of its host, whose memory it may not
# access directly, and to those of the other host.
step 'one channel, two transports' multi 'Contiguous.*:Accumulate.*:Atomic.*:Mixed.*' RMA_CMA=off \
  RMA_NONCONTIGUOUS=packed
# Two-sided messages by each protocol between hosts. taken COUNTER OTHER COMMAND...: succeeds if the command does, the
# first counter is above 0 and the other one is 0.
taken() {
  local counter=$1 other=$2 output status=0
  shift 2
  output=$("$@" 2>&1) || status=$?
  printf '%s\n' "$output"
  [ $status -eq 0 ] && grep -q "\"$counter\":[1-9]" <<< "$output" && ! grep -q "\"$other\":[1-9]" <<< "$output"
}
# The collectives of teams on several hosts of which some have several ranks go within each host first.
step 'hierarchical collectives' taken collective_hierarchical peer_lost multi 'Collective.*:Schedule.*' RMA_STATS=json
step 'messages' multi 'Message.*Probe*:Message.Layout*' RMA_PROMOTE=4
RANKS=1
for protocol in copy:fragments read:rdma register:register cache:cache pipeline:pipeline \
  caching_pipeline:caching_pipeline; do
  step "messages: ${protocol%:*}" taken "receive_${protocol#*:}" receive_refused multi 'Rendezvous.*' RMA_STATS=json \
    RMA_RENDEZVOUS="${protocol%:*}" RMA_PIPELINE=16K RMA_EAGER=1000
done
step 'messages: a rank that computes, read' taken receive_rdma receive_refused multi 'Progress.*' RMA_STATS=json \
  RMA_PROGRESS=thread
step 'messages: a rank that computes, pipeline' taken receive_pipeline receive_refused multi 'Progress.*' \
  RMA_STATS=json RMA_PROGRESS=thread RMA_RENDEZVOUS=pipeline
step 'messages: a rank that computes, copy' multi 'Progress.*' RMA_PROGRESS=thread RMA_RENDEZVOUS=copy
RANKS=2
step 'messages: sleeping ranks of one host are called' taken wake_message messages_refused multi 'Rendezvous.*' \
  RMA_STATS=json RMA_SPIN=0 RMA_YIELDS=0
RANKS=1
step 'messages: memory that cannot be registered' taken receive_refused receive_cma multi 'RendezvousReadOnly.*' \
  RMA_STATS=json RMA_RENDEZVOUS=pipeline RMA_EAGER=1000
RANKS=2
# The RDMA allgather. With one rank on each host all members write by RDMA; with two, those of one host copy to results
# in the heap and send messages to others.
RANKS=1
step 'allgather: rdma' taken allgather_zero_copy allgather_refused multi 'Allgather.*' RMA_STATS=json \
  RMA_ALLGATHER=rdma
step 'allgather: ring' taken allgather_ring allgather_refused multi 'Allgather.*' RMA_STATS=json RMA_ALLGATHER=ring
step 'allgather: results that are not registered' taken allgather_refused receive_cma multi 'Allgather.*' \
  RMA_STATS=json RMA_ALLGATHER=rdma RMA_LOCAL_BUFFERS=bounce
step 'allgather: messages' taken collective allgather_rdma multi 'Allgather.*' RMA_STATS=json RMA_ALLGATHER=p2p
RANKS=2
step 'allgather: four members on two hosts' taken allgather_zero_copy messages_refused multi 'Allgather.*' \
  RMA_STATS=json RMA_ALLGATHER=rdma
# MPI between hosts: one rank receives from another to which it never sends, and long messages are read by RDMA.
step 'MPI point to point' cluster-run -n 2 --timeout 200 -- "$programs/mpi-point-to-point"
step 'MPI collectives' cluster-run -n 2 --timeout 200 -- "$programs/mpi-collectives"
for part in epochs memory random; do
  step "MPI windows: $part" cluster-run -n 1 --timeout 200 -- "$programs/mpi-windows-$part"
done
finish
