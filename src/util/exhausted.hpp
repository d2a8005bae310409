#pragma once

#include <string_view>

namespace librma {

/// Ends the process because `who` found no memory and cannot do without it: data of other ranks would be
/// lost, and they would wait for ever. Prints a message to standard error first. Does not allocate.
[[noreturn]] void end_exhausted(std::string_view who) noexcept;

}  // namespace librma
