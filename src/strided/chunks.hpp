#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "helper_thread/layout.hpp"
#include "transport/transport.hpp"

namespace rma {

/// How a layout is cut: both sides of a transfer cut alike, although their layouts differ, because their
/// segments have the same sizes.
struct Cut {
  std::uint32_t segments = 1;  ///< most of one chunk, parts of segments counted like segments
  std::uint64_t bytes = 0;     ///< most of one chunk: where that is reached, a segment is cut
};

/// The chunks of a layout, one after the other, as pieces of this process's registered memory.
class Chunks {
 public:
  /// The local key of [address, address + bytes) on the rail in use; none where it is not in one
  /// registration.
  using Keys = std::function<std::optional<transport::Key>(std::uintptr_t address, std::size_t bytes)>;

  Chunks(Layout layout, const Cut& cut, Keys keys)
      : layout_(std::move(layout)), cut_(cut), keys_(std::move(keys)) {}

  [[nodiscard]] bool over() const { return at_ == layout_.bytes(); }
  /// Whether every segment has a key. Of very many, unless one registration holds all: no.
  [[nodiscard]] bool registered() const;
  /// Whether the first segments have keys: of a layout that somebody else sent, looked at for a short time
  /// only. What this has not seen, peek() will.
  [[nodiscard]] bool begins_registered() const;
  /// The next chunk, which take() passes. False when part of it has no key (any more).
  [[nodiscard]] bool peek(std::vector<transport::Local>& pieces, std::size_t& bytes) const;
  void take(std::size_t bytes) { at_ += bytes; }
  /// There is nothing more.
  void end() { at_ = layout_.bytes(); }

 private:
  [[nodiscard]] bool in_one_registration() const;

  Layout layout_;
  Cut cut_;
  Keys keys_;
  std::size_t at_ = 0;
};

}  // namespace rma
