#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace librma::shmem {

/// The options in the environment. SMA_ names are older ones, and count where the SHMEM_ name is not set.
struct Options {
  bool version = false;  ///< SHMEM_VERSION: print the library's version at start
  bool info = false;     ///< SHMEM_INFO: print what these variables mean, and their values
  bool debug = false;    ///< SHMEM_DEBUG: check more
  std::optional<std::size_t> symmetric_size;  ///< SHMEM_SYMMETRIC_SIZE in bytes
};

/// Reads the environment. Ends the job if SHMEM_SYMMETRIC_SIZE is not a size.
Options read_options();

/// Returns the number of bytes that a size such as 64m or 1.5g says. Units are k, m, g and t, powers of 1024.
/// Returns nothing if `said` is no such size, or is not above 0.
std::optional<std::size_t> parse_size(const std::string& said);

/// Returns the text that SHMEM_INFO asks for. `refusal` says why static data lie in no shared memory; empty
/// if they do.
std::string describe(const Options& options, std::size_t heap_bytes, const std::string& refusal);

}  // namespace librma::shmem
