#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "core/one_sided/layout.hpp"
#include "util/status.hpp"

namespace librma {

/// Returns whether a receiver reads noncontiguous data of another rank of this host by system calls, if they
/// are in so many contiguous parts. Shorter parts come faster in fragments. `polls` says that waiting
/// processes poll: then both copy fragments at the same time. Where processes sleep, fragments take switches
/// between them. The kernel takes 0.12 us for each part.
[[nodiscard]] constexpr bool worth_reading(std::size_t bytes, std::size_t parts, bool polls) {
  constexpr std::size_t kLeastOfPolling = 8192;
  constexpr std::size_t kLeastOfSleeping = 2048;
  return bytes / parts >= (polls ? kLeastOfPolling : kLeastOfSleeping);
}

/// The program's memory that a message is sent from or received into, in the order of the message's bytes.
struct MessageData {
  std::byte* address = nullptr;  ///< of contiguous data
  std::size_t bytes = 0;
  std::shared_ptr<const Layout> layout = nullptr;  ///< of noncontiguous data; null if they are contiguous

  [[nodiscard]] static MessageData of(std::span<const std::byte> data) {
    // The cast is safe: a send only reads its data.
    return {.address = const_cast<std::byte*>(data.data()), .bytes = data.size()};
  }
  /// Returns data with the layout of rma_send_strided. The arrays are as long as `levels` says. RMA_ERR_SIZE
  /// if the numbers overflow.
  [[nodiscard]] static Result<MessageData> strided(void* start, const std::ptrdiff_t* strides,
                                                   const std::size_t* counts, int levels);
  /// Returns data that consist of segments. RMA_ERR_SIZE if the numbers overflow.
  [[nodiscard]] static Result<MessageData> vector(std::span<const iovec> segments);

  [[nodiscard]] bool contiguous() const { return layout == nullptr; }

  /// Copies the bytes from number `from` on to `to`, which is not longer than they are.
  void gather(std::size_t from, std::span<std::byte> to) const {
    if (to.empty()) return;
    if (contiguous()) {
      std::memcpy(to.data(), address + from, to.size());
      return;
    }
    std::byte* next = to.data();
    visit(from, to.size(), [&](std::byte* at, std::size_t part) {
      std::memcpy(next, at, part);
      next += part;
    });
  }
  /// Copies `data` to the bytes from number `to` on.
  void scatter(std::size_t to, std::span<const std::byte> data) const {
    if (!contiguous()) [[unlikely]] {
      scatter_parts(to, data);
    } else if (!data.empty()) {
      std::memcpy(address + to, data.data(), data.size());
    }
  }
  /// Does the work of scatter() for noncontiguous data.
  void scatter_parts(std::size_t to, std::span<const std::byte> data) const;
  /// Calls visit(address, bytes) for the contiguous parts of bytes [from, from + count), in order.
  template <typename Visit>
  void visit(std::size_t from, std::size_t count, const Visit& visit) const {
    if (contiguous()) {
      visit(address + from, count);
      return;
    }
    layout->visit(from, count, [&](std::uintptr_t at, std::size_t part) {
      visit(reinterpret_cast<std::byte*>(at), part);
      return true;
    });
  }
};

}  // namespace librma
