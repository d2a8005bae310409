#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace librma {

/// Addresses of the executable's static data.
struct ProgramData {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
};

/// Returns the executable's static data: from the first to the last byte of its writable segments that stays
/// writable. The part that the dynamic linker makes read-only (RELRO) is not among them. Empty if there are
/// none. Thread-safe.
[[nodiscard]] ProgramData find_program_data();

/// Returns whether the executable itself was linked with a shared library whose name begins with `name`.
/// Thread-safe.
[[nodiscard]] bool program_needs(std::string_view name);

}  // namespace librma
