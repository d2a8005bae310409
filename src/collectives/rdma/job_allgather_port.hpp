#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "atomics/accumulate.hpp"
#include "collectives/rdma/allgather_port.hpp"
#include "collectives/schedules/schedule_channel.hpp"
#include "core/network/keyed_transfers.hpp"
#include "messages/messages.hpp"
#include "util/status.hpp"

namespace librma {

/// The port of a process of a job. It writes by RDMA to members of other hosts, and copies to members whose
/// memory is mapped here. Failures and messages go by the channel of the team's schedules: a member that
/// fails revokes that channel's context, and a member that waits long has a receive there that never matches.
/// So it learns all that receives learn: that another member has failed, or that the rank it waits for has
/// ended.
class JobAllgatherPort final : public AllgatherPort {
 public:
  /// Where the block of a member lies.
  struct BlockCard {
    std::uint64_t address = 0;
    RailKeys keys = {};
    std::uint64_t usable = 0;  ///< 0: this member has no block, or could not register it
  };

  JobAllgatherPort(Accumulator& accumulator, Messages& messages, std::shared_ptr<ScheduleChannel> channel);
  ~JobAllgatherPort() override;

  /// Takes memory for the block and the cards, and connects with the `partners`, which are members. Returns
  /// this member's card. RMA_ERR_NO_MEMORY, RMA_ERR_UNSUPPORTED, RMA_ERR_PEER_LOST and the other errors of
  /// connecting.
  [[nodiscard]] Result<BlockCard> open(std::span<const int> partners);
  /// Returns the place for the cards of all members, by member.
  [[nodiscard]] std::span<BlockCard> cards() { return cards_; }
  /// The block stays when the port ends, because members that have failed may still write to it.
  void keep_block() { keeps_block_ = true; }

  [[nodiscard]] int member() const override { return channel_->member(); }
  [[nodiscard]] int members() const override { return channel_->members(); }
  [[nodiscard]] AllgatherBlock& block() override { return *block_; }

  void open_result(std::byte* result, std::size_t bytes) override;
  [[nodiscard]] ResultCard card(int member) override;
  void close_result() override;
  [[nodiscard]] Status write_block(int member, std::span<const Piece> pieces, const Word& word,
                                   rma_request_t* request) override;
  [[nodiscard]] Status write_result(int member, const ResultCard& card, std::span<const Piece> pieces,
                                    const Word& word, rma_request_t* request) override;
  [[nodiscard]] Status send(int member, std::span<const std::byte> data, rma_request_t* request) override;
  [[nodiscard]] Status receive(int member, std::span<std::byte> data, rma_request_t* request) override;
  [[nodiscard]] Status finish(rma_request_t& request) override;
  void cancel(rma_request_t request) override { channel_->cancel(request); }
  [[nodiscard]] Status wait(int member, const std::uint64_t& word, std::uint64_t value) override;
  [[nodiscard]] Status usable() override { return channel_->failed() ? failure() : Status(); }
  [[nodiscard]] Status failure() override { return channel_->failure(); }
  void fail() override { channel_->fail(suspect_); }
  [[nodiscard]] AllgatherBlock::Gate withdraw(int member, std::size_t gate) override;

 private:
  /// Writes to memory of `member` that begins at `address` there, and then the word to its block. `local` are
  /// the keys of the memory that is read.
  [[nodiscard]] Status write(int member, std::uint64_t address, const RailKeys& keys,
                             std::span<const Piece> pieces, const DeviceMemory* local, const Word& word,
                             rma_request_t* request);
  [[nodiscard]] Status copy(int member, std::uint64_t address, std::span<const Piece> pieces,
                            const Word& word);
  /// Returns the status, and notes the world rank that a loss is about, for fail().
  [[nodiscard]] Status noted(Status status, int rank);
  [[nodiscard]] const BlockCard& card_of(int member) const {
    return cards_[static_cast<std::size_t>(member)];
  }
  [[nodiscard]] Job& job() const { return accumulator_.job(); }
  [[nodiscard]] Network* network() const { return accumulator_.remote_access().network(); }
  [[nodiscard]] PendingOperations& pending() const { return accumulator_.remote_access().pending(); }

  Accumulator& accumulator_;
  Messages& messages_;
  const std::shared_ptr<ScheduleChannel> channel_;
  AllgatherBlock* block_ = nullptr;
  DeviceMemory block_memory_;
  std::vector<BlockCard> cards_;
  std::span<std::byte> result_;
  DeviceMemory result_memory_;
  bool result_registered_ = false;
  int suspect_ = ScheduleChannel::kNobody;  ///< the rank that the first failure was about
  bool keeps_block_ = false;
};

}  // namespace librma
