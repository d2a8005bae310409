#include "transport/ofi/mapped_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "util/system/page_size.hpp"

namespace librma::transport {
namespace {

struct FileCloser {
  void operator()(FILE* file) const { static_cast<void>(fclose(file)); }
};

Status not_mapped(std::uintptr_t at, const char* why) {
  return {RMA_ERR_ADDRESS, fmt::format("the memory at {:#x} {}", at, why)};
}

Status check_pages(const std::byte* address, std::size_t bytes) {
  const std::uintptr_t page = page_bytes();
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(address) / page * page;
  const std::size_t length = reinterpret_cast<std::uintptr_t>(address) + bytes - first;
  std::vector<unsigned char> pages((length + page - 1) / page);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the page that the address lies in
  if (mincore(reinterpret_cast<void*>(first), length, pages.data()) == 0 || errno != ENOMEM) return {};
  return not_mapped(first, "is not all mapped");
}

}  // namespace

Status check_mapped(const std::byte* address, std::size_t bytes) {
  std::uintptr_t at = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t end = at + bytes;
  const std::unique_ptr<FILE, FileCloser> maps(fopen("/proc/self/maps", "re"));
  if (maps == nullptr) return check_pages(address, bytes);
  std::array<char, 512> line;
  while (at < end && fgets(line.data(), line.size(), maps.get()) != nullptr) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    std::array<char, 5> rights = {};
    // A long path takes several reads; its rest has no addresses.
    // NOLINTNEXTLINE(cert-err34-c): the kernel writes the numbers
    if (sscanf(line.data(), "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, rights.data()) != 3) continue;
    if (to <= at) continue;
    if (from > at) break;
    if (rights[0] != 'r' || rights[1] != 'w') return not_mapped(at, "may not be read and written");
    at = to;
  }
  return at >= end ? Status() : not_mapped(at, "is not mapped");
}

}  // namespace librma::transport
