#include "shmem/memory/static_data.hpp"

#include <link.h>

#include <span>

#include "util/system/program_data.hpp"

namespace librma::shmem {
namespace {

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
  const ProgramData data = find_program_data();
  return {.base = data.base, .bytes = data.bytes};
}

}  // namespace librma::shmem
