#include "util/public_call.hpp"

#include <elf.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// The linker defines these for the library that this file is a part of. An executable that is linked
// statically has no dynamic section.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));  // NOLINT: the linker's name
extern const char rma_own_dynamic[] __asm__("_DYNAMIC") __attribute__((weak, visibility("hidden")));
}

namespace librma {
namespace {

using Address = std::uintptr_t;
using Symbol = ElfW(Sym);

constexpr std::size_t kMostFrames = 64;
/// The beginnings of the names of public functions.
constexpr std::array<std::string_view, 6> kPrefixes = {"MPI_", "PMPI_", "shmem", "pshmem", "ARMCI_", "rma_"};

struct Libraries {
  std::atomic<std::size_t> count = 0;  ///< reserved
  std::array<std::atomic<const void*>, kMostLibraries> headers = {};
  std::array<std::atomic<const void*>, kMostLibraries> dynamics = {};  ///< stored before the header
};
constinit Libraries libraries;

/// A loaded library, as its program headers and its dynamic section describe it.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const CallLibrary& library) : base_(reinterpret_cast<Address>(library.header)) {
    const auto& header = *static_cast<const ElfW(Ehdr)*>(library.header);
    const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(base_ + header.e_phoff);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      if (segments[i].p_type != PT_LOAD) continue;
      // The first segment of a library begins at the header; that of an executable may have a fixed address.
      if (segments[i].p_offset == 0) bias_ = base_ - segments[i].p_vaddr;
      end_ = std::max(end_, segments[i].p_vaddr + segments[i].p_memsz);
    }
    end_ += bias_;
    for (const auto* entry = static_cast<const ElfW(Dyn)*>(library.dynamic);
         entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols_ = at<Symbol>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) names_ = at<char>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH) count_ = symbol_count(at<std::uint32_t>(entry->d_un.d_ptr));
    }
  }

  [[nodiscard]] bool holds(Address address) const { return address >= base_ && address < end_; }

  /// Returns the name of the public function that holds the address, or an empty text.
  [[nodiscard]] std::string_view name_of(Address address) const {
    if (symbols_ == nullptr || names_ == nullptr) return {};
    for (std::size_t i = 0; i < count_; ++i) {
      const Symbol& symbol = symbols_[i];
      const Address begin = bias_ + symbol.st_value;
      if (symbol.st_shndx == SHN_UNDEF || (symbol.st_info & 0xfU) != STT_FUNC || address < begin ||
          address >= begin + symbol.st_size) {
        continue;
      }
      const std::string_view name = names_ + symbol.st_name;
      const bool is_public =
          std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
      if (is_public) return without_profiling_prefix(name);
    }
    return {};
  }

 private:
  /// Most systems have added the library's place to the addresses in its dynamic section, and some have not.
  template <typename T>
  [[nodiscard]] const T* at(Address address) const {
    return reinterpret_cast<const T*>(address < base_ ? address + bias_ : address);
  }
  static std::size_t symbol_count(const std::uint32_t* table) {
    const std::uint32_t buckets = table[0];
    const std::uint32_t first = table[1];
    const std::uint32_t* const bucket =
        table + 4 + std::size_t{table[2]} * (sizeof(Address) / sizeof(std::uint32_t));
    const std::uint32_t* const chain = bucket + buckets;
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
    if (last < first) return first;
    while (chain[last - first] % 2 == 0) ++last;  // the last one of a chain is odd
    return last + 1;
  }
  static std::string_view without_profiling_prefix(std::string_view name) {
    const bool profiling = name.starts_with("PMPI_") || name.starts_with("pshmem");
    return profiling ? name.substr(1) : name;
  }

  Address base_;
  Address bias_ = 0;  ///< distance between the addresses in the library's file and those in memory
  Address end_ = 0;
  const Symbol* symbols_ = nullptr;
  const char* names_ = nullptr;
  std::size_t count_ = 0;
};

/// The way out, from this function to the program.
struct WayOut {
  std::string_view name;
  std::size_t frames = 0;
};

bool find_name(Address address, std::string_view& name) {
  const auto look = [&](const void* header, const void* dynamic) {
    const LoadedLibrary library({header, dynamic});
    if (!library.holds(address)) return false;
    name = library.name_of(address);
    return true;
  };
  if (look(__ehdr_start, rma_own_dynamic)) return true;
  for (std::size_t i = 0; i < kMostLibraries; ++i) {
    const void* const header = libraries.headers[i].load(std::memory_order_acquire);
    if (header != nullptr && look(header, libraries.dynamics[i].load(std::memory_order_relaxed))) return true;
  }
  return false;
}

_Unwind_Reason_Code pass(_Unwind_Context* context, void* argument) {
  auto& way = *static_cast<WayOut*>(argument);
  // The return address may be that behind the function, if the call is its last instruction.
  const Address address = _Unwind_GetIP(context) - 1;
  std::string_view name;
  const bool ours = find_name(address, name);
  if (!name.empty()) way.name = name;  // the outermost one counts
  // The frames of the program may be made in ways that nobody can follow, so the walk ends before them.
  const bool outside = !ours && !way.name.empty();
  return outside || ++way.frames == kMostFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void know_library(const CallLibrary& library) {
  for (const auto& known : libraries.headers) {
    if (known.load(std::memory_order_acquire) == library.header) return;
  }
  const std::size_t place = libraries.count.fetch_add(1, std::memory_order_relaxed);
  if (place >= kMostLibraries) return;  // its calls are named by the functions of this library that they call
  libraries.dynamics[place].store(library.dynamic, std::memory_order_relaxed);
  libraries.headers[place].store(library.header, std::memory_order_release);  // pairs with the loads above
}

std::string_view public_call() {
  WayOut way;
  _Unwind_Backtrace(&pass, &way);
  return way.name;
}

}  // namespace librma
