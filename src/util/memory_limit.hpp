#pragma once

#include <cstdint>
#include <filesystem>

namespace rma {

/// Bytes of memory that this process may use: the machine's, or the lowest limit of the control groups (of
/// either version) that it is in. Beyond such a limit the kernel kills instead of refusing.
[[nodiscard]] std::uint64_t usable_memory();

/// The lowest limit of the control groups; UINT64_MAX for none. `root` is the file system's, another one in
/// tests.
[[nodiscard]] std::uint64_t control_group_limit(const std::filesystem::path& root);

}  // namespace rma
