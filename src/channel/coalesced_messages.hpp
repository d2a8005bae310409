#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "channel/message.hpp"
#include "util/round.hpp"

namespace librma {

/// Several messages that go as one, as the body of a MessageHeader::kCoalesced, in memory of its user. A
/// network over which each message costs a system call or two at either side carries many short ones so.
class CoalescedMessages {
 public:
  /// @param memory  for the body; aligned like CoalescedHeader
  explicit CoalescedMessages(std::span<std::byte> memory) : memory_(memory) {}

  /// Returns the bytes that a message takes, with those that align the next one.
  [[nodiscard]] static constexpr std::size_t space_of(std::size_t body) {
    return sizeof(CoalescedHeader) + round_up(body, alignof(CoalescedHeader));
  }
  /// Appends a message of an ordinary kind. Returns false if there is no room for it.
  [[nodiscard]] bool add(std::uint16_t kind, std::span<const std::byte> body);
  [[nodiscard]] std::size_t count() const { return count_; }
  /// The body with all messages that were added.
  [[nodiscard]] std::span<const std::byte> body() const { return memory_.first(bytes_); }

  /// Calls `take_in` with each message in such a body. It returns whether an honest peer sends the message.
  /// Returns false if an honest peer does not send the body.
  [[nodiscard]] static bool for_each(
      std::span<const std::byte> body,
      const std::function<bool(std::uint16_t kind, std::span<const std::byte> body)>& take_in);

 private:
  const std::span<std::byte> memory_;
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
};

}  // namespace librma
