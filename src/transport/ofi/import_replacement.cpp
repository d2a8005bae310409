#include "transport/ofi/import_replacement.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "util/system/page_size.hpp"

namespace librma::transport {
namespace {

/// A place of a library that is loaded, by its address in memory.
struct Extent {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Returns the page that has this address.
std::uintptr_t page_of(std::uintptr_t address) { return address & ~(std::uintptr_t{page_bytes()} - 1); }

/// Returns the part of a library that the dynamic linker has made read-only after it has written to it: whole
/// pages, because the last one may go on with data that stay writable.
Extent read_only_part(const link_map& library) {
  struct Search {
    const link_map* library;
    Extent found;
  } search = {&library, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t /*size*/, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        if (info->dlpi_addr != wanted.library->l_addr) return 0;
        for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_GNU_RELRO) continue;
          const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          wanted.found = {page_of(begin), page_of(begin + header.p_memsz)};
        }
        return 1;
      },
      &search);
  return search.found;
}

/// Returns where a library keeps the address of an imported function, or null.
void** entry_of(const link_map& library, const char* name) {
  const ElfW(Sym)* symbols = nullptr;
  const char* texts = nullptr;
  const ElfW(Rela)* entries = nullptr;
  std::size_t bytes = 0;
  bool with_addends = true;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    // The dynamic linker has replaced the offsets in the file by addresses.
    const auto address = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) texts = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_JMPREL) entries = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_PLTRELSZ) bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTREL) with_addends = entry->d_un.d_val == DT_RELA;
  }
  if (symbols == nullptr || texts == nullptr || entries == nullptr || !with_addends) return nullptr;
  for (std::size_t i = 0; i < bytes / sizeof(ElfW(Rela)); ++i) {
    const auto symbol = ELF64_R_SYM(entries[i].r_info);
    if (symbol != 0 && std::strcmp(texts + symbols[symbol].st_name, name) == 0)
      return reinterpret_cast<void**>(library.l_addr + entries[i].r_offset);
  }
  return nullptr;
}

}  // namespace

ImportReplacement::ImportReplacement(void* library, const char* name, void* function) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return;
  void** const entry = entry_of(*map, name);
  if (entry == nullptr) return;
  const Extent part = read_only_part(*map);
  const auto address = reinterpret_cast<std::uintptr_t>(entry);
  read_only_ = address >= part.begin && address < part.end;
  entry_ = entry;
  imported_ = *entry;
  write(function);
}

ImportReplacement::~ImportReplacement() {
  if (entry_ != nullptr) write(imported_);
}

void ImportReplacement::write(void* function) {
  void* const page = reinterpret_cast<void*>(page_of(reinterpret_cast<std::uintptr_t>(entry_)));
  if (read_only_ && ::mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return;
  // Other threads may call the function at this moment.
  std::atomic_ref(*entry_).store(function, std::memory_order_release);
  if (read_only_) static_cast<void>(::mprotect(page, page_bytes(), PROT_READ));
}

}  // namespace librma::transport
