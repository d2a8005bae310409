#include "util/system/process_limits.hpp"

#include <sys/resource.h>

#include <fstream>

#include "util/system/page_size.hpp"

namespace librma {
namespace {

/// Returns the soft limit; UINT64_MAX without one.
std::uint64_t limit_of(__rlimit_resource resource) {
  rlimit limit = {};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

/// Returns the addresses that this process has taken. Without /proc, what a program with its libraries takes.
std::uint64_t taken_addresses() {
  constexpr std::uint64_t kUsual = std::uint64_t{512} << 20U;
  std::uint64_t pages = 0;
  std::ifstream file("/proc/self/statm");
  return file >> pages ? pages * page_bytes() : kUsual;
}

}  // namespace

std::uint64_t free_addresses() {
  const std::uint64_t limit = limit_of(RLIMIT_AS);
  if (limit == UINT64_MAX) return limit;
  const std::uint64_t taken = taken_addresses();
  return limit > taken ? limit - taken : 0;
}

std::uint64_t largest_file() { return limit_of(RLIMIT_FSIZE); }

}  // namespace librma
