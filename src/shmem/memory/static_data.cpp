#include "shmem/memory/static_data.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <span>

namespace rma::shmem {
namespace {

struct Bounds {
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
};

/// The first object that dl_iterate_phdr names is the executable.
int read_headers(dl_phdr_info* object, std::size_t /*bytes*/, void* found) {
  Bounds& bounds = *static_cast<Bounds*>(found);
  const std::span<const ElfW(Phdr)> headers(object->dlpi_phdr, object->dlpi_phnum);
  Bounds relro = {.begin = 0, .end = 0};
  for (const auto& header : headers) {
    const std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_RELRO) relro = {.begin = begin, .end = begin + header.p_memsz};
  }
  // The dynamic linker protects whole pages.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t writable_from = relro.end / page * page;
  for (const auto& header : headers) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
    const std::uintptr_t end = begin + header.p_memsz;
    if (begin >= relro.begin && begin < writable_from) begin = std::min(writable_from, end);
    if (begin == end) continue;
    bounds.begin = std::min(bounds.begin, begin);
    bounds.end = std::max(bounds.end, end);
  }
  return 1;
}

/// dl_iterate_phdr's function for identify_program().
int hash_notes(dl_phdr_info* object, std::size_t /*bytes*/, void* result) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t& hash = *static_cast<std::uint64_t*>(result);
  for (const auto& header : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (header.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the executable's segment
    const auto* const notes = reinterpret_cast<const unsigned char*>(object->dlpi_addr + header.p_vaddr);
    for (const unsigned char byte : std::span(notes, header.p_memsz)) hash = (hash ^ byte) * kPrime;
  }
  return 1;
}

}  // namespace

std::uint64_t identify_program() {
  std::uint64_t hash = 0xcbf29ce484222325;
  dl_iterate_phdr(hash_notes, &hash);
  return hash;
}

Range find_static_data() {
  Bounds bounds;
  dl_iterate_phdr(read_headers, &bounds);
  if (bounds.begin >= bounds.end) return {};
  return {.base = bounds.begin, .bytes = bounds.end - bounds.begin};
}

}  // namespace rma::shmem
