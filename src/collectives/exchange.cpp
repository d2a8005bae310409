#include "collectives/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace rma {
namespace {

constexpr std::size_t kCacheLine = 64;
/// The number of bytes that are combined at a time. They fit the first-level cache together with one source,
/// and hold whole elements of any type.
constexpr std::size_t kBlock = 4096;
/// Every member combines a piece of up to this size on its own, because that costs less than a second round.
constexpr std::size_t kWholeBytes = 1024;
static_assert(TeamBlock::kPieceBytes % kCacheLine == 0 && kWholeBytes <= TeamBlock::kPieceBytes);

/// Calls `step(begin, bytes)` for each piece of `bytes` bytes, until one fails.
template <typename Step>
Status for_pieces(std::size_t bytes, const Step& step) {
  constexpr std::size_t kMost = TeamBlock::kPieceBytes;
  for (std::size_t begin = 0; begin < bytes; begin += kMost) {
    if (Status status = step(begin, std::min(kMost, bytes - begin)); !status.ok()) return status;
  }
  return {};
}

/// Copies between ranges that are the same or disjoint.
void copy_unless_same(void* dst, const void* src, std::size_t bytes) {
  if (dst != src) std::memcpy(dst, src, bytes);
}

}  // namespace

Exchange::Exchange(TeamBlock& block, int member, const WaitPolicy& policy, const Buffers& buffers,
                   const Roster& roster)
    : rounds_(block, member, policy, roster),
      buffers_(buffers),
      direct_bytes_(block.direct_bytes),
      announced_(block.members) {}

Status Exchange::broadcast(void* buffer, std::size_t bytes, int root) {
  auto* const data = static_cast<std::byte*>(buffer);
  const bool is_root = member() == root;
  if (direct(bytes)) {
    if (Status told = announce(is_root ? buffer : nullptr, bytes, nullptr, 0); !told.ok()) return told;
    if (const void* const src = announced_[static_cast<std::size_t>(root)].src; src != nullptr) {
      if (!is_root) std::memcpy(data, buffers_.at(src, bytes, root), bytes);
      return rounds_.meet();
    }
  }
  return for_pieces(bytes, [&](std::size_t begin, std::size_t piece) -> Status {
    if (is_root) std::memcpy(rounds_.outbox(piece), data + begin, piece);
    if (Status met = rounds_.meet(); !met.ok()) return met;
    if (!is_root) std::memcpy(data + begin, rounds_.inbox(root, piece), piece);
    return {};
  });
}

Status Exchange::reduce(void* dst, const void* src, std::size_t count, const Reduction& reduction, int root) {
  const std::size_t bytes = count * reduction.element_bytes;
  const bool is_root = member() == root;
  if (direct(bytes)) {
    if (Status told = announce(src, bytes, is_root ? dst : nullptr, bytes); !told.ok()) return told;
    void* const root_dst = announced_[static_cast<std::size_t>(root)].dst;
    if (root_dst != nullptr && all_sources_shared()) {
      return reduce_direct(buffers_.at(root_dst, bytes, root), bytes, reduction);
    }
  }
  return for_pieces(bytes, [&](std::size_t begin, std::size_t piece) -> Status {
    std::memcpy(rounds_.outbox(piece), static_cast<const std::byte*>(src) + begin, piece);
    if (Status met = rounds_.meet(); !met.ok()) return met;
    if (!is_root) return {};
    combine(
        static_cast<std::byte*>(dst) + begin, [&](int from) { return rounds_.inbox(from, piece); },
        {.begin = 0, .bytes = piece}, reduction);
    return {};
  });
}

Status Exchange::allreduce(void* dst, const void* src, std::size_t count, const Reduction& reduction) {
  const std::size_t bytes = count * reduction.element_bytes;
  auto* const to = static_cast<std::byte*>(dst);
  if (direct(bytes)) {
    if (Status told = announce(src, bytes, dst, bytes); !told.ok()) return told;
    if (all_sources_shared() && all_destinations_shared()) {
      return allreduce_direct(to, bytes, reduction);
    }
  }
  return for_pieces(bytes, [&](std::size_t begin, std::size_t piece) -> Status {
    return allreduce_piece(to + begin, static_cast<const std::byte*>(src) + begin, piece, reduction);
  });
}

Status Exchange::allgather(void* dst, const void* src, std::size_t bytes) {
  auto* const to = static_cast<std::byte*>(dst);
  const auto place_of = [&](int from) { return to + static_cast<std::size_t>(from) * bytes; };
  if (direct(bytes)) {
    if (Status told = announce(src, bytes, nullptr, 0); !told.ok()) return told;
    if (all_sources_shared()) {
      for (int from = 0; from < members(); ++from) {
        copy_unless_same(place_of(from),
                         buffers_.at(announced_[static_cast<std::size_t>(from)].src, bytes, from), bytes);
      }
      return rounds_.meet();
    }
  }
  return for_pieces(bytes, [&](std::size_t begin, std::size_t piece) -> Status {
    std::memcpy(rounds_.outbox(piece), static_cast<const std::byte*>(src) + begin, piece);
    if (Status met = rounds_.meet(); !met.ok()) return met;
    for (int from = 0; from < members(); ++from) {
      std::memcpy(place_of(from) + begin, rounds_.inbox(from, piece), piece);
    }
    return {};
  });
}

bool Exchange::direct(std::size_t bytes) const {
  return bytes != 0 && bytes >= direct_bytes_ && members() > 1;
}

Status Exchange::announce(const void* src, std::size_t src_bytes, void* dst, std::size_t dst_bytes) {
  static_assert(sizeof(AnnouncedBuffers) <= TeamBlock::kInlineBytes);
  const AnnouncedBuffers mine = {.src = src != nullptr && buffers_.shared(src, src_bytes) ? src : nullptr,
                                 .dst = dst != nullptr && buffers_.shared(dst, dst_bytes) ? dst : nullptr};
  std::memcpy(rounds_.outbox(sizeof mine), &mine, sizeof mine);
  if (Status met = rounds_.meet(); !met.ok()) return met;
  for (int from = 0; from < members(); ++from) {
    std::memcpy(&announced_[static_cast<std::size_t>(from)], rounds_.inbox(from, sizeof mine), sizeof mine);
  }
  return {};
}

bool Exchange::all_sources_shared() const {
  return std::all_of(announced_.begin(), announced_.end(),
                     [](const AnnouncedBuffers& each) { return each.src != nullptr; });
}

bool Exchange::all_destinations_shared() const {
  return std::all_of(announced_.begin(), announced_.end(),
                     [](const AnnouncedBuffers& each) { return each.dst != nullptr; });
}

Exchange::Part Exchange::part_of(int member, std::size_t bytes) const {
  const auto lines = (bytes + kCacheLine - 1) / kCacheLine;
  const auto parts = static_cast<std::size_t>(members());
  const std::size_t part = (lines + parts - 1) / parts * kCacheLine;
  const std::size_t begin = std::min(bytes, static_cast<std::size_t>(member) * part);
  return {.begin = begin, .bytes = std::min(part, bytes - begin)};
}

template <typename Source>
void Exchange::combine(std::byte* dst, const Source& source, Part part, const Reduction& reduction) const {
  // Combines in a local block, because `dst` may be a source that is not the first.
  alignas(kCacheLine) std::array<std::byte, kBlock> result;
  for (std::size_t offset = 0; offset < part.bytes; offset += kBlock) {
    const std::size_t begin = part.begin + offset;
    const std::size_t bytes = std::min(kBlock, part.bytes - offset);
    std::memcpy(result.data(), source(0) + begin, bytes);
    for (int from = 1; from < members(); ++from) {
      reduction.combine(result.data(), source(from) + begin, bytes / reduction.element_bytes);
    }
    std::memcpy(dst + begin, result.data(), bytes);
  }
}

Status Exchange::reduce_direct(std::byte* root_dst, std::size_t bytes, const Reduction& reduction) {
  // If the root's source is its destination, only one member reads and writes each part of it.
  const auto source = [&](int from) {
    return buffers_.at(announced_[static_cast<std::size_t>(from)].src, bytes, from);
  };
  combine(root_dst, source, part_of(member(), bytes), reduction);
  return rounds_.meet();
}

Status Exchange::allreduce_direct(std::byte* dst, std::size_t bytes, const Reduction& reduction) {
  const auto source = [&](int from) {
    return buffers_.at(announced_[static_cast<std::size_t>(from)].src, bytes, from);
  };
  // Each member reduces its part into its own destination. Others read that part of that buffer only after
  // the round, so the buffer may be the source as well.
  combine(dst, source, part_of(member(), bytes), reduction);
  if (Status met = rounds_.meet(); !met.ok()) return met;
  // All members have now used the parts of sources that the rest of the result overwrites.
  for (int from = 0; from < members(); ++from) {
    if (from == member()) continue;
    const Part part = part_of(from, bytes);
    const std::byte* const result = buffers_.at(announced_[static_cast<std::size_t>(from)].dst, bytes, from);
    std::memcpy(dst + part.begin, result + part.begin, part.bytes);
  }
  return rounds_.meet();
}

Status Exchange::allreduce_piece(std::byte* dst, const std::byte* src, std::size_t bytes,
                                 const Reduction& reduction) {
  std::memcpy(rounds_.outbox(bytes), src, bytes);
  if (Status met = rounds_.meet(); !met.ok()) return met;
  const auto source = [&](int from) { return rounds_.inbox(from, bytes); };
  if (bytes <= kWholeBytes || members() <= 2) {
    combine(dst, source, {.begin = 0, .bytes = bytes}, reduction);
    return {};
  }
  // The next round's outbox carries this member's part of the result, at its place in the whole.
  combine(rounds_.outbox(bytes), source, part_of(member(), bytes), reduction);
  if (Status met = rounds_.meet(); !met.ok()) return met;
  for (int from = 0; from < members(); ++from) {
    const Part part = part_of(from, bytes);
    std::memcpy(dst + part.begin, rounds_.inbox(from, bytes) + part.begin, part.bytes);
  }
  return {};
}

}  // namespace rma
