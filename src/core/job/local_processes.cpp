#include "core/job/local_processes.hpp"

#include <fmt/format.h>

#include <atomic>

#include "transport/shm/wakeup.hpp"
#include "util/log.hpp"

namespace rma {

Status LocalProcesses::add(int rank, pid_t process) {
  auto file = transport::open_process(process);
  if (!file.ok()) return std::move(file).status();
  if (!file->open()) {
    log(LogLevel::info, fmt::format("no pidfd of process {}: should rank {} end before the job does, those "
                                    "that wait for it wait for ever",
                                    process, rank));
  }
  files_[static_cast<std::size_t>(rank)] = std::move(file).value();
  return {};
}

bool LocalProcesses::ended(int rank) const {
  const transport::Descriptor& file = files_[static_cast<std::size_t>(rank)];
  if (!file.open() || !transport::has_ended(file)) return false;
  // The system ended the process before it reported the end. The fence orders the caller's next loads after
  // that.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

}  // namespace rma
