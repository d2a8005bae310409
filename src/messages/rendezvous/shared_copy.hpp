#pragma once

#include <cstddef>
#include <cstdint>

#include "core/one_sided/process_memory.hpp"
#include "core/one_sided/remote_access.hpp"
#include "messages/matching/operation_ends.hpp"
#include "messages/rendezvous/fetch_answers.hpp"
#include "messages/rings/inbox.hpp"
#include "messages/sending/outbox.hpp"

namespace librma {

/// Copies of long messages that both processes make together. The receiver cuts the message into pieces and
/// reads them; it also tells the sender (MessageType::share). If the sender is in the library, as it is when
/// it waits for the send, it writes pieces at the same time, from the end on. Each takes the next piece that
/// nobody has (PieceClaims), so the receiver never waits for a sender that does not come: it then copies all.
/// If both send to each other, both have a message to copy, and each copies what it receives: pieces would
/// only add system calls, and move the cache lines of the buffers between the processors.
/// The receiver measures for each sender whether sharing is faster than a copy by itself (SharingTrials).
/// Thread-safe.
class SharedCopy {
 public:
  struct Options {
    std::size_t least = 0;  ///< shorter messages are copied by their receiver alone
    bool polls = false;     ///< the ranks of this host have a processor each
  };

  /// The arguments outlive this.
  SharedCopy(const Options& options, RemoteAccess& remote_access, const ProcessMemory& memory,
             OperationEnds& operations, Inbox& inbox, Outbox& outbox, FetchAnswers& answers)
      : options_(options),
        remote_access_(remote_access),
        memory_(memory),
        operations_(operations),
        inbox_(inbox),
        outbox_(outbox),
        answers_(answers) {}

  /// Receives contiguous data at `from` of a rank that permits it. Returns false, without having done
  /// anything, if they are not worth it, or this process sends to the sender at the same time, or the sender
  /// sleeps or has not helped lately (HelpRecord), or another message of this sender is being shared.
  [[nodiscard]] bool receive(ReceiveOperation& receive, std::uint64_t sender, std::uintptr_t from);
  /// Writes pieces of a message for its receiver, `rank`, which has asked for it.
  void help(int rank, const ShareHead& request);
  /// Takes in what a sender has written. Returns false if no honest rank sends it.
  [[nodiscard]] bool take_in_helped(const Arrival& arrival);
  /// Ends the receives that wait for pieces of `rank`, because it is lost.
  void lose(int rank);

 private:
  /// Reads pieces until none is left. Returns how many it has read.
  [[nodiscard]] std::uint32_t read_pieces(const ReceiveOperation& receive, const ShareHead& request,
                                          std::uintptr_t from, PieceClaims& claims, rma_status_t* status);

  const Options options_;
  RemoteAccess& remote_access_;
  const ProcessMemory& memory_;
  OperationEnds& operations_;
  Inbox& inbox_;
  Outbox& outbox_;
  FetchAnswers& answers_;
};

}  // namespace librma
