#pragma once

#include <string_view>

namespace librma {

/// Ends the process because there is no memory for `wanted`, and it cannot do without: data of other ranks
/// would be lost, and they would wait for ever. Prints a message to standard error first. Does not allocate.
[[noreturn]] void end_exhausted(std::string_view wanted) noexcept;

}  // namespace librma
