#!/usr/bin/env bash
# Runs the tests of several ranks between hosts again, as multi.sh, by the paths that the usual settings do
# not take.
. "$(dirname "$0")/lib.sh"
programs=$1

# Each host has one rank: these settings matter only between hosts, and ranks that share a processor take
# turns.
RANKS=1
transfers='Contiguous.Put:Contiguous.Get:Order.*'
step 'buffers registered each time' multi "$transfers" RMA_LOCAL_BUFFERS=register
step 'buffers registered piece by piece' multi "$transfers" RMA_LOCAL_BUFFERS=pipeline RMA_PIPELINE=4096
step 'buffers copied' multi "$transfers" RMA_LOCAL_BUFFERS=bounce
step 'nothing inline, few copies' multi "$transfers:Request.*" RMA_INLINE=0 RMA_BOUNCE=64
step 'small pieces, short queues' multi "$transfers:Vector.Put:Vector.Get:Request.*" RMA_PIECE=4096 RMA_QP_DEPTH=16 \
  RMA_BOUNCE_BUFFERS=4
RANKS=2
step 'atomics by the helper' multi 'Atomic.*:Order.*:Contiguous.*:Thread.OneCounter*' RMA_ATOMIC_DOMAIN=helper
# Almost no heap memory can be registered, and no other memory at all.
little_locked_memory() {
  RANKS=$1 limited 2000 "$programs/rma-multi-tests" --gtest_filter="$2"
}
for tests in 'Atomic.*:Accumulate.*' 'Order.*'; do
  step "little locked memory: $tests" little_locked_memory 2 "$tests"
done
step 'little locked memory: puts' little_locked_memory 1 'Contiguous.Put'
step 'no shared memory' multi 'Order.*:Atomic.*:Notify.*:Thread.*' RMA_SHM=off
finish
