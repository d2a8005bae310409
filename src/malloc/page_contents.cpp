#include "malloc/page_contents.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "util/system/interruptions.hpp"
#include "util/system/page_size.hpp"
#include "util/text.hpp"

namespace librma {
namespace {

/// Bits of an entry of /proc/self/pagemap (Linux, Documentation/admin-guide/mm/pagemap.rst): the page is in
/// memory, or in the swap space.
constexpr std::uint64_t kTouched = std::uint64_t{3} << 62U;

struct MapsLine {
  Mapping mapping;
  bool usable = false;  ///< private, readable and writable
};

MapsLine parse(const std::string& line) {
  MapsLine parsed;
  std::array<char, 5> rights = {};
  std::uint64_t inode = 0;
  // NOLINTNEXTLINE(cert-err34-c): the kernel writes the numbers
  const int fields = std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*s %" SCNu64,
                                 &parsed.mapping.begin, &parsed.mapping.end, rights.data(), &inode);
  parsed.mapping.of_file = inode != 0;
  parsed.usable = fields == 4 && rights[0] == 'r' && rights[1] == 'w' && rights[3] == 'p';
  return parsed;
}

}  // namespace

Result<std::vector<Mapping>> private_mappings(std::uintptr_t begin, std::uintptr_t end) {
  std::ifstream maps("/proc/self/maps");
  std::vector<Mapping> found;
  std::uintptr_t reached = begin;
  for (std::string line; reached < end && std::getline(maps, line);) {
    MapsLine next = parse(line);
    if (next.mapping.end <= reached) continue;
    if (next.mapping.begin > reached || !next.usable) {
      return Status(RMA_ERR_ADDRESS,
                    text("the memory at {:#x} is not private, readable and writable", reached));
    }
    next.mapping.begin = reached;
    next.mapping.end = std::min(next.mapping.end, end);
    reached = next.mapping.end;
    found.push_back(next.mapping);
  }
  if (reached < end) {
    return Status(maps.is_open() ? RMA_ERR_ADDRESS : RMA_ERR_SYSTEM,
                  text("/proc/self/maps names no memory at {:#x}", reached));
  }
  return found;
}

Result<PageCopy> PageCopy::open(int file, std::uintptr_t begin, std::size_t offset) {
  Descriptor pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!pagemap.open()) return system_failure(RMA_ERR_SYSTEM, "cannot read /proc/self/pagemap", errno);
  return PageCopy(file, std::move(pagemap), begin, offset);
}

int PageCopy::copy(const Mapping& mapping) const noexcept {
  return mapping.of_file ? write(mapping.begin, mapping.end) : copy_touched(mapping);
}

int PageCopy::copy_touched(const Mapping& mapping) const noexcept {
  const std::uintptr_t page = page_bytes();
  std::array<std::uint64_t, 4096>
      entries;  // NOLINT(cppcoreguidelines-pro-type-member-init): the kernel fills it
  for (std::uintptr_t at = mapping.begin; at < mapping.end;) {
    const std::size_t wanted = std::min<std::size_t>((mapping.end - at) / page, entries.size());
    const ssize_t bytes = uninterrupted([&] {
      return ::pread(pagemap_.get(), entries.data(), wanted * sizeof entries[0],
                     static_cast<off_t>(at / page * sizeof entries[0]));
    });
    if (bytes < static_cast<ssize_t>(sizeof entries[0])) return bytes < 0 ? errno : EIO;
    const std::size_t got = static_cast<std::size_t>(bytes) / sizeof entries[0];
    for (std::size_t first = 0; first < got;) {
      std::size_t after = first;
      while (after < got && (entries[after] & kTouched) != 0) ++after;
      if (after != first) {
        if (const int error = write(at + first * page, at + after * page); error != 0) return error;
      }
      first = after + 1;
    }
    at += got * page;
  }
  return 0;
}

int PageCopy::write(std::uintptr_t begin, std::uintptr_t end) const noexcept {
  while (begin < end) {
    // Not by pwrite(), which AddressSanitizer intercepts: it would report the red zones between the
    // variables.
    const long done = uninterrupted([&] {
      return ::syscall(SYS_pwrite64, file_, begin, end - begin, static_cast<off_t>(begin - begin_ + offset_));
    });
    if (done <= 0) return done < 0 ? errno : EIO;
    begin += static_cast<std::uintptr_t>(done);
  }
  return 0;
}

}  // namespace librma
