#include "shmem/job/job.hpp"

namespace librma::shmem {

constinit Job job;

void check_pe(Call call, int pe) {
  require_initialized(call);
  if (static_cast<unsigned>(pe) >= job.n_pes) {
    die(call, fmt::format("there is no PE {}; the job has PEs 0 to {}", pe, job.n_pes - 1));
  }
}

void refuse(Call call, const void* address, std::size_t bytes, int pe) {
  check_pe(call, pe);
  die(call,
      fmt::format("the {} bytes at {} are not symmetric: they are neither in the symmetric heap nor in the "
                  "program's static data",
                  bytes, address));
}

void require_initialized(Call call) {
  if (job.n_pes == 0) die(call, "OpenSHMEM is not initialized");
}

void check_symmetric(Call call, const void* address, std::size_t bytes) {
  if (job.debug && bytes != 0 && !job.heap.contains(address, bytes) && !job.data.contains(address, bytes)) {
    refuse(call, address, bytes, job.me);
  }
}

}  // namespace librma::shmem
