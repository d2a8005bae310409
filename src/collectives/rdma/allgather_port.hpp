#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/schedules/allgather_block.hpp"
#include "rma/rma.h"
#include "util/status.hpp"

namespace librma {

/// How a member of a team reaches the memory of the others during an allgather. One thread at a time uses it.
class AllgatherPort {
 public:
  /// A piece of this member's block or result that is written to another member.
  struct Piece {
    const std::byte* from = nullptr;
    std::size_t to = 0;  ///< offset in the block or the result of the other member
    std::size_t bytes = 0;
  };
  /// A word of this member's block that is written behind the pieces.
  struct Word {
    const std::uint64_t* from = nullptr;
    std::size_t to = 0;  ///< offset in the block of the other member
  };

  AllgatherPort() = default;
  AllgatherPort(const AllgatherPort&) = delete;
  AllgatherPort& operator=(const AllgatherPort&) = delete;
  virtual ~AllgatherPort() = default;

  [[nodiscard]] virtual int member() const = 0;
  [[nodiscard]] virtual int members() const = 0;
  [[nodiscard]] virtual AllgatherBlock& block() = 0;

  /// Lets the others write into [result, result + bytes) from now on, and write_result() read it, as far as
  /// the memory can be registered.
  virtual void open_result(std::byte* result, std::size_t bytes) = 0;
  /// Returns what `member` needs for that.
  [[nodiscard]] virtual ResultCard card(int member) = 0;
  /// Ends open_result(). No member is writing any more.
  virtual void close_result() = 0;

  /// Write the pieces to the block or to the result of `member`, and then the word to its block. A member
  /// that sees the word sees the pieces too. Stores a request, or RMA_REQUEST_NULL if nothing is under way.
  /// The memory that is read stays as it is until finish(). RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY.
  [[nodiscard]] virtual Status write_block(int member, std::span<const Piece> pieces, const Word& word,
                                           rma_request_t* request) = 0;
  [[nodiscard]] virtual Status write_result(int member, const ResultCard& card, std::span<const Piece> pieces,
                                            const Word& word, rma_request_t* request) = 0;
  /// Start a message to or from `member`. Messages between two members arrive in order.
  [[nodiscard]] virtual Status send(int member, std::span<const std::byte> data, rma_request_t* request) = 0;
  [[nodiscard]] virtual Status receive(int member, std::span<std::byte> data, rma_request_t* request) = 0;
  /// Waits for the end of a write or message: a write is in the memory of the other member then. Sets
  /// `request` to RMA_REQUEST_NULL.
  [[nodiscard]] virtual Status finish(rma_request_t& request) = 0;
  /// Ends a receive that no message has matched.
  virtual void cancel(rma_request_t request) = 0;

  /// Waits until `word` of this member's block, which `member` writes, is at least `value`. Data that were
  /// written before the word is visible then. RMA_ERR_PEER_LOST if the member has ended, or if a member has
  /// failed().
  [[nodiscard]] virtual Status wait(int member, const std::uint64_t& word, std::uint64_t value) = 0;

  /// Returns success as long as no member has called fail(), as far as this one knows.
  [[nodiscard]] virtual Status usable() = 0;
  /// Returns the failure of a team that is not usable.
  [[nodiscard]] virtual Status failure() = 0;
  /// Tells all members that this one takes no part any more.
  virtual void fail() = 0;
  /// Sets a gate of `member`, at this offset of its block, to kWithdrawn if it is kIdle. Returns its value
  /// before, and kWithdrawn for a member that is lost. The member executes it, even if its program computes.
  [[nodiscard]] virtual AllgatherBlock::Gate withdraw(int member, std::size_t gate) = 0;
};

}  // namespace librma
