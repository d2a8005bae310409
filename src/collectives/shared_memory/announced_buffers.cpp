#include "collectives/shared_memory/announced_buffers.hpp"

#include <algorithm>
#include <cstring>

#include "util/copying/copy_table.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

Status not_copied(rma_status_t code, int member) {
  return {code, text("team rank {} could not copy the buffers of the others in a collective call", member)};
}

}  // namespace

AnnouncedBuffers::AnnouncedBuffers(Rounds& rounds, const Buffers& buffers)
    : rounds_(rounds),
      buffers_(buffers),
      cards_(static_cast<std::size_t>(rounds.members())),
      scratch_(cards_.size()) {}

Status AnnouncedBuffers::tell(const BufferCard& mine) {
  std::memcpy(rounds_.outbox(sizeof mine), &mine, sizeof mine);
  return rounds_.meet();
}

AnnouncedBuffers::BufferCard AnnouncedBuffers::card_of(const Mine& mine) const {
  BufferCard card = {.src = mine.src, .dst = mine.dst, .scratch = mine.scratch, .own_bytes = mine.own_bytes};
  if (mine.src == nullptr || buffers_.shared(mine.src, mine.src_bytes)) card.flags |= kSourceShared;
  if (mine.dst == nullptr || buffers_.shared(mine.dst, mine.dst_bytes)) card.flags |= kDestinationShared;
  if (mine.src != nullptr && mine.src == mine.dst) card.flags |= kInPlace;
  if (mine.lacks_scratch) card.flags |= kLacksScratch;
  return card;
}

Status AnnouncedBuffers::announce(const Mine& mine) { return exchange(card_of(mine)); }

AnnouncedBuffers::BufferCard AnnouncedBuffers::posted(int member) const {
  BufferCard card;
  std::memcpy(&card, rounds_.posted(member, sizeof card), sizeof card);
  return card;
}

Status AnnouncedBuffers::announce_root(int root, const Mine& mine) {
  if (!rounds_.begin_one_way(sizeof(BufferCard))) return rounds_.meet();  // which says who was lost
  BufferCard& card = cards_[static_cast<std::size_t>(root)];
  if (root == rounds_.member()) {
    card = card_of(mine);
    return rounds_.post_copy(&card, sizeof card, Rounds::kAnyReader);
  }
  RMA_TRY(rounds_.await(root));
  card = posted(root);
  return {};
}

Status AnnouncedBuffers::finish_root(int root, rma_status_t used) {
  if (root != rounds_.member()) {
    const BufferCard mine = {.status = used};
    RMA_TRY(rounds_.post_copy(&mine, sizeof mine, root));
    return used == RMA_SUCCESS ? Status() : not_copied(used, rounds_.member());
  }
  int failed = root;
  for (int from = 0; from < rounds_.members(); ++from) {
    if (from == root) continue;
    RMA_TRY(rounds_.await(from));
    const auto theirs = static_cast<rma_status_t>(posted(from).status);
    if (used != RMA_SUCCESS || theirs == RMA_SUCCESS) continue;
    used = theirs;
    failed = from;
  }
  return used == RMA_SUCCESS ? Status() : not_copied(used, failed);
}

Status AnnouncedBuffers::announce_list(bool shared, bool in_place) {
  return exchange({.flags = (shared ? kSourceShared : 0) | (in_place ? kInPlace : 0)});
}

bool AnnouncedBuffers::all_shared(std::span<const rma_block_t> blocks) const {
  return std::ranges::all_of(blocks, [&](const rma_block_t& block) {
    return block.bytes == 0 || buffers_.shared(block.address, block.bytes);
  });
}

Status AnnouncedBuffers::exchange(BufferCard mine) {
  if (buffers_.reaches_all()) mine.flags |= kReachesAll;
  RMA_TRY(tell(mine));
  for (int from = 0; from < rounds_.members(); ++from) {
    const auto index = static_cast<std::size_t>(from);
    BufferCard& card = cards_[index];
    std::memcpy(&card, rounds_.inbox(from, sizeof mine), sizeof mine);
    scratch_[index] = const_cast<std::byte*>(card.scratch);
    if (from == rounds_.member() || card.scratch == nullptr) continue;
    scratch_[index] = buffers_.at(card.scratch, Buffers::kScratchBytes, from);
    if (scratch_[index] == nullptr)
      return {RMA_ERR_STATE, text("the scratch that team rank {} announced is not in its heap", from)};
  }
  all_reach_ = all_have(kReachesAll);
  return {};
}

Status AnnouncedBuffers::finish(rma_status_t used) {
  if (Status met = tell({.status = used}); !met.ok()) return met;
  int failed = used != RMA_SUCCESS ? rounds_.member() : -1;
  rma_status_t code = used;
  for (int from = 0; from < rounds_.members() && code == RMA_SUCCESS; ++from) {
    BufferCard card;
    std::memcpy(&card, rounds_.inbox(from, sizeof card), sizeof card);
    code = static_cast<rma_status_t>(card.status);
    failed = from;
  }
  if (code == RMA_SUCCESS) return {};
  return not_copied(code, failed);
}

bool AnnouncedBuffers::all_have(std::uint32_t flags) const {
  return std::ranges::all_of(cards_, [&](const BufferCard& each) { return (each.flags & flags) == flags; });
}

bool AnnouncedBuffers::any_has(std::uint32_t flag) const {
  return std::ranges::any_of(cards_, [&](const BufferCard& each) { return (each.flags & flag) != 0; });
}

rma_status_t AnnouncedBuffers::read(int member, const std::byte* from, bool shared,
                                    std::span<std::byte> into) const {
  if (into.empty()) return RMA_SUCCESS;
  if (!shared && member != rounds_.member()) return buffers_.read(member, from, into);
  const std::byte* const here = member == rounds_.member() ? from : buffers_.at(from, into.size(), member);
  if (here == nullptr) return RMA_ERR_ADDRESS;
  if (here != into.data()) copy_mapped(into.data(), here, into.size());
  return RMA_SUCCESS;
}

rma_status_t AnnouncedBuffers::write_destination(int member, std::size_t offset,
                                                 std::span<const std::byte> from) const {
  if (from.empty()) return RMA_SUCCESS;
  std::byte* const to = static_cast<std::byte*>(card(member).dst) + offset;
  const bool own = member == rounds_.member();
  if (!own && !has(member, kDestinationShared)) return buffers_.write(member, to, from);
  std::byte* const here = own ? to : buffers_.at(to, from.size(), member);
  if (here == nullptr) return RMA_ERR_ADDRESS;
  if (here != from.data()) copy_mapped(here, from.data(), from.size());
  return RMA_SUCCESS;
}

const std::byte* AnnouncedBuffers::source_here(int member, std::size_t offset, std::size_t bytes) const {
  const std::byte* const source = static_cast<const std::byte*>(card(member).src) + offset;
  if (member == rounds_.member()) return source;
  return has(member, kSourceShared) ? buffers_.at(source, bytes, member) : nullptr;
}

}  // namespace librma
