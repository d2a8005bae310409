#pragma once

#include <cstdint>
#include <filesystem>

namespace librma {

/// Returns how many bytes of memory this process may use: the machine's memory, or the lowest limit of its
/// control groups (of either version) if that is less. Beyond such a limit the kernel kills the process; it
/// does not refuse memory.
[[nodiscard]] std::uint64_t usable_memory();

/// The limit of a control group.
struct GroupLimit {
  std::uint64_t bytes = UINT64_MAX;  ///< UINT64_MAX: none
  std::filesystem::path usage;       ///< the file that says how many bytes the group uses
};

/// Returns the lowest limit of the control groups of this process. `root` is the root of the file system;
/// tests pass another directory.
[[nodiscard]] GroupLimit control_group_limit(const std::filesystem::path& root);

}  // namespace librma
