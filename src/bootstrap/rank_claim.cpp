#include "bootstrap/rank_claim.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace rma {
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

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

struct Address {
  sockaddr_un name = {};
  socklen_t bytes = 0;

  explicit Address(const std::string& text) {
    name.sun_family = AF_UNIX;
    // A null byte in front makes the name abstract.
    const std::size_t length = std::min(text.size(), sizeof name.sun_path - 1);
    std::memcpy(name.sun_path + 1, text.data(), length);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

int make_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

/// Returns the process that listens at `address`, 0 if it cannot be told, or nothing if no process of this
/// user is there. `refused`: nobody listens, because the process has just begun or ended.
std::optional<pid_t> holder_of(const Address& address, bool* refused) {
  const Descriptor asking(make_socket());
  if (asking.number() < 0) return std::nullopt;
  if (::connect(asking.number(), address.get(), address.bytes) != 0) {
    *refused = errno == ECONNREFUSED;
    return 0;  // EAGAIN: many have asked
  }
  ucred made_by = {};
  socklen_t bytes = sizeof made_by;
  if (::getsockopt(asking.number(), SOL_SOCKET, SO_PEERCRED, &made_by, &bytes) != 0) return 0;
  // Another user who has taken the name must not keep ranks out of their jobs.
  if (made_by.uid != ::geteuid()) return std::nullopt;
  // A child that was forked from the holder keeps the socket after the holder's end.
  if (made_by.pid > 0 && ::kill(made_by.pid, 0) != 0 && errno == ESRCH) return std::nullopt;
  return made_by.pid;
}

RankClaim make_claim(std::string_view job, std::string_view rank) {
  const Address address(fmt::format("rma-rank.{}.{:016x}.{}", ::geteuid(), number_of(job), rank));
  Descriptor listening(make_socket());
  if (listening.number() < 0) return {};
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (::bind(listening.number(), address.get(), address.bytes) == 0) {
      constexpr int kAsking = 64;  // nobody accepts them; the next ones are not told the process
      static_cast<void>(::listen(listening.number(), kAsking));
      static_cast<void>(listening.release());  // until the process ends
      return {};
    }
    if (errno != EADDRINUSE) return {};
    bool refused = false;
    const std::optional<pid_t> holder = holder_of(address, &refused);
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

}  // namespace rma
