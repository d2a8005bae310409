#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/rdma/allgather_port.hpp"
#include "collectives/schedules/allgather_block.hpp"
#include "collectives/schedules/allgather_steps.hpp"
#include "collectives/schedules/plan.hpp"
#include "collectives/schedules/plans_puts.hpp"
#include "util/status.hpp"

namespace librma {

/// The part of one member in the allgathers of a team whose members write into each other's memory. It
/// executes the steps of plan_allgather_puts() as they are added: puts and flags by AllgatherPort.
///
/// Steps of up to Limits::copy_bytes are *copied*: a member collects its own block and what it receives in
/// the collective buffer of its AllgatherBlock, writes from there into the same buffer of the next member,
/// and copies what has arrived there into its result. From the first longer step on, members write from
/// result to result (*zero-copy*). A member registers its result once per call, and announces it at the
/// beginning of the call to those that will write into it. Long results of many members go around a ring, all
/// zero-copy.
///
/// Behind its data each write carries a word that only grows: the number of the call, and of the step. So no
/// word and no buffer is cleared. A copied step ends for its sender when the write is posted. A call with
/// zero-copy steps ends for a member when its own writes from its result are complete.
///
/// Why three parts suffice. Part n modulo 3 of a block is used in call n: by its owner, which fills it,
/// writes from it and copies out of it, and by the members that write to it. A member that begins call n
/// writes to parts of others that were last used in call n - 3. Claim: nobody uses those any more.
/// 1. The member has ended call n - 1. It has a block of every member in that call, so every member has begun
///    call n - 1, and has therefore ended calls n - 2 and n - 3. So no owner copies out of part n - 3, or
///    fills it.
/// 2. A member ends a call only after all writes to it in that call have arrived: it has waited for the word
///    behind each. All members have ended call n - 3, so no write of that call is still to arrive, and the
///    port never repeats a write that may have arrived.
/// 3. A member that begins call m first waits for the completion of its own writes of call m - 2. All have
///    begun call n - 1, so their writes of call n - 3 are complete, and no device reads part n - 3.
/// With two parts step 3 would make each call wait for the writes of the call just before it, whose
/// completions are still on their way. The same holds for announcements: they are of call n, are in part n
/// modulo 3, and each is read before its reader ends call n.
///
/// Why no member writes into a result that is not the team's any more. A member that ends a call without
/// failure has seen the words behind all writes to its result. A member R that fails may have announced its
/// result to a member W that has not written yet. Before W writes, it changes its gate towards R from kIdle
/// to kWriting, and it changes it back only when its writes are complete. R withdraws its announcement before
/// it returns: it changes the same gate from kIdle to kWithdrawn, with an atomic operation that W's helper
/// executes. So W fails at the gate, or R waits until W's writes are complete. R does not wait long: W's
/// device ends its writes, and a member that fails ends its own writes and opens its gates before it
/// withdraws anything from others.
///
/// A failure makes the team's allgathers unusable, as AllgatherPort::fail() says. One thread at a time uses
/// it.
class RdmaAllgather final : private PlanExecutor {
 public:
  struct Limits {
    std::size_t copy_bytes = AllgatherBlock::kCopyBytes;  ///< not more than that
    /// Blocks from this size on of this many members and more go around the ring (section 4.3 of the paper).
    std::size_t ring_bytes = (std::size_t{1} << 20U) + 1;
    int ring_members = 33;
  };

  /// `port` outlives the object.
  RdmaAllgather(AllgatherPort& port, const Limits& limits) : port_(port), limits_(limits) {}

  /// Executes an allgather. `src` is disjoint from `dst`, or is this member's own place in it.
  /// RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY, and the errors of messages; the team's allgathers are over then.
  [[nodiscard]] Status run(std::byte* dst, const std::byte* src, std::size_t bytes);

  /// Waits until no write of this member is under way. Called before its block is given back.
  void settle();
  /// Returns whether a call has failed. Other members may then still write to this member's block.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  /// The requests of the writes of one call, by slot.
  using Writes = std::array<rma_request_t, AllgatherBlock::kSlots>;
  /// The data of a step are consecutive blocks, which may go on at the beginning of the result.
  static constexpr std::size_t kRanges = 2;

  [[nodiscard]] Status gather(std::byte* dst, std::size_t bytes, const AllgatherSteps& steps);
  [[nodiscard]] Status finish_all(Writes& writes);
  /// Makes the cards that this call announces.
  void make_cards(const PutAllgather& call);

  // The steps of the plan. A failure ends the call: no step behind it is executed.
  void execute(const PlanStep& step) override;
  [[nodiscard]] std::byte* scratch(std::size_t /*bytes*/) override {
    return nullptr;
  }  // no such plan has any
  [[nodiscard]] Status raise(const PlanStep& flag);
  [[nodiscard]] Status announce(const PlanStep& flag, std::size_t slot);
  /// Writes what was put from result to result, or sends it.
  [[nodiscard]] Status raise_result(const PlanStep& flag, std::size_t slot, std::size_t source);
  [[nodiscard]] Status await_flag(const PlanStep& flag);
  [[nodiscard]] Status receive(const PlanStep& step);
  [[nodiscard]] Status finish_messages();
  /// The puts before a flag, as pieces of the memory that begins at `base`.
  using Pieces = std::array<AllgatherPort::Piece, kRanges>;
  [[nodiscard]] std::span<const AllgatherPort::Piece> pieces(const void* base, Pieces& made) const;

  /// Ends everything that this member has under way after a failure, and keeps the others from its result.
  void give_up();

  [[nodiscard]] std::size_t part_number(std::uint64_t call) const { return call % AllgatherBlock::kParts; }
  [[nodiscard]] AllgatherBlock::Part& part() { return port_.block().parts[part_number(call_)]; }
  [[nodiscard]] Writes& writes() { return writes_[part_number(call_)]; }

  AllgatherPort& port_;
  const Limits limits_;
  std::uint64_t call_ = 0;
  std::array<Writes, AllgatherBlock::kParts> writes_ = {};  ///< of data
  std::array<Writes, AllgatherBlock::kParts> announcements_ = {};
  // Of the present step:
  std::array<PlanStep, kRanges> puts_;
  std::size_t put_count_ = 0;
  std::array<rma_request_t, 2 * kRanges> messages_ = {};  ///< receives first
  std::size_t message_count_ = 0;
  Status status_;                   ///< of the present call
  const std::byte* dst_ = nullptr;  ///< its result
  /// The member to which this one has announced its result in the present call and that has not written all
  /// of it, by slot; kNobody else.
  std::array<int, AllgatherBlock::kSlots> awaited_ = {};
  static constexpr int kNobody = -1;
  bool opened_ = false;  ///< the result is open
  bool failed_ = false;
};

}  // namespace librma
