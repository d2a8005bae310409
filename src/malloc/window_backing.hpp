#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "malloc/backing.hpp"
#include "malloc/window.hpp"

namespace librma {

/// The window's own memory. Released memory goes back to the system, except for some that stays for the next
/// allocation: of a larger block, its beginning stays. Taking pages from the system, faulting on them and
/// giving them back costs far more than everything else that an allocation does. Kept memory never makes an
/// allocation of this process fail.
class WindowBacking final : public Backing {
 public:
  /// Keeps at most `keep` bytes that are not in use.
  explicit WindowBacking(Window& window, std::size_t keep = 0) : window_(window), keep_(keep) {}

  [[nodiscard]] std::size_t granule() const override { return window_.granule(); }
  [[nodiscard]] Status back(std::size_t offset, std::size_t bytes) override;
  [[nodiscard]] Status back_zeroed(std::size_t offset, std::size_t bytes) override;
  void release(std::size_t offset, std::size_t bytes) override;

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  using Ranges = std::map<std::size_t, std::size_t>;

  /// Takes the kept ranges in `wanted` out of kept_ and returns them, in the order of their addresses.
  std::vector<Range> reuse(Range wanted);
  /// Keeps the range. Releases it if there is no memory to record it.
  void keep(std::size_t begin, std::size_t end) noexcept;
  void drop(Ranges::iterator kept);

  Window& window_;
  const std::size_t keep_;
  Ranges kept_;  ///< end by begin: ranges that are backed and not in use
  std::size_t kept_bytes_ = 0;
};

}  // namespace librma
