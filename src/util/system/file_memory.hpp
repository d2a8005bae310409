#pragma once

#include <cstddef>

namespace librma {

/// Has the system take memory for a range of a file that lies in memory (memfd_create). Memory that it took
/// for a range that it cannot fill stays. Ends however often signals come. Returns 0, or an error number.
[[nodiscard]] int take_file_memory(int file, std::size_t offset, std::size_t bytes) noexcept;

/// Gives the memory of a range back: the range is zeros then. It is inside the file, which is this process's
/// own.
void give_file_memory(int file, std::size_t offset, std::size_t bytes) noexcept;

/// Maps the first `bytes` bytes of a file that lies in memory, to read and write, at `address`, or where
/// there is room if that is null. The system takes memory for a page when it is touched, also in a process
/// that has called mlockall(MCL_FUTURE). Returns null and sets errno if it fails.
[[nodiscard]] std::byte* map_sparse_file(int file, std::size_t bytes, std::byte* address = nullptr) noexcept;

}  // namespace librma
