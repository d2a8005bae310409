#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "malloc/backing.hpp"
#include "malloc/window.hpp"

namespace rma {

/// The window's own memory. What nobody uses any more goes back to the system, but for some that stays for
/// the next allocation: to take pages, to find them at the first touch and to give them back costs far more
/// than all else that an allocation does. What stayed never makes an allocation of this process fail.
class WindowBacking final : public Backing {
 public:
  /// Keeps at most `keep` bytes that nobody uses.
  explicit WindowBacking(Window& window, std::size_t keep = 0) : window_(window), keep_(keep) {}

  [[nodiscard]] std::size_t granule() const override { return window_.granule(); }
  [[nodiscard]] Status back(std::size_t offset, std::size_t bytes) override;
  void release(std::size_t offset, std::size_t bytes) override;

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  using Ranges = std::map<std::size_t, std::size_t>;

  /// Takes what lies in `wanted` out of what is kept; in the order of the addresses.
  std::vector<Range> reuse(Range wanted);
  /// Gives it back where there is no memory to note it in.
  void keep(std::size_t begin, std::size_t end) noexcept;
  void drop(Ranges::iterator kept);

  Window& window_;
  const std::size_t keep_;
  Ranges kept_;  ///< end by begin: backed, and nobody uses it
  std::size_t kept_bytes_ = 0;
};

}  // namespace rma
