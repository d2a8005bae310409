#include "rmarun/descriptors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace rmarun {
namespace {

/// Descriptors for each rank: its stdout, its stderr, its connection to the server of ranks, and that to the
/// PMIx server if it uses PMIx besides.
constexpr rlim_t kPerRank = 4;
/// Descriptors of rmarun (12) and of the PMIx server in it (9 with version 4.2), those that are open only
/// while a rank starts (6), and some spare ones.
constexpr rlim_t kOwn = 34;

rlim_t open_now() {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/self/fd", error);
  return error ? 0 : static_cast<rlim_t>(std::distance(begin(all), end(all)));
}

rlim_t needed_for(rlim_t ranks) { return open_now() + kOwn + kPerRank * ranks; }

}  // namespace

void provide_stdin() {
  if (::fcntl(STDIN_FILENO, F_GETFD) >= 0) return;
  // It gets the lowest number that is free. If it cannot be opened, neither can anything else.
  static_cast<void>(::open("/dev/null", O_RDONLY));
}

int most_ranks_with_room() {
  rlimit users{};
  const rlim_t none = needed_for(0);
  if (::getrlimit(RLIMIT_NOFILE, &users) != 0 || users.rlim_max < none) return 0;
  return static_cast<int>(std::min<rlim_t>((users.rlim_max - none) / kPerRank, INT_MAX));
}

librma::Result<rlimit> make_room_for(int ranks) {
  rlimit users{};
  if (::getrlimit(RLIMIT_NOFILE, &users) != 0)
    return librma::system_failure(RMA_ERR_SYSTEM, "getrlimit of RLIMIT_NOFILE", errno);
  const rlim_t needed = needed_for(static_cast<rlim_t>(ranks));
  if (users.rlim_cur >= needed) return users;
  if (users.rlim_max < needed) {
    return librma::Status(
        RMA_ERR_SYSTEM,
        fmt::format("-n {} needs {} open files in rmarun, and the hard limit is {} (ulimit -Hn): start "
                    "fewer ranks or have the limit raised",
                    ranks, needed, users.rlim_max));
  }
  const rlimit raised{.rlim_cur = needed, .rlim_max = users.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) != 0)
    return librma::system_failure(RMA_ERR_SYSTEM, "setrlimit of RLIMIT_NOFILE", errno);
  return users;
}

}  // namespace rmarun
