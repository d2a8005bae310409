#include "bootstrap/pmix_session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "util/system/interruptions.hpp"

namespace librma {
namespace {

struct Connection {
  std::mutex mutex;
  pmix_proc_t self{};
  int users = 0;
  pid_t owner = 0;  ///< the process that connected, or 0; a forked child must not use its parent's connection

  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (users == 0 && owner == ::getpid()) PMIx_Finalize(nullptr, 0);
  }
};

Connection& connection() {
  static Connection the_connection;
  return the_connection;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Status pmix_failure(std::string_view what, pmix_status_t code) {
  // PMIx's name for it does not say that the others are the reason.
  const char* const meaning =
      code == PMIX_ERR_PARTIAL_SUCCESS ? ": a process of the job has ended, or has left it" : "";
  return {RMA_ERR_LAUNCH, fmt::format("{} failed: {} ({}){}", what, PMIx_Error_string(code), code, meaning)};
}

Result<pmix_proc_t> PmixSession::join() {
  Connection& c = connection();
  const std::lock_guard lock(c.mutex);
  if (c.owner == 0) {
    const auto code = [&] {
      const SignalsHeldBack held_back;  // PMIx's threads inherit the mask, and run no handler of the program
      return PMIx_Init(&c.self, nullptr, 0);
    }();
    if (code != PMIX_SUCCESS) {
      return pmix_failure("PMIx_Init", code)
          .within(fmt::format(
              "the launcher that set PMIX_NAMESPACE={} and PMIX_RANK={} does not answer. Start the "
              "program with rmarun, mpirun or srun --mpi=pmix, or unset both to run it as a job of one",
              environment("PMIX_NAMESPACE"), environment("PMIX_RANK")));
    }
    c.owner = ::getpid();
  }
  ++c.users;
  return c.self;
}

void PmixSession::leave() noexcept {
  Connection& c = connection();
  const std::lock_guard lock(c.mutex);
  --c.users;
}

}  // namespace librma
