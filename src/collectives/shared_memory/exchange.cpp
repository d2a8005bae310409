#include "collectives/shared_memory/exchange.hpp"
#include "util/copying/copy_table.hpp"
#include "util/try.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace librma {
namespace {

/// Copies between ranges that are the same or disjoint.
void copy_unless_same(void* dst, const void* src, std::size_t bytes) {
  if (dst != src && bytes != 0) std::memcpy(dst, src, bytes);
}

/// Keeps the first failure.
void note(rma_status_t& first, rma_status_t status) {
  if (first == RMA_SUCCESS) first = status;
}

/// The members that have a processor each fill and empty pieces of this size at the same time.
constexpr std::size_t kStagedPiece = std::size_t{64} << 10U;

/// Blocks of an all-to-all up to this size go by the scratch: that is two copies, and saves the price of a
/// system call.
constexpr std::size_t kStagedBlock = std::size_t{16} << 10U;

/// The blocks of an announced list (rma_block_t), as many as fit an outbox.
constexpr std::size_t kMostListed = TeamBlock::kPieceBytes / sizeof(rma_block_t);

}  // namespace

SharedExchange::SharedExchange(TeamBlock& block, int member, const WaitPolicy& policy, const Buffers& buffers,
                               const Roster& roster)
    : rounds_(block, member, policy, roster),
      buffers_(buffers),
      announced_(rounds_, buffers),
      direct_bytes_(block.direct_bytes),
      at_once_bytes_(block.members > 1
                         ? std::min<std::size_t>(kWholeBytes, std::max<std::size_t>(direct_bytes_, 1) - 1)
                         : kWholeBytes),
      crowded_(block.crowded),
      staged_piece_(block.crowded ? kHalf : kStagedPiece),
      one_round_(block.crowded || block.members <= 2),
      work_(static_cast<std::byte*>(::operator new(2 * kBlock, kAlignment))) {}

Status SharedExchange::run(const rma_collective_t& collective, bool& done) {
  if (copies_together(collective)) {
    if (Status status = run_together(collective, done); done || !status.ok()) return status;
  }
  done = true;
  switch (collective.kind) {
    case RMA_COLLECTIVE_BARRIER:
      return rounds_.meet();
    case RMA_COLLECTIVE_BROADCAST:
      return broadcast(collective, done);
    case RMA_COLLECTIVE_GATHER:
      return gather(collective, done);
    case RMA_COLLECTIVE_SCATTER:
      return scatter(collective, done);
    case RMA_COLLECTIVE_ALLGATHER:
      return allgather(collective, done);
    case RMA_COLLECTIVE_ALLTOALL:
      return alltoall(collective, done);
    case RMA_COLLECTIVE_REDUCE:
      return reduce(collective, done);
    case RMA_COLLECTIVE_ALLREDUCE:
      return allreduce(collective, done);
    case RMA_COLLECTIVE_REDUCE_SCATTER:
      return reduce_scatter(collective, done);
    case RMA_COLLECTIVE_SCAN:
      return scan(collective, false, done);
    case RMA_COLLECTIVE_EXSCAN:
      return scan(collective, true, done);
    case RMA_COLLECTIVE_NEIGHBORS:
      break;
  }
  done = false;
  return {};
}

Status SharedExchange::broadcast(const rma_collective_t& collective, bool& done) {
  auto* const data = static_cast<std::byte*>(collective.dst);
  const std::size_t bytes = collective.bytes;
  const int root = collective.root;
  const bool is_root = member() == root;
  if (direct(bytes)) {
    const AnnouncedBuffers::Mine mine = {.src = is_root ? data : nullptr, .src_bytes = bytes};
    RMA_TRY(announced_.announce_root(root, mine));
    if (announced_.source_mapped(root)) {
      return announced_.finish_root(root,
                                    is_root ? RMA_SUCCESS : announced_.read_source(root, 0, {data, bytes}));
    }
    return staged(
        mine, is_root, bytes, staged_piece_,
        [&](std::size_t begin, std::size_t piece, std::byte* to) { copy_mapped(to, data + begin, piece); },
        [&](std::size_t begin, std::size_t piece, int half) {
          if (!is_root) copy_mapped(data + begin, area(root, half), piece);
        },
        [] { return false; }, done);
  }
  if (bytes != 0 && rounds_.begin_one_way(bytes)) {
    if (is_root) return rounds_.post_copy(data, bytes, Rounds::kAnyReader);
    RMA_TRY(rounds_.await(root));
    std::memcpy(data, rounds_.posted(root, bytes), bytes);
    return {};
  }
  return for_pieces(bytes, TeamBlock::kPieceBytes, [&](std::size_t begin, std::size_t piece) -> Status {
    if (is_root) copy_mapped(rounds_.outbox(piece), data + begin, piece);
    RMA_TRY(rounds_.meet());
    if (!is_root) copy_mapped(data + begin, rounds_.inbox(root, piece), piece);
    return {};
  });
}

Status SharedExchange::gather(const rma_collective_t& collective, bool& done) {
  const int root = collective.root;
  const bool is_root = member() == root;
  if (collective.uneven != 0) return gather_uneven(collective, is_root, done);
  const std::size_t bytes = collective.bytes;
  const auto all = static_cast<std::size_t>(members()) * bytes;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const auto place_of = [&](int from) { return static_cast<std::size_t>(from) * bytes; };
  if (direct(bytes)) {
    RMA_TRY(announced_.announce_root(root, {.dst = dst, .dst_bytes = all}));
    if (announced_.destination_mapped(root) || (crowded_ && announced_.destination_reached(root)))
      return announced_.finish_root(root,
                                    announced_.write_destination(root, place_of(member()), {src, bytes}));
    return staged(
        {.src = is_root ? nullptr : src, .src_bytes = bytes}, !is_root && !buffers_.shared(src, bytes), bytes,
        staged_piece_,
        [&](std::size_t begin, std::size_t piece, std::byte* to) { copy_mapped(to, src + begin, piece); },
        [&](std::size_t begin, std::size_t piece, int half) {
          if (!is_root) return;
          for (int from = 0; from < members(); ++from) {
            const std::byte* const theirs = from == root ? src + begin : piece_of(from, begin, piece, half);
            copy_unless_same(dst + place_of(from) + begin, theirs, piece);
          }
        },
        [&] { return announced_.all_sources_mapped(); }, done);
  }
  if (bytes != 0 && rounds_.begin_one_way(bytes)) {
    if (!is_root) return rounds_.post_copy(src, bytes, root);
    for (int from = 0; from < members(); ++from) {
      if (from == root) {
        copy_unless_same(dst + place_of(from), src, bytes);
        continue;
      }
      RMA_TRY(rounds_.await(from));
      std::memcpy(dst + place_of(from), rounds_.posted(from, bytes), bytes);
    }
    return {};
  }
  return for_pieces(bytes, TeamBlock::kPieceBytes, [&](std::size_t begin, std::size_t piece) -> Status {
    if (!is_root) copy_mapped(rounds_.outbox(piece), src + begin, piece);
    if (Status met = rounds_.meet(); !met.ok() || !is_root) return met;
    for (int from = 0; from < members(); ++from) {
      const std::byte* const theirs = from == root ? src + begin : rounds_.inbox(from, piece);
      copy_unless_same(dst + place_of(from) + begin, theirs, piece);
    }
    return {};
  });
}

Status SharedExchange::gather_uneven(const rma_collective_t& collective, bool gets, bool& done) {
  // Short blocks travel in the outboxes of the announcement itself.
  const std::size_t bytes = collective.bytes;
  if (bytes != 0 && bytes <= TeamBlock::kPieceBytes) {
    std::memcpy(rounds_.outbox(TeamBlock::kPieceBytes), collective.src, bytes);
  }
  const AnnouncedBuffers::Mine mine = {
      .src = bytes != 0 ? collective.src : nullptr, .src_bytes = bytes, .own_bytes = bytes};
  RMA_TRY(announced_.announce(mine));
  bool any_long = false;
  for (int from = 0; from < members(); ++from) {
    any_long = any_long || announced_.own_bytes(from) > TeamBlock::kPieceBytes;
  }
  if (any_long && !announced_.sources_reached()) {
    done = false;
    return {};
  }
  rma_status_t used = RMA_SUCCESS;
  if (gets) {
    const BlockList all = BlockList::destination(collective);
    for (int from = 0; from < members(); ++from) {
      const std::size_t theirs = announced_.own_bytes(from);
      if (theirs > all.bytes(from)) note(used, RMA_ERR_TRUNCATED);
      const std::size_t copied = std::min(theirs, all.bytes(from));
      if (from == member()) {
        copy_unless_same(all.data(from), collective.src, copied);
      } else if (theirs > TeamBlock::kPieceBytes) {
        note(used, announced_.read_source(from, 0, {all.data(from), copied}));
      } else if (copied != 0) {
        std::memcpy(all.data(from), rounds_.inbox(from, TeamBlock::kPieceBytes), copied);
      }
    }
  }
  if (any_long) return announced_.finish(used);
  return used == RMA_SUCCESS ? Status() : Status(used, "a member's block is longer than its place");
}

Status SharedExchange::scatter(const rma_collective_t& collective, bool& done) {
  if (collective.uneven != 0) return scatter_uneven(collective, done);
  const int root = collective.root;
  const bool is_root = member() == root;
  const std::size_t bytes = collective.bytes;
  const auto all = static_cast<std::size_t>(members()) * bytes;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const std::size_t mine_at = static_cast<std::size_t>(member()) * bytes;
  if (bytes == 0) return {};
  if (rounds_.begin_one_way(all)) {
    if (is_root) {
      RMA_TRY(rounds_.post_copy(src, all, Rounds::kAnyReader));
      copy_unless_same(dst, src + mine_at, bytes);
      return {};
    }
    RMA_TRY(rounds_.await(root));
    std::memcpy(dst, rounds_.posted(root, all) + mine_at, bytes);
    return {};
  }
  if (all <= TeamBlock::kPieceBytes) {
    if (is_root) std::memcpy(rounds_.outbox(all), src, all);
    RMA_TRY(rounds_.meet());
    copy_unless_same(dst, is_root ? src + mine_at : rounds_.inbox(root, all) + mine_at, bytes);
    return {};
  }
  const AnnouncedBuffers::Mine mine = {.src = is_root ? src : nullptr, .src_bytes = all};
  RMA_TRY(announced_.announce_root(root, mine));
  if (announced_.source_mapped(root) || (crowded_ && announced_.source_reached(root)))
    return announced_.finish_root(root, announced_.read_source(root, mine_at, {dst, bytes}));
  const std::size_t most = block_piece();
  return staged(
      mine, is_root, bytes, most,
      [&](std::size_t begin, std::size_t piece, std::byte* to) {
        for (std::size_t member = 0; member * bytes < all; ++member) {
          copy_mapped(to + member * most, src + member * bytes + begin, piece);
        }
      },
      [&](std::size_t begin, std::size_t piece, int half) {
        const std::byte* const theirs = area(root, half) + static_cast<std::size_t>(member()) * most;
        copy_unless_same(dst + begin, is_root ? src + mine_at + begin : theirs, piece);
      },
      [] { return false; }, done);
}

Status SharedExchange::scatter_uneven(const rma_collective_t& collective, bool& done) {
  const int root = collective.root;
  const bool is_root = member() == root;
  done = static_cast<std::size_t>(members()) <= kMostListed;
  if (!done) return {};
  const std::size_t listed = static_cast<std::size_t>(members()) * sizeof(rma_block_t);
  bool shared = true;
  if (is_root) {
    std::memcpy(rounds_.outbox(TeamBlock::kPieceBytes), collective.src_blocks, listed);
    shared = announced_.all_shared({collective.src_blocks, static_cast<std::size_t>(members())});
  }
  RMA_TRY(announced_.announce_list(shared));
  done = announced_.source_reached(root);
  if (!done) return {};
  rma_block_t block = {};
  std::memcpy(&block,
              rounds_.inbox(root, TeamBlock::kPieceBytes) + static_cast<std::size_t>(member()) * sizeof block,
              sizeof block);
  rma_status_t used = block.bytes > collective.bytes ? RMA_ERR_TRUNCATED : RMA_SUCCESS;
  const std::size_t copied = std::min(block.bytes, collective.bytes);
  note(used, announced_.read_block(root, block.address, {static_cast<std::byte*>(collective.dst), copied}));
  return announced_.finish(used);
}

Status SharedExchange::allgather(const rma_collective_t& collective, bool& done) {
  if (collective.uneven != 0) return gather_uneven(collective, true, done);
  const std::size_t bytes = collective.bytes;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const to = static_cast<std::byte*>(collective.dst);
  const auto place_of = [&](int from) { return to + static_cast<std::size_t>(from) * bytes; };
  if (direct(bytes)) {
    return staged(
        {.src = src, .src_bytes = bytes}, !buffers_.shared(src, bytes), bytes, staged_piece_,
        [&](std::size_t begin, std::size_t piece, std::byte* to_area) {
          copy_mapped(to_area, src + begin, piece);
        },
        [&](std::size_t begin, std::size_t piece, int half) {
          // Each member begins with itself, so that they do not all read the same memory at the same time.
          for (int step = 0; step < members(); ++step) {
            const int from = (member() + step) % members();
            copy_unless_same(place_of(from) + begin, piece_of(from, begin, piece, half), piece);
          }
        },
        [&] { return announced_.all_sources_mapped(); }, done);
  }
  return for_pieces(bytes, TeamBlock::kPieceBytes, [&](std::size_t begin, std::size_t piece) -> Status {
    copy_mapped(rounds_.outbox(piece), src + begin, piece);
    RMA_TRY(rounds_.meet());
    for (int from = 0; from < members(); ++from) {
      copy_mapped(place_of(from) + begin, rounds_.inbox(from, piece), piece);
    }
    return {};
  });
}

Status SharedExchange::alltoall(const rma_collective_t& collective, bool& done) {
  if (collective.uneven != 0) return alltoall_uneven(collective, done);
  const std::size_t bytes = collective.bytes;
  const auto all = static_cast<std::size_t>(members()) * bytes;
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const std::size_t mine_at = static_cast<std::size_t>(member()) * bytes;
  if (bytes == 0) return {};
  if (all <= TeamBlock::kPieceBytes) {
    std::memcpy(rounds_.outbox(all), src, all);
    RMA_TRY(rounds_.meet());
    for (int from = 0; from < members(); ++from) {
      std::memcpy(dst + static_cast<std::size_t>(from) * bytes, rounds_.inbox(from, all) + mine_at, bytes);
    }
    return {};
  }
  const AnnouncedBuffers::Mine mine = {.src = src, .src_bytes = all, .dst = dst, .dst_bytes = all};
  if (bytes > kStagedBlock) {
    RMA_TRY(announced_.announce(mine));
    if (announced_.sources_reached() && !announced_.any_in_place()) {
      rma_status_t used = RMA_SUCCESS;
      for (int step = 0; step < members(); ++step) {
        const int from = (member() + step) % members();
        note(used,
             announced_.read_source(from, mine_at, {dst + static_cast<std::size_t>(from) * bytes, bytes}));
      }
      return announced_.finish(used);
    }
  }
  // A piece has a part of every block. If it is in place, what comes replaces only what has gone to the
  // scratch.
  const std::size_t most = block_piece();
  return staged(
      mine, true, bytes, most,
      [&](std::size_t begin, std::size_t piece, std::byte* to) {
        for (std::size_t member = 0; member * bytes < all; ++member) {
          copy_mapped(to + member * most, src + member * bytes + begin, piece);
        }
      },
      [&](std::size_t begin, std::size_t piece, int half) {
        for (int step = 0; step < members(); ++step) {
          const int from = (member() + step) % members();
          const std::byte* const theirs = area(from, half) + static_cast<std::size_t>(member()) * most;
          copy_mapped(dst + static_cast<std::size_t>(from) * bytes + begin, theirs, piece);
        }
      },
      [] { return false; }, done);
}

Status SharedExchange::alltoall_uneven(const rma_collective_t& collective, bool& done) {
  done = static_cast<std::size_t>(members()) <= kMostListed;
  if (!done) return {};
  const auto count = static_cast<std::size_t>(members());
  const bool in_place = collective.src_blocks == collective.dst_blocks;
  std::memcpy(rounds_.outbox(TeamBlock::kPieceBytes), collective.src_blocks, count * sizeof(rma_block_t));
  // A member whose blocks are in place has none that others may read while it writes.
  const bool shared = announced_.all_shared({collective.src_blocks, count});
  RMA_TRY(announced_.announce_list(shared, in_place));
  done = announced_.sources_reached() && !announced_.any_in_place();
  if (!done) return {};
  rma_status_t used = RMA_SUCCESS;
  for (int step = 0; step < members(); ++step) {
    const int from = (member() + step) % members();
    rma_block_t block = {};
    std::memcpy(
        &block,
        rounds_.inbox(from, TeamBlock::kPieceBytes) + static_cast<std::size_t>(member()) * sizeof block,
        sizeof block);
    const rma_block_t& place = collective.dst_blocks[from];
    if (block.bytes > place.bytes) note(used, RMA_ERR_TRUNCATED);
    note(used,
         announced_.read_block(from, block.address,
                               {static_cast<std::byte*>(place.address), std::min(block.bytes, place.bytes)}));
  }
  return announced_.finish(used);
}

}  // namespace librma
