#include "fabric/private_pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "util/system/interruptions.hpp"
#include "util/system/page_size.hpp"

namespace librma {
namespace {

// The bits are documented in the kernel's Documentation/admin-guide/mm/pagemap.rst.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63U;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62U;
constexpr std::uint64_t kFileOrShared = std::uint64_t{1} << 61U;

}  // namespace

Result<std::unique_ptr<PrivatePages>> PrivatePages::open() {
  std::unique_ptr<PrivatePages> pages(new PrivatePages);
  pages->page_ = page_bytes();
  pages->file_ = Descriptor(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!pages->file_.open()) {
    return system_failure(RMA_ERR_UNSUPPORTED,
                          "shared memory cannot be told from private memory: /proc/self/pagemap", errno);
  }
  return pages;
}

bool PrivatePages::contain(const AddressSpan& span) const {
  std::array<std::uint64_t, 512> entries;
  const std::size_t end = span.end / page_;
  for (std::size_t page = span.begin / page_; page < end;) {
    const std::size_t wanted = std::min(end - page, entries.size());
    const ssize_t got = uninterrupted([&] {
      return ::pread(file_.get(), entries.data(), wanted * sizeof(entries[0]),
                     static_cast<off_t>(page * sizeof(entries[0])));
    });
    const std::size_t whole = got > 0 ? static_cast<std::size_t>(got) / sizeof(entries[0]) : 0;
    if (whole == 0) return false;
    // A page that is neither present nor swapped out may be anything, so the answer is no.
    if (!std::all_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(whole),
                     [](std::uint64_t entry) {
                       return (entry & (kPresent | kSwapped)) != 0 && (entry & kFileOrShared) == 0;
                     })) {
      return false;
    }
    page += whole;
  }
  return true;
}

}  // namespace librma
