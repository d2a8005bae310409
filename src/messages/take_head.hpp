#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace rma {

/// Reads the head at the start of a body, and cuts it off. Returns no value if the body is shorter.
template <typename Head>
[[nodiscard]] std::optional<Head> take_head(std::span<const std::byte>& body) {
  Head head;
  if (body.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, body.data(), sizeof head);
  body = body.subspan(sizeof head);
  return head;
}

}  // namespace rma
