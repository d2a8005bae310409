#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "helper_thread/active_messages.hpp"
#include "helper_thread/wire.hpp"
#include "rings/ring_line.hpp"
#include "rings/short_copy.hpp"

namespace librma {

/// Returns whether messages of this form name a place in the receiver's memory.
inline bool has_place(ActiveForm form) {
  return form == ActiveForm::long_carried || form == ActiveForm::long_put || form == ActiveForm::data;
}

/// The front of a message as it travels: header, words, place.
struct ActiveFront {
  static constexpr std::size_t kMost =
      sizeof(ActiveHeader) + sizeof(std::uint64_t) * RMA_AM_WORDS + sizeof(ActivePlace);

  ActiveFront(const ActiveMessage& message, ActiveForm form, ActivePlace place) {
    header.handler = static_cast<std::uint8_t>(message.handler);
    header.form = form;
    header.words = static_cast<std::uint8_t>(message.words.size());
    const std::span<const std::byte> words = std::as_bytes(message.words);
    if (words.size() <= RingLine::kBody) {
      copy_short(bytes.data() + size, words.data(), words.size());
    } else {
      std::memcpy(bytes.data() + size, words.data(), words.size());
    }
    size += words.size();
    if (!has_place(form)) return;
    std::memcpy(bytes.data() + size, &place, sizeof place);
    size += sizeof place;
  }
  /// Returns the bytes with the header.
  [[nodiscard]] std::span<const std::byte> encoded() {
    std::memcpy(bytes.data(), &header, sizeof header);
    return {bytes.data(), size};
  }

  ActiveHeader header;
  std::size_t size = sizeof(ActiveHeader);
  std::array<std::byte, kMost> bytes;
};

}  // namespace librma
