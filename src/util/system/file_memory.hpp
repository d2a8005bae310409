#pragma once

#include <cstddef>

namespace librma {

/// Has the system take memory for a range of a file that lies in memory (memfd_create). Memory that it took
/// for a range that it cannot fill stays. Ends however often signals come. Returns 0, or an error number.
[[nodiscard]] int take_file_memory(int file, std::size_t offset, std::size_t bytes) noexcept;

/// Gives the memory of a range back: the range is zeros then. It is inside the file, which is this process's
/// own.
void give_file_memory(int file, std::size_t offset, std::size_t bytes) noexcept;

}  // namespace librma
