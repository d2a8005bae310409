#pragma once

#include <cstdint>

#include "messages/matching/drawn_numbers.hpp"
#include "rma/messages.h"
#include "util/tables/number_pool.hpp"

namespace librma {

/// The numbers of the contexts in which teams send. The first member of a team draws one, which no other team
/// of the job has at the same time, and gives it back when the team is freed. Thread-safe.
class ScheduleContexts {
 public:
  /// The context of all processes for agreements on new teams, that of the world team, and the first of those
  /// of attached teams and of the other teams.
  static constexpr std::uint32_t kAgreement = 0xc0000000;
  static constexpr std::uint32_t kWorld = 0xc0000002;
  static constexpr std::uint32_t kFirstAttached = kFirstOwnContext;
  static constexpr std::uint32_t kFirstDrawn = 0xe0000000;

  [[nodiscard]] static constexpr bool of_attached(std::uint32_t context) {
    return context >= kFirstAttached && context - kFirstAttached <= RMA_CONTEXT_LAST;
  }

  ScheduleContexts(int rank, int ranks) : pool_(kFirstDrawn, rank, ranks) {}

  /// Returns a number, or 0 if all of this process are in use. Throws std::bad_alloc.
  [[nodiscard]] std::uint32_t draw() { return pool_.draw().value_or(0); }
  /// Takes a number back that is not 0. No member sends there any more.
  void give_back(std::uint32_t number) { pool_.give_back(number); }

 private:
  NumberPool pool_;
};

}  // namespace librma
