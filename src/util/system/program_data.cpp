#include "util/system/program_data.hpp"

#include <link.h>

#include <algorithm>
#include <span>

#include "util/system/page_size.hpp"

namespace librma {
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
  const std::uintptr_t page = page_bytes();
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

/// A search in the names of the libraries that an executable needs.
struct NameSearch {
  std::string_view name;
  bool found = false;
};

/// dl_iterate_phdr's function for program_needs().
int search_names(dl_phdr_info* object, std::size_t /*bytes*/, void* result) {
  NameSearch& search = *static_cast<NameSearch*>(result);
  for (const auto& header : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (header.p_type != PT_DYNAMIC) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the executable's segment
    const auto* const entries = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + header.p_vaddr);
    const std::span all(entries, header.p_memsz / sizeof *entries);
    const auto names = std::ranges::find(all, DT_STRTAB, &ElfW(Dyn)::d_tag);
    if (names == all.end()) return 1;
    for (const ElfW(Dyn) & entry : all) {
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag != DT_NEEDED) continue;
      // The dynamic linker has made an address of the table's place.
      // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
      const auto* const text = reinterpret_cast<const char*>(names->d_un.d_ptr) + entry.d_un.d_val;
      search.found = search.found || std::string_view(text).starts_with(search.name);
    }
  }
  return 1;
}

}  // namespace

ProgramData find_program_data() {
  Bounds bounds;
  dl_iterate_phdr(read_headers, &bounds);
  if (bounds.begin >= bounds.end) return {};
  return {.base = bounds.begin, .bytes = bounds.end - bounds.begin};
}

bool program_needs(std::string_view name) {
  NameSearch search = {.name = name};
  dl_iterate_phdr(search_names, &search);
  return search.found;
}

}  // namespace librma
