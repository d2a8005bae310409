// The reductions of a team on one host.

#include "collectives/shared_memory/exchange_combining.hpp"

namespace librma {
namespace {

/// Mapped sources are combined in blocks of this size, which fit the first-level cache with one source.
constexpr std::size_t kNearBlock = 4096;

}  // namespace

SharedExchange::Part SharedExchange::part_of(int member, std::size_t count, std::size_t element_bytes) const {
  const std::size_t grain = std::max<std::size_t>(kCacheLine / element_bytes, 1);
  const auto parts = static_cast<std::size_t>(members());
  const std::size_t grains = (count + grain - 1) / grain;
  const std::size_t part = (grains + parts - 1) / parts * grain;
  const std::size_t first = std::min(count, static_cast<std::size_t>(member) * part);
  return {.first = first, .count = std::min(part, count - first)};
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
    if (!is_root) return rounds_.post_copy(src, bytes, root);
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

}  // namespace librma
