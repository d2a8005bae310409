#pragma once

#include <string_view>

namespace rma {

/// Ends the process, after saying so on standard error, because `who` found no memory and cannot do without:
/// what other ranks sent would be lost, and they would wait for ever. Takes no memory.
[[noreturn]] void end_exhausted(std::string_view who) noexcept;

}  // namespace rma
