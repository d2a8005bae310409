#include "bootstrap/rank_claim.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "util/system/unix_socket.hpp"

namespace librma {
namespace {

/// The FNV-1a hash. All processes of a job compute the same, whatever their C++ library.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

/// Returns a number of the job that no other job of this network namespace has. Names of jobs alone are not
/// unique: two launchers in containers may have the same. The server's address is. The order of the
/// environment does not matter, because shells change it.
std::uint64_t number_of(std::string_view job) {
  std::uint64_t number = hash_of(job);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with("PMIX_SERVER_URI")) number += hash_of(*entry);
  }
  return number;
}

/// Returns the process that listens at `address`, 0 if it cannot be told, or nothing if no process of this
/// user is there. `refused`: nobody listens, because the process has just begun or ended.
std::optional<pid_t> holder_of(const SocketName& name, bool* refused) {
  const Descriptor asking = connect_to(name, SOCK_NONBLOCK);
  if (!asking.open()) {
    if (errno == EMFILE || errno == ENFILE) return std::nullopt;
    *refused = errno == ECONNREFUSED;
    return 0;  // EAGAIN: many have asked
  }
  const ucred made_by = other_end(asking);
  // Another user who has taken the name must not keep ranks out of their jobs.
  if (made_by.uid != ::geteuid()) return std::nullopt;
  // A child that was forked from the holder keeps the socket after the holder's end.
  if (made_by.pid > 0 && ::kill(made_by.pid, 0) != 0 && errno == ESRCH) return std::nullopt;
  return made_by.pid;
}

RankClaim make_claim(std::string_view job, std::string_view rank) {
  const auto name =
      SocketName::abstract(fmt::format("rma-rank.{}.{:016x}.{}", ::geteuid(), number_of(job), rank));
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    // Nobody accepts those who ask.
    if (Descriptor listening = listen_at(name); listening.open()) {
      static_cast<void>(listening.release());  // until the process ends
      return {};
    }
    if (errno != EADDRINUSE) return {};
    bool refused = false;
    const std::optional<pid_t> holder = holder_of(name, &refused);
    if (!holder) return {};
    if (!refused) return {.holder = RankClaim::Holder::other, .process = *holder};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {.holder = RankClaim::Holder::other, .process = 0};
}

}  // namespace

RankClaim claim_rank(std::string_view job, std::string_view rank) {
  static pid_t asked_by = 0;
  static RankClaim answer;
  if (asked_by == 0) {
    answer = make_claim(job, rank);
    asked_by = ::getpid();
  } else if (asked_by != ::getpid() && answer.holder == RankClaim::Holder::self) {
    answer = {.holder = RankClaim::Holder::other, .process = asked_by};
    asked_by = ::getpid();
  }
  return answer;
}

}  // namespace librma
