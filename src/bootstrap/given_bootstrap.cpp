#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "bootstrap/backends.hpp"
#include "util/system/network_namespace.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// Identifies a host. Two processes share a host if they run on the same kernel and in the same network
/// namespace, because they hand each other their memory over sockets.
struct HostMark {
  std::array<char, 40> kernel = {};  ///< the random id of this boot, or the host's name without /proc
  std::uint64_t network = 0;         ///< the number of the network namespace
  std::uint64_t unique = 0;          ///< a number that differs in each process and each job

  [[nodiscard]] bool same_host(const HostMark& other) const {
    return kernel == other.kernel && network == other.network;
  }
};

Result<HostMark> mark_of_this_process() {
  HostMark mark;
  std::string boot;
  if (!std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot) || boot.empty()) {
    boot.assign(mark.kernel.size(), 0);
    if (::gethostname(boot.data(), boot.size() - 1) != 0) {
      return system_failure(RMA_ERR_SYSTEM, "no name of this host, which tells hosts apart", errno);
    }
  }
  std::copy_n(boot.begin(), std::min(boot.size(), mark.kernel.size() - 1), mark.kernel.begin());
  mark.network = network_namespace();
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  mark.unique = (static_cast<std::uint64_t>(getpid()) << 44U) ^ static_cast<std::uint64_t>(now);
  return mark;
}

class GivenBootstrap final : public Bootstrap {
 public:
  GivenBootstrap(JobInfo info, const rma_bootstrap_t& given) : Bootstrap(std::move(info)), given_(given) {}

  Status publish(std::span<const std::byte> card) override {
    card_.assign(card.begin(), card.end());
    return {};
  }

  /// Executes a fence. The first one carries all cards to every process, because there is no server to ask
  /// later.
  Status fence() override {
    if (!cards_.empty()) return check(given_.barrier(given_.context), "barrier");
    const std::uint64_t mine = card_.size();
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<std::uint64_t> sizes(ranks);
    RMA_TRY(gather(&mine, sizes.data(), sizeof mine));
    const std::size_t room = *std::max_element(sizes.begin(), sizes.end());
    card_.resize(room);
    std::vector<std::byte> all(room * ranks);
    RMA_TRY(gather(card_.data(), all.data(), room));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto card = std::span(all).subspan(rank * room, sizes[rank]);
      cards_.emplace_back(card.begin(), card.end());
    }
    return {};
  }

  Result<std::vector<std::byte>> card_of(int rank) override {
    if (rank < 0 || rank >= size()) {
      return Status(RMA_ERR_RANK, fmt::format("no rank {} in a job of {}", rank, size()));
    }
    if (cards_.empty()) return Status(RMA_ERR_LAUNCH, fmt::format("rank {} has published no card", rank));
    return cards_[static_cast<std::size_t>(rank)];
  }

  [[noreturn]] void abort(int exit_code, std::string_view text) override {
    print_last_words(text);
    if (given_.abort != nullptr) given_.abort(given_.context, exit_code);
    std::_Exit(exit_code);
  }

  static Status check(int outcome, const char* call) {
    if (outcome == 0) return {};
    return {RMA_ERR_LAUNCH, fmt::format("the {} that rma_init_with was given returned {}", call, outcome)};
  }

 private:
  Status gather(const void* mine, void* all, std::size_t bytes) {
    return check(given_.allgather(given_.context, mine, all, bytes), "allgather");
  }

  const rma_bootstrap_t given_;
  std::vector<std::byte> card_;
  std::vector<std::vector<std::byte>> cards_;  ///< by rank; empty before the first fence
};

}  // namespace

Result<std::unique_ptr<Bootstrap>> open_given_bootstrap(const rma_bootstrap_t& given) {
  RMA_TRY_ASSIGN(mine, mark_of_this_process());
  std::vector<HostMark> marks(static_cast<std::size_t>(given.size));
  const int outcome = given.allgather(given.context, &mine, marks.data(), sizeof(HostMark));
  RMA_TRY(GivenBootstrap::check(outcome, "allgather"));
  std::vector<int> local_ranks;
  for (int rank = 0; rank < given.size; ++rank) {
    if (mine.same_host(marks[static_cast<std::size_t>(rank)])) local_ranks.push_back(rank);
  }
  if (std::find(local_ranks.begin(), local_ranks.end(), given.rank) == local_ranks.end()) {
    return Status(RMA_ERR_LAUNCH, "the allgather that rma_init_with was given lost this process's part");
  }
  return std::unique_ptr<Bootstrap>(new GivenBootstrap(
      {.rank = given.rank,
       .size = given.size,
       .local_ranks = std::move(local_ranks),
       .job_id = fmt::format("{}-{:x}", marks.front().kernel.data(), marks.front().unique)},
      given));
}

}  // namespace librma
