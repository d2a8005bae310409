#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/members/buffers.hpp"
#include "collectives/shared_memory/rounds.hpp"
#include "rma/collectives.h"
#include "util/status.hpp"

namespace librma {

/// The buffers of one collective call, which the members have told each other, and the ways to copy them.
///
/// A member uses the others' buffers only from announce() to finish(), which all members call. Both are
/// rounds. If only the root has a buffer that others use, all call announce_root() and finish_root() instead,
/// in a single one-way round: a member waits for nobody but the root, which alone waits for all.
class AnnouncedBuffers {
 public:
  /// One member's buffers. A null pointer is a buffer that the call does not have.
  struct Mine {
    const void* src = nullptr;
    std::size_t src_bytes = 0;
    void* dst = nullptr;
    std::size_t dst_bytes = 0;
    const std::byte* scratch = nullptr;  ///< Buffers::take_scratch()
    bool lacks_scratch = false;          ///< this member wants scratch, and has no memory for it
    std::size_t own_bytes = 0;  ///< the size of the member's own block, where the others do not know it
  };

  /// The arguments outlive this and do not move. Throws std::bad_alloc.
  AnnouncedBuffers(Rounds& rounds, const Buffers& buffers);

  /// Tells the other members, and learns theirs. A member may have written its outbox of kPieceBytes before.
  [[nodiscard]] Status announce(const Mine& mine);
  /// Does the same for a list of blocks, which this member has written to its outbox. `shared`: all of them
  /// are in its heap. `in_place`: results come to the same blocks.
  [[nodiscard]] Status announce_list(bool shared, bool in_place = false);
  /// The root tells the others its buffers, which are `mine`. The other members wait for that, and their
  /// `mine` has no effect. Until finish_root() a member may ask for the root's buffers only.
  [[nodiscard]] Status announce_root(int root, const Mine& mine);
  /// Ends what announce_root() began. The root returns when all members have used its buffers, the others
  /// return at once. `used` is the outcome of this member's copy. If a member's copy failed, that member and
  /// the root fail.
  [[nodiscard]] Status finish_root(int root, rma_status_t used);
  /// Returns whether every member has these blocks of this process mapped.
  [[nodiscard]] bool all_shared(std::span<const rma_block_t> blocks) const;
  /// Returns when all members have used the buffers. `used` is what this one found. If a member failed, so do
  /// all.
  [[nodiscard]] Status finish(rma_status_t used);

  /// Return whether every member can get at these buffers; the same on all members.
  [[nodiscard]] bool sources_reached() const { return all_reach_ || all_have(kSourceShared); }
  [[nodiscard]] bool destinations_reached() const { return all_reach_ || all_have(kDestinationShared); }
  [[nodiscard]] bool source_reached(int member) const { return all_reach_ || has(member, kSourceShared); }
  [[nodiscard]] bool destination_reached(int member) const {
    return all_reach_ || has(member, kDestinationShared);
  }
  /// Returns whether all members that want scratch have it; the same on all members.
  [[nodiscard]] bool scratch_there() const { return !any_has(kLacksScratch); }
  /// Returns where a member's scratch is mapped here, or null if it has none.
  [[nodiscard]] std::byte* scratch(int member) const { return scratch_[static_cast<std::size_t>(member)]; }
  /// Return whether these buffers are in the members' heaps; the same on all members.
  [[nodiscard]] bool source_mapped(int member) const { return has(member, kSourceShared); }
  [[nodiscard]] bool destination_mapped(int member) const { return has(member, kDestinationShared); }
  [[nodiscard]] bool all_sources_mapped() const { return all_have(kSourceShared); }
  [[nodiscard]] bool all_mapped() const { return all_have(kSourceShared | kDestinationShared); }
  /// Returns whether some member has one buffer for both.
  [[nodiscard]] bool any_in_place() const { return any_has(kInPlace); }
  [[nodiscard]] std::size_t own_bytes(int member) const { return card(member).own_bytes; }

  /// Copy a part of a member's buffer that is reached.
  [[nodiscard]] rma_status_t read_source(int member, std::size_t offset, std::span<std::byte> into) const {
    return read(member, static_cast<const std::byte*>(card(member).src) + offset, has(member, kSourceShared),
                into);
  }
  [[nodiscard]] rma_status_t read_destination(int member, std::size_t offset,
                                              std::span<std::byte> into) const {
    return read(member, static_cast<const std::byte*>(card(member).dst) + offset,
                has(member, kDestinationShared), into);
  }
  [[nodiscard]] rma_status_t write_destination(int member, std::size_t offset,
                                               std::span<const std::byte> from) const;
  /// Copies from an address of a member's source, which is reached.
  [[nodiscard]] rma_status_t read_block(int member, const void* address, std::span<std::byte> into) const {
    return read(member, static_cast<const std::byte*>(address), has(member, kSourceShared), into);
  }
  /// Returns where a part of a member's source is mapped here, or null if it is not.
  [[nodiscard]] const std::byte* source_here(int member, std::size_t offset, std::size_t bytes) const;

 private:
  static constexpr std::uint32_t kSourceShared = 1;
  static constexpr std::uint32_t kDestinationShared = 2;
  static constexpr std::uint32_t kReachesAll = 4;
  static constexpr std::uint32_t kInPlace = 8;
  static constexpr std::uint32_t kLacksScratch = 16;
  /// An announcement as it travels.
  struct BufferCard {
    const void* src = nullptr;
    void* dst = nullptr;
    const std::byte* scratch = nullptr;
    std::uint64_t own_bytes = 0;
    std::uint32_t flags = 0;
    std::int32_t status = RMA_SUCCESS;
  };
  static_assert(sizeof(BufferCard) <= TeamBlock::kInlineBytes);

  [[nodiscard]] const BufferCard& card(int member) const { return cards_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] bool has(int member, std::uint32_t flag) const { return (card(member).flags & flag) != 0; }
  [[nodiscard]] bool all_have(std::uint32_t flags) const;
  [[nodiscard]] bool any_has(std::uint32_t flag) const;
  [[nodiscard]] BufferCard card_of(const Mine& mine) const;
  [[nodiscard]] Status tell(const BufferCard& mine);
  /// Returns the card that a member has posted in this one-way round.
  [[nodiscard]] BufferCard posted(int member) const;
  [[nodiscard]] Status exchange(BufferCard mine);
  [[nodiscard]] rma_status_t read(int member, const std::byte* from, bool shared,
                                  std::span<std::byte> into) const;

  Rounds& rounds_;
  const Buffers& buffers_;
  std::vector<BufferCard> cards_;    ///< by member
  std::vector<std::byte*> scratch_;  ///< by member
  bool all_reach_ = false;           ///< as the last announce() found, the same on all members
};

}  // namespace librma
