#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "messages/matching/operation_ends.hpp"
#include "messages/rendezvous/device_transfers.hpp"
#include "messages/rendezvous/fetch_answers.hpp"
#include "messages/sending/outbox.hpp"
#include "util/settings.hpp"
#include "util/statistics.hpp"

namespace librma {

/// A receive into which its sender writes, piece by piece.
struct WrittenPieces {
  struct Piece {
    std::size_t offset = 0;  ///< in the message
    std::size_t bytes = 0;
    DeviceMemory memory;
  };
  WrittenPieces(ReceiveOperation& into, std::uint64_t from) : receive(into), sender(from), next(into.come) {}

  ReceiveOperation& receive;   ///< valid until `over`
  const std::uint64_t sender;  ///< the sender's name for the operation
  std::mutex lock;             ///< guards the members below
  std::deque<Piece> pieces;    ///< announced and not written yet
  std::size_t next = 0;        ///< the next piece begins here
  bool refused = false;        ///< one side could not register a piece, so no more follow
  std::size_t missing = 0;     ///< if refused: nothing after this byte has certainly been written
  bool over = false;           ///< the thread that sets this ends the receive
};

/// The rendezvous in which the sender writes to the receiver's buffer (EuroPVM'06, "pipeline protocol"). The
/// receiver registers a piece of its buffer and says so (MessageType::ready). The sender registers the same
/// piece of its data, writes it, and says so (MessageType::written). Several pieces are on their way at a
/// time: one is registered while others fly. If a piece cannot be registered, the rest goes in fragments.
///
/// With one piece as long as the message, this is the paper's protocol that registers whole buffers.
/// Thread-safe.
class Pipeline {
 public:
  struct Options {
    std::size_t piece = SIZE_MAX;  ///< the maximum size of a piece, in bytes
    std::size_t depth = 1;         ///< the maximum number of pieces on their way
    bool keep = true;              ///< the registration cache keeps the registrations of pieces
    Counter counter = Counter::receive_cache;

    [[nodiscard]] static Options from(const Settings& settings);
  };

  /// `network` is null in a job without one. The arguments outlive this.
  Pipeline(const Options& options, Network* network, OperationEnds& operations, Outbox& outbox,
           DeviceTransfers& transfers, FetchAnswers& answers)
      : options_(options),
        network_(network),
        operations_(operations),
        outbox_(outbox),
        transfers_(transfers),
        answers_(answers) {}

  /// Lets the sender write the bytes that have not come() yet into the contiguous buffer of `receive`.
  void begin(ReceiveOperation& receive, std::uint64_t sender);

  /// These take messages in. They return false if no honest rank sends them.
  [[nodiscard]] bool take_in_ready(const Arrival& arrival);
  [[nodiscard]] bool take_in_written(const Arrival& arrival);

  /// Ends the receives into which `rank` writes, because it is lost.
  void lose(int rank);

 private:
  void advance(const std::shared_ptr<WrittenPieces>& pieces);
  /// Registers and announces the next piece. The caller holds the lock.
  void announce_next(WrittenPieces& pieces);
  /// Starts to write one piece. Returns a failure if that is impossible.
  [[nodiscard]] rma_status_t write(int rank, const ReadyHead& ready, const RailKeys& keys,
                                   const MessageData& data);
  /// Tells the receiver that the piece was written, or was not.
  void say_written(int rank, const ReadyHead& ready, rma_status_t status);

  const Options options_;
  Network* const network_;
  OperationEnds& operations_;
  Outbox& outbox_;
  DeviceTransfers& transfers_;
  FetchAnswers& answers_;
};

}  // namespace librma
