#include "core/one_sided/layout.hpp"

#include <cstring>

#include "util/range_check.hpp"

namespace librma {
namespace {

/// The wire format of the header of an encoded part. `entries` dimensions or segments follow it.
struct PartHeader {
  std::uint32_t listed = 0;  ///< 1: segments follow; 0: dimensions follow
  std::uint32_t entries = 0;
  std::uint64_t start = 0;          ///< address of the first segment; used if dimensions follow
  std::uint64_t segment_bytes = 0;  ///< used if dimensions follow
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(PartHeader) == 40);
constexpr std::size_t kEntryBytes = 16;
static_assert(sizeof(Layout::Dimension) == kEntryBytes && sizeof(Layout::Segment) == kEntryBytes);

}  // namespace

Layout Layout::contiguous(std::uintptr_t address, std::size_t bytes) { return strided(address, bytes, {}); }

Layout Layout::strided(std::uintptr_t start, std::size_t segment_bytes,
                       std::span<const Dimension> dimensions) {
  Layout layout;
  layout.start_ = start;
  layout.segment_bytes_ = segment_bytes;
  layout.levels_ = dimensions.size();
  std::copy(dimensions.begin(), dimensions.end(), layout.dimensions_.begin());
  layout.measure();
  return layout;
}

Layout Layout::list(std::vector<Segment> segments) {
  Layout layout;
  layout.list_ = std::move(segments);
  layout.measure();
  return layout;
}

bool Layout::measure() {
  overflows_ = !add_up();
  return !overflows_;
}

bool Layout::add_up() {
  bytes_ = 0;
  if (!list_.empty()) {
    segments_ = list_.size();
    extent_ = {.low = UINTPTR_MAX, .high = 0};
    ends_.clear();
    ends_.reserve(list_.size());
    for (const Segment& segment : list_) {
      std::uint64_t end = 0;
      if (__builtin_add_overflow(segment.address, segment.bytes, &end)) return false;
      if (__builtin_add_overflow(bytes_, segment.bytes, &bytes_)) return false;
      ends_.push_back(bytes_);
      extent_.low = std::min<std::uintptr_t>(extent_.low, segment.address);
      extent_.high = std::max<std::uintptr_t>(extent_.high, end);
    }
    return true;
  }
  segments_ = segment_bytes_ == 0 ? 0 : 1;
  // The lowest and the highest address of any segment's start.
  std::uintptr_t low = start_;
  std::uintptr_t high = start_;
  for (std::size_t i = 0; i < levels_; ++i) {
    const auto [count, stride] = dimensions_[i];
    if (count == 0) {
      segments_ = 0;
      return true;
    }
    std::uint64_t reach = 0;
    const std::uint64_t step =
        stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
    if (__builtin_mul_overflow(segments_, count, &segments_)) return false;
    if (__builtin_mul_overflow(step, count - 1, &reach)) return false;
    if (stride < 0 ? __builtin_sub_overflow(low, reach, &low) : __builtin_add_overflow(high, reach, &high)) {
      return false;
    }
  }
  if (__builtin_add_overflow(high, segment_bytes_, &high)) return false;
  extent_ = {.low = low, .high = high};
  return !__builtin_mul_overflow(segments_, segment_bytes_, &bytes_);
}

Layout Layout::part(std::size_t from, std::size_t count) const {
  if (from == 0 && count == bytes_) return *this;
  std::vector<Segment> segments;
  visit(from, count, [&](std::uintptr_t address, std::size_t bytes) {
    segments.push_back({.address = address, .bytes = bytes});
    return true;
  });
  return list(std::move(segments));
}

std::size_t Layout::encoded_bytes(std::size_t from, std::size_t count) const {
  if (list_.empty()) return sizeof(PartHeader) + levels_ * kEntryBytes;
  std::size_t entries = 0;
  visit(from, count, [&](std::uintptr_t /*address*/, std::size_t /*bytes*/) {
    ++entries;
    return true;
  });
  return sizeof(PartHeader) + entries * kEntryBytes;
}

std::size_t Layout::encode(std::size_t from, std::size_t count, std::span<std::byte> to) const {
  PartHeader header = {.bytes = count};
  std::byte* entry = to.data() + sizeof header;
  if (list_.empty()) {
    header.entries = static_cast<std::uint32_t>(levels_);
    header.start = start_;
    header.segment_bytes = segment_bytes_;
    header.from = from;
    std::memcpy(entry, dimensions_.data(), levels_ * kEntryBytes);
  } else {
    header.listed = 1;
    visit(from, count, [&](std::uintptr_t address, std::size_t bytes) {
      const Segment segment = {.address = address, .bytes = bytes};
      std::memcpy(entry, &segment, kEntryBytes);
      entry += kEntryBytes;
      ++header.entries;
      return true;
    });
  }
  std::memcpy(to.data(), &header, sizeof header);
  return sizeof header + header.entries * kEntryBytes;
}

std::optional<Layout::Part> Layout::decode(std::span<const std::byte>& from) {
  PartHeader header;
  if (from.size() < sizeof header) return {};
  std::memcpy(&header, from.data(), sizeof header);
  const std::span<const std::byte> entries = from.subspan(sizeof header);
  if (header.listed > 1 || header.entries > entries.size() / kEntryBytes) return {};
  Part part;
  if (header.listed != 0) {
    if (header.entries == 0) return {};
    part.layout.list_.resize(header.entries);
    std::memcpy(part.layout.list_.data(), entries.data(), header.entries * kEntryBytes);
  } else {
    if (header.entries > RMA_MAX_LEVELS) return {};
    part.layout.start_ = header.start;
    part.layout.segment_bytes_ = header.segment_bytes;
    part.layout.levels_ = header.entries;
    std::memcpy(part.layout.dimensions_.data(), entries.data(), header.entries * kEntryBytes);
  }
  if (!part.layout.measure()) return {};
  if (!range_contains(part.layout.bytes_, header.from, header.bytes)) return {};
  part.from = header.from;
  part.bytes = header.bytes;
  from = entries.subspan(header.entries * kEntryBytes);
  return part;
}

}  // namespace librma
