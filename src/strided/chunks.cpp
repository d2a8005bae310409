#include "strided/chunks.hpp"

#include <algorithm>

namespace librma {
namespace {

/// The segments of a layout with more than this many are not checked one by one.
constexpr std::size_t kMostSegments = std::size_t{1} << 20U;
/// begins_registered() checks this many segments.
constexpr std::size_t kFirstSegments = 1024;

}  // namespace

bool Chunks::in_one_registration() const {
  return layout_.bytes() == 0 || keys_(layout_.extent().low, layout_.extent().bytes());
}

bool Chunks::registered() const {
  if (in_one_registration()) return true;
  if (layout_.segments() > kMostSegments) return false;
  return layout_.visit(0, layout_.bytes(), [this](std::uintptr_t address, std::size_t bytes) {
    return keys_(address, bytes).has_value();
  });
}

bool Chunks::begins_registered() const {
  if (in_one_registration()) return true;
  std::size_t seen = 0;
  bool all = true;
  layout_.visit(0, layout_.bytes(), [&](std::uintptr_t address, std::size_t bytes) {
    all = keys_(address, bytes).has_value();
    return all && ++seen < kFirstSegments;
  });
  return all;
}

bool Chunks::peek(std::vector<transport::Local>& pieces, std::size_t& bytes) const {
  pieces.clear();
  bytes = 0;
  bool known = true;
  layout_.visit(at_, layout_.bytes() - at_, [&](std::uintptr_t address, std::size_t segment) {
    const std::size_t part = std::min<std::size_t>(segment, cut_.bytes - bytes);
    const auto key = keys_(address, part);
    known = known && key.has_value();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): memory of this process
    pieces.push_back({reinterpret_cast<std::byte*>(address), part, key.value_or(0)});
    bytes += part;
    return pieces.size() < cut_.segments && bytes < cut_.bytes;
  });
  return known;
}

}  // namespace librma
