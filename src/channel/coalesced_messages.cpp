#include "channel/coalesced_messages.hpp"

#include <algorithm>
#include <cstring>

namespace librma {

bool CoalescedMessages::add(std::uint16_t kind, std::span<const std::byte> body) {
  const std::span<std::byte> left = memory_.subspan(bytes_);
  const std::size_t space = space_of(body.size());
  if (space > left.size()) return false;
  const CoalescedHeader header = {.bytes = static_cast<std::uint32_t>(body.size()), .kind = kind};
  std::memcpy(left.data(), &header, sizeof header);
  std::copy(body.begin(), body.end(), left.data() + sizeof header);
  std::fill(left.data() + sizeof header + body.size(), left.data() + space, std::byte{0});
  bytes_ += space;
  ++count_;
  return true;
}

bool CoalescedMessages::for_each(
    std::span<const std::byte> body,
    const std::function<bool(std::uint16_t kind, std::span<const std::byte> body)>& take_in) {
  if (body.empty()) return false;
  while (!body.empty()) {
    CoalescedHeader header;
    if (body.size() < sizeof header) return false;
    std::memcpy(&header, body.data(), sizeof header);
    const std::size_t space = space_of(header.bytes);
    if (space > body.size() || header.reserved != 0 || !MessageHeader::ordinary(header.kind)) return false;
    if (!take_in(header.kind, body.subspan(sizeof header, header.bytes))) return false;
    body = body.subspan(space);
  }
  return true;
}

}  // namespace librma
