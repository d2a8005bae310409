#pragma once

#include <bit>
#include <cstdint>
#include <mutex>
#include <vector>

#include "collectives/messages/team_transport.hpp"
#include "rma/messages.h"

namespace rma {

/// The numbers of the contexts in which teams' schedules send. The first member of a team draws one, which no
/// other team of the job has at the same time, and gives it back when the team is freed. Thread-safe.
class ScheduleContexts {
 public:
  /// The context of the world team, and the first of those of attached teams and of the other teams.
  static constexpr std::uint32_t kWorld = JobTeamTransport::kWorldSchedules;
  static constexpr std::uint32_t kFirstAttached = kFirstOwnContext;
  static constexpr std::uint32_t kFirstDrawn = 0xe0000000;

  [[nodiscard]] static constexpr bool of_attached(std::uint32_t context) {
    return context >= kFirstAttached && context - kFirstAttached <= RMA_CONTEXT_LAST;
  }

  ScheduleContexts(int rank, int ranks)
      : own_bits_(kBits - static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks) - 1U))),
        first_(kFirstDrawn + (static_cast<std::uint32_t>(rank) << own_bits_)) {}

  /// Returns a number, or 0 if this process has drawn all of its own. Throws std::bad_alloc.
  [[nodiscard]] std::uint32_t draw() {
    const std::lock_guard guard(lock_);
    if (!free_.empty()) {
      const std::uint32_t number = free_.back();
      free_.pop_back();
      return number;
    }
    if (drawn_ >> own_bits_ != 0) return 0;
    free_.reserve(drawn_ + 1);  // so that no number needs memory when it comes back
    return first_ + drawn_++;
  }
  /// Takes a number back that is not 0. No member sends there any more.
  void give_back(std::uint32_t number) {
    const std::lock_guard guard(lock_);
    free_.push_back(number);
  }

 private:
  static constexpr unsigned kBits = 28;  ///< of the numbers of all processes together

  const unsigned own_bits_;
  const std::uint32_t first_;
  std::mutex lock_;
  std::vector<std::uint32_t> free_;
  std::uint32_t drawn_ = 0;
};

}  // namespace rma
