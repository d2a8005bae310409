#pragma once

#include <cstddef>
#include <vector>

#include "rma/messages.h"
#include "twosided_compat/communicators/communicator.hpp"

namespace librma::mpi {

/// Messages of a collective call that are under way at the same time. Ranks are those of the communicator.
/// The calls return MPI_SUCCESS or an error class.
class PendingMessages {
 public:
  /// At most so many sends and receives are under way between two calls of clear(). Throws std::bad_alloc.
  struct Room {
    std::size_t sends = 0;
    std::size_t receives = 0;
  };
  PendingMessages(const Communicator& comm, const Room& room) : comm_(comm) {
    sends_.reserve(room.sends);
    receives_.reserve(room.receives);
  }
  /// Gives up the receives, because their memory may end, and waits for the sends.
  ~PendingMessages();
  PendingMessages(const PendingMessages&) = delete;
  PendingMessages& operator=(const PendingMessages&) = delete;

  [[nodiscard]] int send(const void* data, std::size_t bytes, int to, int tag);
  [[nodiscard]] int receive(void* data, std::size_t bytes, int from, int tag);
  /// Receives a message for whose data there is no place, so that its sender need not wait.
  [[nodiscard]] int discard(int from, int tag);
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
    bool discards = false;
  };

  const Communicator& comm_;
  std::vector<rma_request_t> sends_;
  std::vector<Receive> receives_;  // they have room for all, so the addresses of `info` stay
};

}  // namespace librma::mpi
