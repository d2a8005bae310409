/**
 * @file main.cpp
 * twosided-bench: loops of two-sided messages on librma's MPI, or on another MPI if compare.sh compiles it.
 */
#include "twosided/group.hpp"
#include "twosided/halo.hpp"
#include "twosided/pair.hpp"
#include "twosided/threads.hpp"

int main(int argc, char** argv) {
  using namespace rma::bench;
  const std::vector<Suite<MpiMember>> suites = {
      {{"latency", "one way, by size"}, latency_suite},
      {{"bandwidth", "messages in one direction, up to 64 under way"}, bandwidth_suite},
      {{"bidirectional", "messages in both directions, up to 64 each way"}, bidirectional_suite},
      {{"rate", "64 short messages at once"}, rate_suite},
      {{"pairs", "64 messages at once, by pairs of ranks (from 4 ranks on)"}, pairs_suite},
      {{"peers", "one rank answers 1 peer, and all (from 3 ranks on)"}, peers_suite},
      {{"exchange", "every rank sends to the next one"}, exchange_suite},
      {{"halo", "every rank exchanges messages with 2, 6 and 26 neighbours"}, halo_suite},
      {{kThreadSuite, "rate of one thread and of two; all rows then have MPI_THREAD_MULTIPLE"},
       thread_suite}};
  return run_program<MpiMember>(argc, argv, suites);
}
