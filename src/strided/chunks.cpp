#include "strided/chunks.hpp"

namespace rma {
namespace {

/// Layouts of more segments than this are not looked through one by one.
constexpr std::size_t kMostSegments = std::size_t{1} << 20U;

}  // namespace

bool Chunks::registered() const {
  if (layout_.bytes() == 0 || keys_(layout_.extent().low, layout_.extent().bytes())) return true;
  if (layout_.segments() > kMostSegments) return false;
  return layout_.visit(0, layout_.bytes(), [this](std::uintptr_t address, std::size_t bytes) {
    return keys_(address, bytes).has_value();
  });
}

bool Chunks::peek(std::vector<transport::Local>& pieces, std::size_t& bytes) const {
  pieces.clear();
  bytes = 0;
  bool known = true;
  layout_.visit(at_, layout_.bytes() - at_, [&](std::uintptr_t address, std::size_t segment) {
    const auto key = keys_(address, segment);
    known = known && key.has_value();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): memory of this process
    pieces.push_back({reinterpret_cast<std::byte*>(address), segment, key.value_or(0)});
    bytes += segment;
    return pieces.size() < cut_.segments && bytes < cut_.bytes;
  });
  return known;
}

}  // namespace rma
