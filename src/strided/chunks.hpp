#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/one_sided/layout.hpp"
#include "transport/transport.hpp"

namespace librma {

/// Says how a layout is divided into chunks. Both sides of a transfer get the same chunks, although their
/// layouts differ, because their segments have the same sizes.
struct Cut {
  std::uint32_t segments = 1;  ///< the maximum number in one chunk; a part of a segment counts as one
  std::uint64_t bytes = 0;     ///< the maximum size of one chunk; a segment that exceeds it is divided
};

/// Enumerates the chunks of a layout, as pieces of this process's registered memory.
class Chunks {
 public:
  /// Returns the local key of [address, address + bytes) on the rail in use; no value if it does not lie
  /// in one registration.
  using Keys = std::function<std::optional<transport::Key>(std::uintptr_t address, std::size_t bytes)>;

  Chunks(Layout layout, const Cut& cut, Keys keys)
      : layout_(std::move(layout)), cut_(cut), keys_(std::move(keys)) {}

  [[nodiscard]] bool over() const { return at_ == layout_.bytes(); }
  /// Returns whether every segment has a key. Returns false for very many segments, unless one registration
  /// contains all of them.
  [[nodiscard]] bool registered() const;
  /// Returns whether the first segments have keys. It is for a layout that another rank sent, which must not
  /// take long to check. peek() checks the other segments.
  [[nodiscard]] bool begins_registered() const;
  /// Stores the next chunk, which take() then passes. Returns false if a part of it has no key, or
  /// has lost it.
  [[nodiscard]] bool peek(std::vector<transport::Local>& pieces, std::size_t& bytes) const;
  void take(std::size_t bytes) { at_ += bytes; }
  /// Skips all remaining chunks.
  void end() { at_ = layout_.bytes(); }

 private:
  [[nodiscard]] bool in_one_registration() const;

  Layout layout_;
  Cut cut_;
  Keys keys_;
  std::size_t at_ = 0;
};

}  // namespace librma
