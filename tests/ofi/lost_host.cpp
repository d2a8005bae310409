/**
 * @file lost_host.cpp
 * Two ranks on hosts of their own write to each other until the other's host cannot be reached any more.
 * Rank 0 makes the file that is named on the command line when both have written.
 */
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "rma/rma.h"

int main(int argc, char** argv) {
  if (argc != 2 || rma_init() != RMA_SUCCESS || rma_size() != 2) return 2;
  void* all[2] = {};
  void* mine = nullptr;
  if (rma_malloc(rma_team_world(), sizeof(std::uint64_t), 0, all, &mine) != RMA_SUCCESS) return 3;
  if (rma_same_host(1 - rma_rank()) != 0) return 4;
  rma_status_t status = rma_barrier(rma_team_world());
  for (std::uint64_t i = 0; status == RMA_SUCCESS; ++i) {
    status = rma_put(all[1 - rma_rank()], &i, sizeof i, 1 - rma_rank());
    if (status == RMA_SUCCESS) status = rma_fence(1 - rma_rank());
    if (i == 100 && rma_rank() == 0) std::ofstream(argv[1]) << "ready\n";
  }
  std::printf("rank %d: %s\n", rma_rank(), rma_strerror(status));
  std::fflush(stdout);
  // rmarun ends the other rank when this one ends.
  const std::string lost = std::string(argv[1]) + ".lost";
  std::ofstream(lost + std::to_string(rma_rank())) << "lost\n";
  while (!std::filesystem::exists(lost + std::to_string(1 - rma_rank()))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  _exit(status == RMA_ERR_PEER_LOST ? 0 : 5);  // there is no job left to finalize
}
