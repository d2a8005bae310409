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

  /// Words about the messages that come to the owner, and about those that it sends, by one distance and
  /// direction.
  struct alignas(64) Channel {
    std::array<std::uint64_t, 2> arrived = {};  ///< by slot: number of the message in it; by its sender
    std::array<std::uint64_t, 2> taken = {};  ///< by slot: number of our message last taken; by its receiver
    std::array<std::uint64_t, 2> met = {};    ///< by parity: the last barrier that our sender came to
    std::uint64_t left = 0;                   ///< our sender's PointToPoint::part()
  };
  static_assert(sizeof(Channel) == 64);

  /// Why the team is unusable, FailureWord::word(); 0 as long as it is not. By any member.
  std::uint64_t failure = 0;

  /// Distances of a team's channels: 2^k for k below this.
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
