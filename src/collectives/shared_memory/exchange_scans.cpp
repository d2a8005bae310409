// The scans of a team on one host.

#include <utility>

#include "collectives/shared_memory/exchange_combining.hpp"

namespace librma {

void SharedExchange::scan_piece(std::size_t begin, std::size_t elements, const rma_reducer_t& reducer) {
  const Part part = part_of(member(), elements, reducer.element_bytes);
  const std::size_t offset = part.first * reducer.element_bytes;
  const std::size_t bytes = part.count * reducer.element_bytes;
  if (part.count == 0) return;
  std::byte* row = area(member(), 1);
  for (int from = 0; from < members(); ++from) {
    copy_mapped(row, piece_of(from, begin, elements * reducer.element_bytes, 0) + offset, bytes);
    if (from > 0) reducer.combine(row - aligned_row(bytes), row, part.count, reducer.context);
    row += aligned_row(bytes);
  }
}

Status SharedExchange::scan(const rma_collective_t& collective, bool exclusive, bool& done) {
  const rma_reducer_t& reducer = collective.reducer;
  const std::size_t bytes = collective.count * reducer.element_bytes;
  const bool large_element = reducer.element_bytes > TeamBlock::kPieceBytes;
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const auto* const src = static_cast<const std::byte*>(collective.src);
  const int last = exclusive ? member() - 1 : member();
  done = reducer.element_bytes <= kBlock;
  if (!done) return {};
  if (direct(bytes) || (large_element && bytes != 0)) {
    // Each member has the results of its part for all members in its scratch. The parts of a whole number of
    // grains per member are no longer together than the piece.
    const std::size_t grain =
        std::max(kCacheLine / reducer.element_bytes, std::size_t{1}) * reducer.element_bytes;
    const std::size_t rows = kHalf / (aligned_row(grain) * static_cast<std::size_t>(members()));
    const std::size_t most = rows * grain * static_cast<std::size_t>(members());
    const AnnouncedBuffers::Mine mine = {.src = src, .src_bytes = bytes, .dst = dst, .dst_bytes = bytes};
    Scratch scratch(buffers_, most != 0);
    Way way = Way::pieces;
    RMA_TRY(announce_reduction(mine, std::min(most, bytes), scratch, way));
    if (way == Way::direct) return scan_direct(collective, exclusive);
    if (way == Way::staged && most != 0) {
      return staged_reduction(
          src, bytes, most, scratch,
          [&](std::size_t begin, std::size_t piece) {
            scan_piece(begin, piece / reducer.element_bytes, reducer);
          },
          [&](std::size_t begin, std::size_t piece) {
            if (last < 0) return;
            for (int from = 0; from < members(); ++from) {
              const Part part = part_of(from, piece / reducer.element_bytes, reducer.element_bytes);
              const std::size_t size = part.count * reducer.element_bytes;
              if (size == 0) continue;
              std::memcpy(dst + begin + part.first * reducer.element_bytes,
                          area(from, 1) + static_cast<std::size_t>(last) * aligned_row(size), size);
            }
          });
    }
    done = !large_element;
    if (!done) return {};
  }
  if (bytes != 0 && rounds_.begin_one_way(bytes)) {
    if (members() == 2 || (crowded_ && members() > 2)) return scan_chain(collective, exclusive);
    RMA_TRY(rounds_.post_copy(src, bytes, Rounds::kAnyReader));
    if (Status come = await_below(last + 1); !come.ok() || last < 0) return come;
    combine(dst, collective.count, last, reducer, [&](int from) { return rounds_.posted(from, bytes); });
    return {};
  }
  const std::size_t most = elements_in(TeamBlock::kPieceBytes, reducer) * reducer.element_bytes;
  return for_pieces(bytes, most, [&](std::size_t begin, std::size_t piece) -> Status {
    copy_mapped(rounds_.outbox(piece), src + begin, piece);
    if (Status met = rounds_.meet(); !met.ok() || last < 0) return met;
    combine(dst + begin, piece / reducer.element_bytes, last, reducer,
            [&](int from) { return rounds_.inbox(from, piece); });
    return {};
  });
}

Status SharedExchange::scan_chain(const rma_collective_t& collective, bool exclusive) {
  const rma_reducer_t& reducer = collective.reducer;
  const std::size_t bytes = collective.count * reducer.element_bytes;
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const auto* const src = static_cast<const std::byte*>(collective.src);
  if (member() == 0) {
    RMA_TRY(rounds_.post_copy(src, bytes, 1));
    if (!exclusive && dst != src) std::memcpy(dst, src, bytes);
    return {};
  }
  RMA_TRY(rounds_.await(member() - 1));
  const std::byte* const before = rounds_.posted(member() - 1, bytes);
  const bool is_last = member() == members() - 1;
  if (is_last && exclusive) {
    std::memcpy(dst, before, bytes);
    return {};
  }
  std::byte* result = dst;
  if (!is_last) {
    RMA_TRY(rounds_.open_post(bytes, member() + 1, result));
  }
  if (result != src) std::memcpy(result, src, bytes);
  reducer.combine(before, result, collective.count, reducer.context);
  if (is_last) return {};
  rounds_.post();
  std::memcpy(dst, exclusive ? before : result, bytes);
  return {};
}

Status SharedExchange::scan_direct(const rma_collective_t& collective, bool exclusive) {
  // Each member computes its part of every member's result, one member after the other. Only it touches these
  // parts, so a source may be its member's destination.
  const rma_reducer_t& reducer = collective.reducer;
  const Part part = part_of(member(), collective.count, reducer.element_bytes);
  const std::size_t most = elements_in(kBlock, reducer);
  std::byte* before = result_block();
  std::byte* next = other_block();
  rma_status_t used = RMA_SUCCESS;
  const auto note = [&](rma_status_t status) {
    if (used == RMA_SUCCESS) used = status;
  };
  for (std::size_t at = 0; at < part.count && used == RMA_SUCCESS; at += most) {
    const std::size_t elements = std::min(most, part.count - at);
    const std::size_t begin = (part.first + at) * reducer.element_bytes;
    const std::size_t bytes = elements * reducer.element_bytes;
    for (int from = 0; from < members() && used == RMA_SUCCESS; ++from) {
      note(announced_.read_source(from, begin, {next, bytes}));
      if (from > 0) {
        if (exclusive) note(announced_.write_destination(from, begin, {before, bytes}));
        reducer.combine(before, next, elements, reducer.context);
      }
      if (!exclusive) note(announced_.write_destination(from, begin, {next, bytes}));
      std::swap(before, next);
    }
  }
  return announced_.finish(used);
}

}  // namespace librma
