/**
 * @file main.cpp
 * armci-bench: the measurements on librma's ARMCI, or on another ARMCI if compare.sh compiles it.
 */
#include "armci/calls.hpp"
#include "armci/client_suite.hpp"
#include "armci/transfers.hpp"

int main(int argc, char** argv) {
  using namespace rma::bench;
  const std::vector<Suite<ArmciMember>> suites = {
      {{"put", "put by size, contiguous and strided"}, transfer_suite<Kind::put>, Arena::kLargeBytes},
      {{"get", "get by size, contiguous and strided"}, transfer_suite<Kind::get>, Arena::kLargeBytes},
      {{"accumulate", "accumulate of doubles by size, contiguous and strided"},
       transfer_suite<Kind::accumulate>,
       Arena::kLargeBytes},
      {{"rmw", "fetch-and-add, apart and of all on one counter"}, rmw_suite},
      {{"lock", "lock and unlock, apart and of all on one mutex"}, lock_suite},
      {{"fence", "fence of one rank, puts to all and a fence of all"}, fence_suite},
      {{"malloc", "collective malloc and free"}, malloc_suite},
      {{"client", "small strided puts and accumulates as a large client issues them"},
       client_suite,
       Arena::kLargeBytes}};
  return run_program<ArmciMember>(argc, argv, suites);
}
