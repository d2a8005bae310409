#include "rmarun/preparation.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "rmarun/binding.hpp"
#include "rmarun/processes.hpp"
#include "util/system/interruptions.hpp"
#include "util/try_assign.hpp"

namespace rmarun {
namespace {

librma::Result<Prepared> prepare(const std::vector<int>& programs, int seats, Bind bind,
                                 const std::string& directory) {
  Prepared prepared;
  if (bind == Bind::kCore) {
    RMA_TRY_ASSIGN(cores, allowed_cores());
    prepared.cores = std::move(cores);
  }
  RMA_TRY_ASSIGN(server, PmixServer::start(programs, seats, directory));
  prepared.server = server;
  RMA_TRY_ASSIGN(ranks, RankServer::start(programs, seats, directory, prepared.server->reports()));
  prepared.ranks = ranks;
  prepared.environments.reserve(programs.size());
  for (size_t rank = 0; rank < programs.size(); ++rank) {
    RMA_TRY_ASSIGN(environment, prepared.server->environment_of(static_cast<int>(rank)));
    prepared.environments.push_back(std::move(environment));
    prepared.environments.back().push_back(prepared.ranks->assignment());
  }
  return prepared;
}

}  // namespace

struct Preparation::Shared {
  Descriptor done;
  std::optional<librma::Result<Prepared>> result;  ///< written before `done`
};

librma::Result<Preparation> Preparation::start(const Options& options, const std::string& directory) {
  look_for_processors_only();
  PmixServer::set_environment();
  auto shared = std::make_shared<Shared>();
  shared->done = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!shared->done.open()) return librma::system_failure(RMA_ERR_SYSTEM, "eventfd", errno);
  try {
    const librma::SignalsHeldBack held_back;  // this thread and PMIx's inherit the mask
    std::thread([shared, programs = options.programs_of_ranks(), seats = options.seats(), bind = options.bind,
                 directory] {
      shared->result = prepare(programs, seats, bind, directory);
      const uint64_t signals = 1;
      [[maybe_unused]] const ssize_t written = ::write(shared->done.get(), &signals, sizeof signals);
    }).detach();
  } catch (const std::system_error& error) {
    return librma::Status(RMA_ERR_SYSTEM, "cannot start a thread: " + describe_refusal(error.code().value()));
  }
  return Preparation(std::move(shared));
}

int Preparation::done() const noexcept { return shared_->done.get(); }

librma::Result<Prepared> Preparation::take() {
  uint64_t count = 0;  // the read comes after the thread's write, and so does the use of the result
  static_cast<void>(librma::uninterrupted([&] { return ::read(shared_->done.get(), &count, sizeof count); }));
  return *std::move(shared_->result);
}

}  // namespace rmarun
