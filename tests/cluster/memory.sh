#!/usr/bin/env bash
# Tests the process heap and static data with settings of the system that no test may change on its own machine: promised
# memory (vm.overcommit_memory) and huge pages. The ranks are on one host, where they map each other's memory. For
# cluster.sh; the argument is the folder with the programs.
. "$(dirname "$0")/lib.sh"
programs=$1

promised() { with_setting /proc/sys/vm/overcommit_ratio 90 with_setting /proc/sys/vm/overcommit_memory 2 "$@"; }
private_huge_pages() { with_setting /sys/kernel/mm/transparent_hugepage/enabled "$@"; }
shared_huge_pages() { with_setting /sys/kernel/mm/transparent_hugepage/shmem_enabled "$@"; }

ranks() { "$programs/rmarun" -n 2 --timeout 100 --env RMA_STATS=table "$@"; }
# mapped LEAST MOST PROGRAM...: runs it, and succeeds if so many messages were copied from mapped memory.
mapped() {
  local least=$1 most=$2 output
  shift 2
  output=$(ranks "$@" 2>&1) || { echo "$output"; return 1; }
  # A rank does not show a counter that is 0.
  awk -v least="$least" -v most="$most" '/^rma statistics of rank/ && !seen[$NF]++ { ranks++ } $1 == "receive_mapped" { sum += $2 }
    END { print sum + 0, "messages from mapped memory"; exit !(ranks == 2 && sum >= least && sum <= most) }' <<< "$output"
}

step 'promised memory: no process heap' promised \
  expect_text 'process heap +off: the system does not overcommit memory' "$programs/rmarun" -n 1 "$programs/rma-info"
step 'promised memory: messages between private blocks' promised mapped 0 0 "$programs/heap-transfers" plain
step 'promised memory: the heap of rma_malloc' promised ranks "$programs/rma-multi-tests" --gtest_filter='Memory.*:Contiguous.*'
step 'huge pages of private memory: static data stay private' private_huge_pages always mapped 0 0 "$programs/heap-static-data"
step 'no huge pages of private memory: static data are shared' private_huge_pages never mapped 2 1000 \
  "$programs/heap-static-data"
step 'huge pages of shared memory: the process heap' shared_huge_pages always mapped 1 1000 "$programs/heap-transfers" mapped
step 'huge pages of shared memory: forked children' shared_huge_pages always "$programs/heap-forks"
step 'huge pages of shared memory: blocks' shared_huge_pages always "$programs/heap-allocations"
step 'huge pages of shared memory: the heap of rma_malloc' shared_huge_pages always \
  ranks --env RMA_PROCESS_HEAP=0 "$programs/rma-multi-tests" --gtest_filter='Memory.*:Contiguous.*'
finish
