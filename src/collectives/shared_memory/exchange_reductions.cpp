// The reductions of a team on one host. All members combine the elements in the same order, and each element
// of a result is combined once or in the same way everywhere, so all members get the same bits.

#include <algorithm>
#include <cstring>
#include <utility>

#include "collectives/shared_memory/exchange.hpp"
#include "util/copying/copy_table.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

constexpr std::size_t kCacheLine = 64;
/// Mapped sources are combined in blocks of this size, which fit the first-level cache with one source.
constexpr std::size_t kNearBlock = 4096;

/// Returns the elements of a block of `bytes` bytes, at least one.
std::size_t elements_in(std::size_t bytes, const rma_reducer_t& reducer) {
  return std::max<std::size_t>(bytes / reducer.element_bytes, 1);
}

/// Returns the distance of rows of `bytes` bytes that each begin at a cache line, so that operators find the
/// first element of each aligned.
constexpr std::size_t aligned_row(std::size_t bytes) {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

}  // namespace

SharedExchange::Part SharedExchange::part_of(int member, std::size_t count, std::size_t element_bytes) const {
  const std::size_t grain = std::max<std::size_t>(kCacheLine / element_bytes, 1);
  const auto parts = static_cast<std::size_t>(members());
  const std::size_t grains = (count + grain - 1) / grain;
  const std::size_t part = (grains + parts - 1) / parts * grain;
  const std::size_t first = std::min(count, static_cast<std::size_t>(member) * part);
  return {.first = first, .count = std::min(part, count - first)};
}

template <typename Source>
void SharedExchange::combine(std::byte* result, std::size_t elements, int last, const rma_reducer_t& reducer,
                             const Source& source) {
  // combine() performs inout = in op inout. So the higher operand is copied first, unless the operation
  // commutes.
  const std::size_t bytes = elements * reducer.element_bytes;
  const bool commutes = reducer.commutes != 0;
  const std::byte* const first = source(commutes ? 0 : last);
  if (first != result) std::memcpy(result, first, bytes);
  for (int step = 1; step <= last; ++step) {
    reducer.combine(source(commutes ? step : last - step), result, elements, reducer.context);
  }
}

template <typename Store>
rma_status_t SharedExchange::combine_announced(Part part, const rma_reducer_t& reducer, std::byte* place,
                                               const Store& store) {
  const std::size_t most = elements_in(kNearBlock, reducer);
  rma_status_t used = RMA_SUCCESS;
  for (std::size_t at = 0; at < part.count && used == RMA_SUCCESS; at += most) {
    const std::size_t elements = std::min(most, part.count - at);
    const std::size_t begin = (part.first + at) * reducer.element_bytes;
    const std::size_t bytes = elements * reducer.element_bytes;
    std::byte* const result = place != nullptr ? place + begin : result_block();
    combine(result, elements, members() - 1, reducer,
            [&](int from) { return announced_.source_here(from, begin, bytes); });
    used = store(begin, std::span<const std::byte>(result, bytes));
  }
  return used;
}

void SharedExchange::combine_piece(std::size_t begin, std::size_t elements, const rma_reducer_t& reducer) {
  const Part part = part_of(member(), elements, reducer.element_bytes);
  const std::size_t most = elements_in(kNearBlock, reducer);
  for (std::size_t at = 0; at < part.count; at += most) {
    const std::size_t offset = (part.first + at) * reducer.element_bytes;
    const std::size_t count = std::min(most, part.count - at);
    combine(area(member(), 1) + offset, count, members() - 1, reducer, [&](int from) {
      const std::byte* const here =
          announced_.source_here(from, begin + offset, count * reducer.element_bytes);
      return here != nullptr ? here : area(from, 0) + offset;
    });
  }
}

void SharedExchange::collect_parts(std::byte* to, std::size_t elements, const rma_reducer_t& reducer) const {
  for (int step = 0; step < members(); ++step) {
    const int from = (member() + step) % members();
    const Part part = part_of(from, elements, reducer.element_bytes);
    const std::size_t offset = part.first * reducer.element_bytes;
    if (part.count != 0) std::memcpy(to + offset, area(from, 1) + offset, part.count * reducer.element_bytes);
  }
}

Status SharedExchange::announce_reduction(AnnouncedBuffers::Mine mine, std::size_t first_piece,
                                          Scratch& scratch, Way& way) {
  mine.scratch = scratch.memory();
  mine.lacks_scratch = scratch.lacking();
  if (scratch.memory() != nullptr && !buffers_.shared(mine.src, mine.src_bytes))
    copy_mapped(scratch.memory(), mine.src, first_piece);
  RMA_TRY(announced_.announce(mine));
  way = announced_.all_mapped() ? Way::direct : announced_.scratch_there() ? Way::staged : Way::pieces;
  if (way != Way::staged) scratch.release();
  return {};
}

template <typename Work, typename Drain>
Status SharedExchange::staged_reduction(const std::byte* src, std::size_t bytes, std::size_t most,
                                        Scratch& scratch, const Work& work, const Drain& drain) {
  // Between two uses of either half all members meet, so each needs only one.
  for (std::size_t begin = 0; begin < bytes; begin += most) {
    const std::size_t piece = std::min(most, bytes - begin);
    if (begin != 0) {
      if (!announced_.source_mapped(member())) copy_mapped(area(member(), 0), src + begin, piece);
      RMA_TRY(rounds_.meet());
    }
    work(begin, piece);
    RMA_TRY(rounds_.meet());
    drain(begin, piece);
  }
  Status finished = announced_.finish(RMA_SUCCESS);
  if (finished.ok()) scratch.release();
  return finished;
}

Status SharedExchange::reduce(const rma_collective_t& collective, bool& done) {
  const rma_reducer_t& reducer = collective.reducer;
  const std::size_t bytes = collective.count * reducer.element_bytes;
  const int root = collective.root;
  const bool is_root = member() == root;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const bool large_element = reducer.element_bytes > TeamBlock::kPieceBytes;
  done = reducer.element_bytes <= kBlock;
  if (!done) return {};
  if (members() == 2 && direct(bytes) && !large_element) {
    if (Status status = reduce_two(collective, done); done || !status.ok()) return status;
    done = true;
  } else if (direct(bytes) || (large_element && bytes != 0)) {
    const std::size_t most = elements_in(kHalf, reducer) * reducer.element_bytes;
    const AnnouncedBuffers::Mine mine = {
        .src = src, .src_bytes = bytes, .dst = is_root ? dst : nullptr, .dst_bytes = bytes};
    Scratch scratch(buffers_, true);
    Way way = Way::pieces;
    RMA_TRY(announce_reduction(mine, std::min(most, bytes), scratch, way));
    if (way == Way::direct) {
      // If the root's source is its destination, only one member reads and writes each part of it.
      const Part part = part_of(member(), collective.count, reducer.element_bytes);
      std::byte* const place = is_root && dst != src ? dst : nullptr;
      return announced_.finish(combine_announced(part, reducer, place, [&](std::size_t begin, auto block) {
        return announced_.write_destination(root, begin, block);
      }));
    }
    if (way == Way::staged) {
      return staged_reduction(
          src, bytes, most, scratch,
          [&](std::size_t begin, std::size_t piece) {
            combine_piece(begin, piece / reducer.element_bytes, reducer);
          },
          [&](std::size_t begin, std::size_t piece) {
            if (is_root) collect_parts(dst + begin, piece / reducer.element_bytes, reducer);
          });
    }
    done = !large_element;
    if (!done) return {};
  }
  // The root's destination may be its source, so the result is made elsewhere then.
  const auto make_result = [&](std::size_t begin, std::size_t piece, const auto& theirs) {
    std::byte* const result = src == dst ? result_block() : dst + begin;
    combine(result, piece / reducer.element_bytes, members() - 1, reducer,
            [&](int from) { return from == root ? src + begin : theirs(from); });
    if (src == dst) copy_mapped(dst + begin, result, piece);
  };
  if (bytes != 0 && rounds_.begin_one_way(bytes)) {
    if (!is_root) {
      post(src, bytes);
      return {};
    }
    RMA_TRY(await_below(members()));
    make_result(0, bytes, [&](int from) { return rounds_.posted(from, bytes); });
    return {};
  }
  const std::size_t most = elements_in(TeamBlock::kPieceBytes, reducer) * reducer.element_bytes;
  return for_pieces(bytes, most, [&](std::size_t begin, std::size_t piece) -> Status {
    if (!is_root) copy_mapped(rounds_.outbox(piece), src + begin, piece);
    if (Status met = rounds_.meet(); !met.ok() || !is_root) return met;
    make_result(begin, piece, [&](int from) { return rounds_.inbox(from, piece); });
    return {};
  });
}

Status SharedExchange::await_below(int end) {
  for (int from = 0; from < end; ++from) {
    if (from == member()) continue;
    RMA_TRY(rounds_.await(from));
  }
  return {};
}

Status SharedExchange::reduce_two(const rma_collective_t& collective, bool& done) {
  const rma_reducer_t& reducer = collective.reducer;
  const std::size_t bytes = collective.count * reducer.element_bytes;
  const bool is_root = member() == collective.root;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const std::size_t near = elements_in(kNearBlock, reducer) * reducer.element_bytes;
  return staged(
      {.src = is_root ? nullptr : src, .src_bytes = bytes}, !is_root && !buffers_.shared(src, bytes), bytes,
      staged_piece_ / near * near,
      [&](std::size_t begin, std::size_t piece, std::byte* to) { copy_mapped(to, src + begin, piece); },
      [&](std::size_t begin, std::size_t piece, int half) {
        if (!is_root) return;
        const std::byte* const theirs = piece_of(1 - member(), begin, piece, half);
        for (std::size_t at = 0; at < piece; at += near) {
          const std::size_t part = std::min(near, piece - at);
          // The root's destination may be its source, so the result is made elsewhere.
          std::byte* const result = src == dst ? result_block() : dst + begin + at;
          combine(result, part / reducer.element_bytes, 1, reducer,
                  [&](int from) { return from == member() ? src + begin + at : theirs + at; });
          if (src == dst) std::memcpy(dst + begin + at, result, part);
        }
      },
      [&] { return announced_.all_sources_mapped(); }, done);
}

Status SharedExchange::allreduce(const rma_collective_t& collective, bool& done) {
  const rma_reducer_t& reducer = collective.reducer;
  const std::size_t bytes = collective.count * reducer.element_bytes;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const bool large_element = reducer.element_bytes > TeamBlock::kPieceBytes;
  done = reducer.element_bytes <= kBlock;
  if (!done) return {};
  if (direct(bytes) || (large_element && bytes != 0)) {
    const std::size_t most = elements_in(kHalf, reducer) * reducer.element_bytes;
    const AnnouncedBuffers::Mine mine = {.src = src, .src_bytes = bytes, .dst = dst, .dst_bytes = bytes};
    Scratch scratch(buffers_, true);
    Way way = Way::pieces;
    RMA_TRY(announce_reduction(mine, std::min(most, bytes), scratch, way));
    if (way == Way::direct) return allreduce_direct(collective);
    if (way == Way::staged) {
      return staged_reduction(
          src, bytes, most, scratch,
          [&](std::size_t begin, std::size_t piece) {
            combine_piece(begin, piece / reducer.element_bytes, reducer);
          },
          [&](std::size_t begin, std::size_t piece) {
            collect_parts(dst + begin, piece / reducer.element_bytes, reducer);
          });
    }
    done = !large_element;
    if (!done) return {};
  }
  const std::size_t most = elements_in(TeamBlock::kPieceBytes, reducer) * reducer.element_bytes;
  return for_pieces(bytes, most, [&](std::size_t begin, std::size_t piece) {
    return allreduce_piece(dst + begin, src + begin, piece / reducer.element_bytes, reducer);
  });
}

Status SharedExchange::allreduce_direct(const rma_collective_t& collective) {
  const rma_reducer_t& reducer = collective.reducer;
  auto* const dst = static_cast<std::byte*>(collective.dst);
  // Each member reduces its part into its own destination. Others read that part of that buffer only after
  // the round, so the buffer may be the source as well.
  const Part part = part_of(member(), collective.count, reducer.element_bytes);
  std::byte* const place = collective.dst != collective.src ? dst : nullptr;
  const rma_status_t used = combine_announced(part, reducer, place, [&](std::size_t begin, auto block) {
    return announced_.write_destination(member(), begin, block);
  });
  RMA_TRY(announced_.finish(used));
  // All members have now used the parts of sources that the rest of the result overwrites.
  rma_status_t copied = RMA_SUCCESS;
  for (int step = 1; step < members() && copied == RMA_SUCCESS; ++step) {
    const int from = (member() + step) % members();
    const Part theirs = part_of(from, collective.count, reducer.element_bytes);
    const std::size_t begin = theirs.first * reducer.element_bytes;
    copied = announced_.read_destination(from, begin, {dst + begin, theirs.count * reducer.element_bytes});
  }
  return announced_.finish(copied);
}

Status SharedExchange::allreduce_whole(std::byte* dst, const std::byte* src, std::size_t elements,
                                       const rma_reducer_t& reducer) {
  const std::size_t bytes = elements * reducer.element_bytes;
  std::memcpy(rounds_.outbox(bytes), src, bytes);
  RMA_TRY(rounds_.meet());
  combine(dst, elements, members() - 1, reducer, [&](int from) { return rounds_.inbox(from, bytes); });
  return {};
}

Status SharedExchange::allreduce_piece(std::byte* dst, const std::byte* src, std::size_t elements,
                                       const rma_reducer_t& reducer) {
  const std::size_t bytes = elements * reducer.element_bytes;
  if (bytes <= kWholeBytes || one_round_) return allreduce_whole(dst, src, elements, reducer);
  std::memcpy(rounds_.outbox(bytes), src, bytes);
  RMA_TRY(rounds_.meet());
  const int last = members() - 1;
  // The next round's outbox carries this member's part of the result, at its place in the whole.
  const Part part = part_of(member(), elements, reducer.element_bytes);
  const std::size_t own = part.first * reducer.element_bytes;
  combine(rounds_.outbox(bytes) + own, part.count, last, reducer,
          [&](int from) { return rounds_.inbox(from, bytes) + own; });
  RMA_TRY(rounds_.meet());
  for (int from = 0; from < members(); ++from) {
    const Part theirs = part_of(from, elements, reducer.element_bytes);
    const std::size_t begin = theirs.first * reducer.element_bytes;
    std::memcpy(dst + begin, rounds_.inbox(from, bytes) + begin, theirs.count * reducer.element_bytes);
  }
  return {};
}

Status SharedExchange::reduce_scatter(const rma_collective_t& collective, bool& done) {
  const rma_reducer_t& reducer = collective.reducer;
  std::size_t all = 0;
  std::size_t longest = 0;
  Part mine;
  for (int block = 0; block < members(); ++block) {
    const std::size_t count = collective.counts != nullptr ? collective.counts[block] : collective.count;
    if (block == member()) mine = {.first = all, .count = count};
    longest = std::max(longest, count);
    all += count;
  }
  const std::size_t bytes = all * reducer.element_bytes;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  done = reducer.element_bytes <= kBlock;
  if (!done || bytes == 0) return {};
  if (bytes > TeamBlock::kPieceBytes) return reduce_scatter_staged(collective, longest, mine, done);
  std::memcpy(rounds_.outbox(bytes), src, bytes);
  if (Status met = rounds_.meet(); !met.ok() || mine.count == 0) return met;
  const std::size_t own = mine.first * reducer.element_bytes;
  combine(static_cast<std::byte*>(collective.dst), mine.count, members() - 1, reducer,
          [&](int from) { return rounds_.inbox(from, bytes) + own; });
  return {};
}

Status SharedExchange::reduce_scatter_staged(const rma_collective_t& collective, std::size_t longest,
                                             Part mine, bool& done) {
  const rma_reducer_t& reducer = collective.reducer;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const std::size_t size = reducer.element_bytes;
  // A piece has a part of every block. In place, the result of a piece replaces only what has gone to the
  // scratch, if all blocks have one size.
  const std::size_t most = elements_in(block_piece(), reducer) * size;
  const std::size_t stride = aligned_row(most);
  done = stride * static_cast<std::size_t>(members()) <= kHalf;
  if (!done) return {};
  const AnnouncedBuffers::Mine buffers = {.src = src, .dst = dst};
  if (collective.counts != nullptr) {
    RMA_TRY(announced_.announce(buffers));
    done = !announced_.any_in_place();
    if (!done) return {};
  }
  const auto count_of = [&](int block) {
    return collective.counts != nullptr ? collective.counts[block] : collective.count;
  };
  const auto fill = [&](std::size_t begin, std::size_t piece, std::byte* to) {
    const std::byte* block = src;
    for (int each = 0; each < members(); ++each) {
      const std::size_t bytes = count_of(each) * size;
      if (begin < bytes) copy_mapped(to, block + begin, std::min(piece, bytes - begin));
      block += bytes;
      to += stride;
    }
  };
  const auto drain = [&](std::size_t begin, std::size_t piece, int half) {
    const std::size_t end = std::min(begin + piece, mine.count * size);
    const std::size_t row = static_cast<std::size_t>(member()) * stride;
    const std::size_t near = elements_in(kNearBlock, reducer) * size;
    for (std::size_t at = begin; at < end; at += near) {
      combine(dst + at, std::min(near, end - at) / size, members() - 1, reducer,
              [&](int from) { return area(from, half) + row + (at - begin); });
    }
  };
  return staged(
      buffers, true, longest * size, most, fill, drain, [] { return false; }, done);
}

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
    if (crowded_ || members() == 2) return scan_chain(collective, exclusive);
    post(src, bytes);
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
    post(src, bytes);
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
  std::byte* const result = is_last ? dst : rounds_.post_box(bytes);
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
