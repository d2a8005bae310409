#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "rings/line_ring.hpp"

namespace librma {

/// A ring with both of its sides, and guards before and behind its memory.
class LineRingWorld {
 public:
  explicit LineRingWorld(const LineRingSizes& of)
      : sizes(of),
        memory_(new (std::align_val_t{64}) std::byte[of.memory() + 2 * kGuard]),
        sender((fill(), ring()), of, cursor),
        receiver(ring(), of) {}
  ~LineRingWorld() { ::operator delete[](memory_, std::align_val_t{64}); }
  LineRingWorld(const LineRingWorld&) = delete;
  LineRingWorld& operator=(const LineRingWorld&) = delete;

  [[nodiscard]] std::byte* ring() const { return memory_ + kGuard; }
  [[nodiscard]] LineFeedback& feedback() const { return *reinterpret_cast<LineFeedback*>(ring()); }
  [[nodiscard]] RingLine& line(std::uint64_t number) const {
    return reinterpret_cast<RingLine*>(ring() + kLines)[number % sizes.lines];
  }
  [[nodiscard]] std::span<const std::byte> lines() const {
    return {ring() + kLines, sizes.lines * sizeof(RingLine)};
  }
  [[nodiscard]] std::span<const std::byte> slots() const {
    return {lines().data() + lines().size(), sizes.bytes};
  }
  [[nodiscard]] bool guards_are_intact() const {
    const auto intact = [](std::byte byte) { return byte == kGuardByte; };
    return std::all_of(memory_, memory_ + kGuard, intact) &&
           std::all_of(ring() + sizes.memory(), ring() + sizes.memory() + kGuard, intact);
  }

  const LineRingSizes sizes;

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr std::size_t kLines = sizeof(LineFeedback) + sizeof(LineWish) + sizeof(PieceClaims);
  static constexpr std::byte kGuardByte{0xa5};
  void fill() const {
    std::fill_n(memory_, sizes.memory() + 2 * kGuard, kGuardByte);
    // What was in the memory before looks like the messages that come next.
    for (std::uint64_t number = 0; number < sizes.lines; ++number) line(number).control.store(number + 1);
    LineSender::prepare(ring());
  }

  std::byte* const memory_;

 public:
  LineCursor cursor;
  LineSender sender;
  LineReceiver receiver;
};

/// The body of the message with this number.
inline std::vector<std::byte> body_of(std::uint64_t number, std::size_t bytes) {
  std::vector<std::byte> body(bytes);
  std::uint64_t state = number * 0x9e3779b97f4a7c15 + 1;
  for (std::byte& byte : body) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56U);
  }
  return body;
}

/// Sends a message whose body is divided at `cut`.
inline bool send(LineSender& sender, std::uint64_t number, std::size_t bytes, std::size_t cut = 0) {
  const std::vector<std::byte> body = body_of(number, bytes);
  const std::span<const std::byte> all(body);
  return sender.send(MessageType::eager,
                     {.context = static_cast<std::uint32_t>(number), .tag = static_cast<int>(number % 1000)},
                     all.first(cut), all.subspan(cut));
}

/// Returns whether a message is the one with this number.
inline bool is(const LineReceiver::Head& head, std::uint64_t number) {
  return head.type == MessageType::eager && head.envelope.context == static_cast<std::uint32_t>(number) &&
         head.envelope.tag == static_cast<int>(number % 1000) &&
         std::ranges::equal(head.body, body_of(number, head.body.size()));
}

}  // namespace librma
