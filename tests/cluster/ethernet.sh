#!/usr/bin/env bash
# Jobs over two hosts without RDMA devices: RMA_NETWORK=auto takes libfabric's TCP. For cluster.sh --hosts 2 --rdma off.
. "$(dirname "$0")/lib.sh"
bin=$1

says_why() { "$bin/rma-info" --devices | grep 'network between hosts.*ofi: there is no usable RDMA device'; }
step 'rma-info says which network and why' says_why
step 'one-sided operations, 2 x 1' cluster-run -n 1 -- "$bin/rma-multi-tests" \
  --gtest_filter='Contiguous.*:Atomic.*:Notify.*:Accumulate.*:Strided.*'
step 'messages and collectives, 2 x 2' cluster-run -n 2 -- "$bin/rma-multi-tests" \
  --gtest_filter='Rendezvous.*:Collective.*'
finish
