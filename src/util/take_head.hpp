#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace librma {

/// Copies the head at the start of a body, and cuts it off. Returns no value if the body is shorter. The body
/// may lie in memory that its sender still changes, so the head is read once, and checks and uses see the
/// copy.
template <typename Head>
[[nodiscard]] std::optional<Head> take_head(std::span<const std::byte>& body) {
  Head head;
  if (body.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, body.data(), sizeof head);
  // Keeps the compiler from reading the body again instead of the copy.
  std::atomic_signal_fence(std::memory_order_acq_rel);
  body = body.subspan(sizeof head);
  return head;
}

}  // namespace librma
