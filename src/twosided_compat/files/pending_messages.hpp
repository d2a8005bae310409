#pragma once

#include <cstddef>
#include <deque>

#include "rma/messages.h"
#include "twosided_compat/communicators/communicator.hpp"

namespace librma::mpi {

/// Messages of a collective call that are under way at the same time. Ranks are those of the communicator.
/// The calls return MPI_SUCCESS or an error class.
class PendingMessages {
 public:
  explicit PendingMessages(const Communicator& comm) : comm_(comm) {}
  /// Gives up the receives, because their memory may end, and waits for the sends.
  ~PendingMessages();
  PendingMessages(const PendingMessages&) = delete;
  PendingMessages& operator=(const PendingMessages&) = delete;

  [[nodiscard]] int send(const void* data, std::size_t bytes, int to, int tag);
  [[nodiscard]] int receive(void* data, std::size_t bytes, int from, int tag);
  /// Waits for all. Returns the first failure. The receives that are left are given up then.
  [[nodiscard]] int wait();
  /// Returns the bytes of each receive since the last clear(), in their order.
  [[nodiscard]] std::size_t received(std::size_t place) const { return receives_[place].info.bytes; }
  /// Forgets messages that have ended.
  void clear();

 private:
  struct Receive {
    rma_request_t request = RMA_REQUEST_NULL;
    rma_message_info_t info = {};
  };

  const Communicator& comm_;
  std::deque<rma_request_t> sends_;
  std::deque<Receive> receives_;  // their addresses stay
};

}  // namespace librma::mpi
