// The long blocks of a team of two members that have a processor each. Each member copies one half of a
// block, straight from buffer to buffer: by memcpy where the buffer is mapped, else by a system call.

#include <cstring>

#include "collectives/shared_memory/exchange.hpp"
#include "util/copying/copy_table.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// The halves of a block meet at a multiple of this, so the two system calls share at most one page.
constexpr std::size_t kPage = 4096;

}  // namespace

bool SharedExchange::copies_together(const rma_collective_t& collective) const {
  const bool moves_blocks =
      collective.kind == RMA_COLLECTIVE_BROADCAST || collective.kind == RMA_COLLECTIVE_GATHER ||
      collective.kind == RMA_COLLECTIVE_SCATTER || collective.kind == RMA_COLLECTIVE_ALLGATHER;
  return moves_blocks && collective.uneven == 0 && members() == 2 && !crowded_ && direct(collective.bytes);
}

Status SharedExchange::run_together(const rma_collective_t& collective, bool& done) {
  const auto* const src = static_cast<const std::byte*>(collective.src);
  auto* const dst = static_cast<std::byte*>(collective.dst);
  const std::size_t bytes = collective.bytes;
  const int root = collective.root;
  const bool is_root = member() == root;
  const std::size_t own_at = static_cast<std::size_t>(member()) * bytes;
  const std::size_t root_at = static_cast<std::size_t>(root) * bytes;
  const std::size_t other_at = bytes - root_at;  // of the member that is not the root
  const auto copy_own = [bytes](std::byte* to, const std::byte* from) {
    if (to != from) copy_mapped(to, from, bytes);
  };
  switch (collective.kind) {
    case RMA_COLLECTIVE_BROADCAST:
      return copy_together({.src = is_root ? dst : nullptr,
                            .src_bytes = bytes,
                            .dst = is_root ? nullptr : dst,
                            .dst_bytes = bytes},
                           {.giver = root, .bytes = bytes}, done);
    case RMA_COLLECTIVE_GATHER:
      if (is_root) copy_own(dst + root_at, src);
      return copy_together({.src = is_root ? nullptr : src,
                            .src_bytes = bytes,
                            .dst = is_root ? dst : nullptr,
                            .dst_bytes = 2 * bytes},
                           {.giver = 1 - root, .dst_at = other_at, .bytes = bytes}, done);
    case RMA_COLLECTIVE_SCATTER:
      if (is_root) copy_own(dst, src + root_at);
      return copy_together({.src = is_root ? src : nullptr,
                            .src_bytes = 2 * bytes,
                            .dst = is_root ? nullptr : dst,
                            .dst_bytes = bytes},
                           {.giver = root, .src_at = other_at, .bytes = bytes}, done);
    default:
      copy_own(dst + own_at, src);
      return exchange_blocks({.src = src, .src_bytes = bytes, .dst = dst, .dst_bytes = 2 * bytes}, done);
  }
}

Status SharedExchange::copy_together(const AnnouncedBuffers::Mine& mine, const PairBlock& block, bool& done) {
  RMA_TRY(announced_.announce(mine));
  done = announced_.sources_reached() && announced_.destinations_reached();
  if (!done) return {};
  const int other = 1 - member();
  const std::size_t half = block.bytes / 2 & ~(kPage - 1);
  if (member() != block.giver) {
    auto* const to = static_cast<std::byte*>(mine.dst) + block.dst_at;
    return announced_.finish(announced_.read_source(other, block.src_at, {to, half}));
  }
  const auto* const rest = static_cast<const std::byte*>(mine.src) + block.src_at + half;
  return announced_.finish(
      announced_.write_destination(other, block.dst_at + half, {rest, block.bytes - half}));
}

Status SharedExchange::exchange_blocks(const AnnouncedBuffers::Mine& mine, bool& done) {
  RMA_TRY(announced_.announce(mine));
  done = announced_.sources_reached();
  if (!done) return {};
  const int other = 1 - member();
  auto* const to = static_cast<std::byte*>(mine.dst) + static_cast<std::size_t>(other) * mine.src_bytes;
  return announced_.finish(announced_.read_source(other, 0, {to, mine.src_bytes}));
}

}  // namespace librma
