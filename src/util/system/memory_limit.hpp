#pragma once

#include <cstdint>
#include <filesystem>

namespace librma {

/// Returns how many bytes of memory this process may use: the machine's memory, or the lowest limit of its
/// control groups (of either version) if that is less. Beyond such a limit the kernel kills the process; it
/// does not refuse memory.
[[nodiscard]] std::uint64_t usable_memory();

/// Returns the lowest limit of the control groups; UINT64_MAX if there is none. `root` is the root of the
/// file system; tests pass another directory.
[[nodiscard]] std::uint64_t control_group_limit(const std::filesystem::path& root);

}  // namespace librma
