#pragma once

#include "api/check.hpp"
#include "core/one_sided/operation.hpp"
#include "util/status.hpp"

// The endings of a call's three forms: the one that blocks, the one that gives a request (NAME_nb), and the
// one whose end is that of the next fence (NAME_nbi). A call has one body, which gets the ending. Where the
// body is inlined, the compiler knows the kind.

/// Marks a lambda that several forms share, so that each form has it inlined as a lambda of its own would be.
#define RMA_INLINE_BODY __attribute__((always_inline))

namespace librma {

inline constexpr Ending kBlocking = {.kind = Ending::Kind::blocking};
inline constexpr Ending kImplicit = {.kind = Ending::Kind::implicit};
constexpr Ending by(rma_request_t* request) { return {.kind = Ending::Kind::request, .request = request}; }

/// Checks that a call that gives a request has a place for it.
[[nodiscard]] inline Status check_ending(const Ending& ending) {
  return ending.kind == Ending::Kind::request ? check_not_null(ending.request, "request") : Status();
}

}  // namespace librma
