#pragma once

#include <fcntl.h>

#include <cstddef>
#include <string_view>

#include "util/status.hpp"

namespace librma {

/// The seals of a file of memory that other processes map. A process that has mapped it would get SIGBUS
/// beyond the end of a file that was shortened. So no process can change the size, whose holes the owner may
/// still punch.
inline constexpr unsigned kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// Returns RMA_ERR_NO_MEMORY if this process may not make files of `bytes` bytes. To write beyond that limit
/// would raise SIGXFSZ. `file` names the file, and `remedy` says what else than raising the limit helps.
[[nodiscard]] Status check_file_size_limit(std::string_view file, std::size_t bytes, std::string_view remedy);

}  // namespace librma
