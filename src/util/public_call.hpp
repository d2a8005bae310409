#pragma once

#include <cstddef>
#include <string_view>

namespace librma {

/// How many libraries over this one can make themselves known.
inline constexpr std::size_t kMostLibraries = 8;

/// A library whose exported functions programs call, as it lies in memory. Both are the linker's own symbols
/// of that library: __ehdr_start and _DYNAMIC.
struct CallLibrary {
  const void* header = nullptr;
  const void* dynamic = nullptr;
};

/// Says that a library over this one has such functions. Libraries stay loaded. Thread-safe.
void know_library(const CallLibrary& library);

/// Returns the name of the function by which the program has entered this library, such as "MPI_Recv", or an
/// empty text if the library's symbols do not say. It is found on the stack of the calling thread, so calls
/// need not note their names. Takes some microseconds, and no lock.
[[nodiscard]] std::string_view public_call();

}  // namespace librma
