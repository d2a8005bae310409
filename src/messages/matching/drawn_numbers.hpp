#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "rma/messages.h"
#include "util/tables/number_pool.hpp"

namespace librma {

/// The library's own messages are in the contexts from this one on. There a thread that waits for a rank
/// gives the rank up if it does not answer, and a rank may revoke a context (Messages::revoke).
inline constexpr std::uint32_t kFirstOwnContext = 0x80000000;

/// The contexts of the numbers that rma_contexts_draw() draws: four for messages of an interface over this
/// library, and those of two attached teams.
inline constexpr std::uint32_t kDrawnMessages = 4;
inline constexpr std::uint32_t kFirstDrawnContext = RMA_CONTEXT_LAST + 1;
inline constexpr std::uint32_t kFirstDrawnTeam = kFirstOwnContext + RMA_CONTEXT_LAST / 2 + 1;
inline constexpr std::uint32_t kDrawnNumbers = std::uint32_t{1} << NumberPool::kBits;
static_assert(kFirstDrawnContext + kDrawnMessages * kDrawnNumbers == kFirstOwnContext);

/// Returns the contexts of a drawn number.
constexpr std::array<std::uint32_t, kDrawnMessages + 2> contexts_of(std::uint32_t number) {
  const std::uint32_t first = kFirstDrawnContext + kDrawnMessages * number;
  const std::uint32_t team = kFirstDrawnTeam + number;
  return {first, first + 1, first + 2, first + 3, team, team + kDrawnNumbers};
}

/// Returns the number whose context this is, or no value if it is that of none.
constexpr std::optional<std::uint32_t> drawn_number_of(std::uint32_t context) {
  if (context >= kFirstDrawnTeam && context - kFirstDrawnTeam < 2 * kDrawnNumbers)
    return (context - kFirstDrawnTeam) % kDrawnNumbers;
  if (context >= kFirstDrawnContext && context < kFirstOwnContext)
    return (context - kFirstDrawnContext) / kDrawnMessages;
  return std::nullopt;
}

}  // namespace librma
