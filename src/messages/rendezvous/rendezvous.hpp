#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/job/job.hpp"
#include "core/one_sided/process_memory.hpp"
#include "core/one_sided/remote_access.hpp"
#include "messages/matching/operation_ends.hpp"
#include "messages/rendezvous/device_transfers.hpp"
#include "messages/rendezvous/fetch_answers.hpp"
#include "messages/rendezvous/pipeline.hpp"
#include "messages/rendezvous/shared_copy.hpp"
#include "messages/sending/outbox.hpp"

namespace librma {

/// How the data of an announced message get from the sender to the receiver. The receiver chooses among the
/// protocols that the announcement allows: it copies from the sender's mapped heap, reads the sender's memory
/// by the system or by RDMA, lets the sender write (Pipeline), or asks for the data in fragments.
/// Thread-safe.
class Rendezvous {
 public:
  /// The arguments outlive this.
  Rendezvous(Job& job, RemoteAccess& remote_access, const ProcessMemory& memory, OperationEnds& operations,
             Inbox& inbox, Outbox& outbox);

  /// Fetches the data of an announced message into the receive that has matched it. The receive ends when
  /// they are there.
  void fetch(ReceiveOperation& receive, const Announcement& announced);

  /// Takes a message of a rendezvous in that is no announcement. Returns false if no honest rank sends it.
  [[nodiscard]] bool take_in(const Arrival& arrival);

  /// Copies data for their receiver, `rank`, which has asked for it.
  void help(int rank, const ShareHead& request) { shared_copy_.help(rank, request); }

  /// Returns the transfers by RDMA, which progress has to be made with.
  [[nodiscard]] DeviceTransfers& transfers() { return transfers_; }
  [[nodiscard]] const DeviceTransfers& transfers() const { return transfers_; }

  /// Ends the receives that get their data from `rank`, because it is lost.
  void lose(int rank);

 private:
  /// Copies or reads what this process can access itself. Returns whether it has ended the receive.
  [[nodiscard]] bool read_host(ReceiveOperation& receive, const Announcement& announced);
  [[nodiscard]] bool read_keyed(ReceiveOperation& receive, const Announcement& announced);

  /// Returns whether the receiver may end the operation or ask for fragments now.
  [[nodiscard]] static bool awaits_end(const SendOperation& send) {
    // A device still reads the data of a receiver that has not waited for its pieces.
    return send.writing == 0 && send.awaits_answer();
  }
  [[nodiscard]] bool take_in_clear(const Arrival& arrival);
  [[nodiscard]] bool take_in_fragment(const Arrival& arrival);
  [[nodiscard]] bool take_in_finished(const Arrival& arrival);
  [[nodiscard]] bool take_in_retracted(const Arrival& arrival);

  Job& job_;
  RemoteAccess& remote_access_;
  const ProcessMemory memory_;
  OperationEnds& operations_;
  Outbox& outbox_;
  DeviceTransfers transfers_;
  FetchAnswers answers_;
  Pipeline pipeline_;
  SharedCopy shared_copy_;
};

}  // namespace librma
