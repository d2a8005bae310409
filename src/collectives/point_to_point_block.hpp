#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rma {

/// The direction in which a message goes around a team: from member m to m + 2^k, or to m - 2^k, modulo the
/// team's size.
enum class Direction : std::uint8_t { up, down };

/// A member's memory for the messages of others. One Channel for each distance 2^k below the team's size and
/// each Direction follows, and then their slots. It lies in its owner's heap. Others write there by
/// TeamTransport::put; point_to_point.hpp says who writes which word. All words are read and written
/// atomically.
struct alignas(64) PointToPointBlock {
  /// The maximum payload of a message.
  static constexpr std::size_t kPieceBytes = 8192;

  /// The words for the messages of one distance and direction, both those to the owner and those that it
  /// sends.
  struct alignas(64) Channel {
    std::array<std::uint64_t, 2> arrived = {};  ///< by slot: its message's number; the sender writes it
    std::array<std::uint64_t, 2> taken = {};    ///< by slot: our last taken message; its receiver writes it
    std::array<std::uint64_t, 2> met = {};      ///< by parity: the last barrier that our sender came to
    std::uint64_t left = 0;                     ///< our sender's PointToPoint::part()
  };
  static_assert(sizeof(Channel) == 64);

  /// FailureWord::word() of the reason why the team is unusable; 0 while it is usable. Any member writes it.
  std::uint64_t failure = 0;

  /// Returns n: a team has channels for the distances 2^k for k below n.
  [[nodiscard]] static constexpr int distances(int members) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(members) - 1U));
  }
  [[nodiscard]] static constexpr std::size_t channels(int members) {
    return 2 * static_cast<std::size_t>(distances(members));
  }
  [[nodiscard]] static constexpr std::size_t channel_at(std::size_t channel) {
    return sizeof(PointToPointBlock) + channel * sizeof(Channel);
  }
  [[nodiscard]] static constexpr std::size_t slot_at(int members, std::size_t channel, std::size_t slot) {
    return channel_at(channels(members)) + (2 * channel + slot) * kPieceBytes;
  }
  [[nodiscard]] static constexpr std::size_t bytes_for(int members) {
    return slot_at(members, channels(members), 0);
  }
  /// Makes [memory, memory + bytes_for(members)), aligned to 64, an empty block.
  static void make(std::byte* memory, int members);
};
static_assert(PointToPointBlock::distances(1) == 0 && PointToPointBlock::distances(2) == 1 &&
              PointToPointBlock::distances(3) == 2);
static_assert(PointToPointBlock::distances(8) == 3 && PointToPointBlock::distances(9) == 4);
static_assert(PointToPointBlock::bytes_for(64) <= std::size_t{256} << 10U,
              "each process of a job has one from the start");

}  // namespace rma
