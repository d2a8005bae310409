#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/schedules/allgather_steps.hpp"
#include "fabric/registrar.hpp"

namespace librma {

/// The addresses and keys by which a member writes into another one's result.
struct ResultCard {
  std::uint64_t address = 0;
  RailKeys keys = {};
  std::uint64_t usable = 0;  ///< 0: the result could not be registered, and messages carry the data
};

/// The memory of one member of a team into which the others write during an allgather by RDMA. It lies in the
/// member's heap and is registered. Everything begins as zero.
///
/// Words that others write only grow, so nobody clears them. Everything else exists three times; call n uses
/// part n modulo 3. rdma/rdma_allgather.hpp proves that nobody overwrites what another one still uses.
struct alignas(64) AllgatherBlock {
  /// The threshold between a copy and a write from result to result, in bytes of a step. The paper's M_T,
  /// which it finds by experiment, is 4 KiB.
  static constexpr std::size_t kCopyBytes = std::size_t{16} << 10U;
  /// Steps of doubling and of Bruck's algorithm; larger teams do not use this way.
  static constexpr std::size_t kSteps = 20;
  /// A step has a slot, and so has the ring, whose words count its steps.
  static constexpr std::size_t kRing = kSteps;
  static constexpr std::size_t kSlots = kSteps + 1;
  static constexpr std::size_t kParts = 3;

  /// Returns the value of `arrived` that step `k` of a call stores. It grows with the step and with the call.
  [[nodiscard]] static std::uint64_t arrival(std::uint64_t call, std::size_t k) {
    return call << kStepBits | (k + 1);
  }
  /// Returns the step that stores this value.
  [[nodiscard]] static std::size_t step_of(std::uint64_t arrival) {
    return static_cast<std::size_t>(arrival & ((std::uint64_t{1} << kStepBits) - 1)) - 1;
  }
  static constexpr unsigned kStepBits = 24;  ///< members are fewer; calls have the other 40 bits

  /// Whether a member is writing into the result of the receiver of a step. 32 bits: the processors of both
  /// execute atomics on it (rma_atomic32), and no device does.
  enum Gate : std::uint32_t { kIdle = 0, kWriting = 1, kWithdrawn = 2 };

  struct alignas(64) Announcement {
    ResultCard card;
    std::uint64_t call = 0;  ///< written last: the card is that of this call
  };
  static_assert(sizeof(Announcement) == 64);

  struct Part {
    std::array<Announcement, kSlots> announced;   ///< by the receiver of the step
    std::array<Announcement, kSlots> announcing;  ///< this member's own, on their way
    std::array<std::uint64_t, kSlots> outgoing;   ///< values for arrived, on their way
    /// The collective buffer: blocks at the places that AllgatherSteps::place() gives.
    alignas(64) std::array<std::byte, AllgatherSteps::kLongestSteps * kCopyBytes> buffer;
  };

  alignas(64) std::array<std::uint64_t, kSlots> arrived;  ///< by the sender of the step: its data are here
  alignas(64) std::array<std::uint32_t, kSlots> gates;    ///< before the receiver of the step
  std::array<Part, kParts> parts;
};
static_assert(sizeof(RailKeys) == 32, "an announcement takes one cache line");

}  // namespace librma
