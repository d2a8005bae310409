#include "messages/matching/message_data.hpp"

#include <vector>

#include "util/text.hpp"

namespace librma {
namespace {

Result<MessageData> laid_out(Layout layout) {
  if (layout.overflows()) return Status(RMA_ERR_SIZE, text("the layout exceeds the range of addresses"));
  const std::size_t bytes = layout.bytes();
  if (bytes == 0) return MessageData();
  return MessageData{
      .address = nullptr, .bytes = bytes, .layout = std::make_shared<const Layout>(std::move(layout))};
}

}  // namespace

Result<MessageData> MessageData::strided(void* start, const std::ptrdiff_t* strides,
                                         const std::size_t* counts, int levels) {
  std::size_t segment = counts[0];
  std::vector<Layout::Dimension> dimensions;
  for (int i = 0; i < levels; ++i) {
    const std::size_t count = counts[i + 1];
    if (count == 0 || segment == 0) return MessageData();
    if (count == 1) continue;
    std::int64_t joined = 0;
    if (dimensions.empty() && strides[i] == static_cast<std::ptrdiff_t>(segment)) {
      // The repetitions follow each other without a gap.
      if (__builtin_mul_overflow(segment, count, &segment)) segment = SIZE_MAX;
    } else if (!dimensions.empty() &&
               !__builtin_mul_overflow(dimensions.back().stride, dimensions.back().count, &joined) &&
               joined == strides[i] &&
               !__builtin_mul_overflow(dimensions.back().count, count, &dimensions.back().count)) {
      continue;  // the dimension goes on as the one before it does
    } else {
      dimensions.push_back({.count = count, .stride = strides[i]});
    }
  }
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  if (!dimensions.empty()) return laid_out(Layout::strided(address, segment, dimensions));
  if (segment > UINTPTR_MAX - address) return laid_out(Layout::strided(address, segment, {}));
  return MessageData{.address = static_cast<std::byte*>(start), .bytes = segment};
}

void MessageData::scatter_parts(std::size_t to, std::span<const std::byte> data) const {
  const std::byte* next = data.data();
  visit(to, data.size(), [&](std::byte* at, std::size_t part) {
    std::memcpy(at, next, part);
    next += part;
  });
}

Result<MessageData> MessageData::vector(std::span<const iovec> segments) {
  std::vector<Layout::Segment> list;
  list.reserve(segments.size());
  for (const iovec& segment : segments) {
    if (segment.iov_len == 0) continue;
    list.push_back({.address = reinterpret_cast<std::uintptr_t>(segment.iov_base), .bytes = segment.iov_len});
  }
  if (list.empty()) return MessageData();
  Layout layout = Layout::list(std::move(list));
  if (layout.segments() > 1 || layout.overflows()) return laid_out(std::move(layout));
  return MessageData{.address = reinterpret_cast<std::byte*>(layout.extent().low), .bytes = layout.bytes()};
}

}  // namespace librma
