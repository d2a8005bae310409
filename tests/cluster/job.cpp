// One rank of the jobs that the scripts of this folder run: `rma-cluster-job CASE [ARGUMENT]`. Exits with 0
// if all results are right, and prints wrong ones to standard error.

#include "job.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace cluster_job {

bool expect(bool good, const char* what) {
  if (good) return true;
  if (++failures <= 5)
    std::fprintf(stderr, "rank %d: %s; last error: %s\n", rma_rank(), what, rma_last_error());
  return false;
}
bool expect_ok(rma_status_t status, const char* what) {
  lost = lost || (may_lose && status == RMA_ERR_PEER_LOST);
  return !lost && expect(status == RMA_SUCCESS, what);
}
bool error_names(std::string_view word) {
  return std::string_view(rma_last_error()).find(word) != std::string::npos;
}
void barrier() { expect_ok(rma_barrier(rma_team_world()), "barrier"); }

int first_of_another_host() {
  for (int rank = 0; rank < rma_size(); ++rank) {
    if (rma_same_host(rank) == 0) return rank;
  }
  return rma_rank();
}

char* slice(const Shared& shared, int rank, std::size_t bytes) {
  return shared.at(rank) + bytes * static_cast<std::size_t>(rma_rank());
}

}  // namespace cluster_job

int main(int argc, char** argv) {
  using namespace cluster_job;
  const std::map<std::string_view, void (*)()> cases = {{"traffic", traffic},
                                                        {"lossy", lossy},
                                                        {"hammer_4", hammer<std::uint32_t>},
                                                        {"hammer_8", hammer<std::uint64_t>},
                                                        {"operations_4", operations<std::uint32_t>},
                                                        {"operations_8", operations<std::uint64_t>},
                                                        {"reuse_address", reuse_address},
                                                        {"memory_limit", memory_limit},
                                                        {"idle", idle},
                                                        {"killed", killed},
                                                        {"collectives_lost", collectives_lost},
                                                        {"mutexes_lost", mutexes_lost},
                                                        {"allgather_lost", allgather_lost},
                                                        {"vanished", vanished},
                                                        {"messages_lost", messages_lost}};
  const auto found = argc >= 2 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    std::fprintf(stderr, "usage: rma-cluster-job CASE [NUMBER]\n");
    return 2;
  }
  if (argc > 2) argument = std::strtol(argv[2], nullptr, 10);
  if (std::string_view(argv[1]) == "messages_lost") choose_rendezvous();
  if (rma_init() != RMA_SUCCESS) {
    std::fprintf(stderr, "rma_init: %s\n", rma_last_error());
    return 1;
  }
  const int rank = rma_rank();
  found->second();
  expect_ok(rma_finalize(), "finalize");
  if (failures == 0 && rank == 0) std::printf("%s: passed\n", argv[1]);
  return failures == 0 ? 0 : 1;
}
