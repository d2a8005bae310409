#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "mpi.h"
#include "rma/rma.h"
#include "twosided_compat/messages/sends.hpp"

namespace librma::mpi {

/// The memory that a program attaches for its buffered sends, and the messages that lie in it until they are
/// sent (MPI 4.1, section 3.6). Thread-safe: no call that waits keeps other threads from sending.
///
/// A message takes its own size and MPI_BSEND_OVERHEAD bytes. It is placed behind the message before it, or
/// at the beginning of the memory if the end is too near: the policy that the standard promises to programs.
/// A message that fits neither place goes into the first gap that is large enough.
class SendBuffer {
 public:
  /// `memory` may be MPI_BUFFER_AUTOMATIC. Then each message gets memory of its own, and `bytes` has no
  /// meaning.
  SendBuffer(void* memory, std::size_t bytes);

  [[nodiscard]] void* memory() const { return memory_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Copies the message and starts to send it. The arguments were checked. MPI_ERR_BUFFER if there is no
  /// room.
  [[nodiscard]] int send(const Send& message, int dest, int tag);

  /// Waits until the messages that lie in the buffer now are sent. Returns the error of one that could not be
  /// sent, if there was any since the last call.
  [[nodiscard]] int flush();

  /// Returns the number of the last message that was put into the buffer. Numbers grow.
  [[nodiscard]] std::uint64_t newest() const;
  /// Makes progress, and returns whether all messages up to `number` are sent.
  [[nodiscard]] bool is_sent(std::uint64_t number);

 private:
  /// A message that is not known to be sent yet.
  struct Pending {
    std::byte* place = nullptr;        ///< in the attached memory
    std::unique_ptr<std::byte[]> own;  ///< the message's memory instead, with MPI_BUFFER_AUTOMATIC
    rma_request_t request = RMA_REQUEST_NULL;
    bool awaited = false;  ///< a thread in flush() waits for the request, and ends it
  };
  using Pendings = std::map<std::uint64_t, Pending>;  // by number

  [[nodiscard]] bool is_automatic() const { return memory_ == MPI_BUFFER_AUTOMATIC; }
  /// Returns whether `bytes` bytes at `place` lie in the memory and hold no message.
  [[nodiscard]] bool is_free(std::byte* place, std::size_t bytes) const;
  /// Returns a place for so many bytes, or null.
  [[nodiscard]] std::byte* find_place(std::size_t bytes) const;
  /// Ends messages that are sent, the oldest first. Stops at the first that is not sent, unless `all` are
  /// asked for.
  void sweep(bool all);
  /// Ends a message whose request has ended with `status`, and returns the next one.
  Pendings::iterator end(Pendings::iterator message, rma_status_t status);

  void* const memory_;
  const std::size_t bytes_;

  mutable std::mutex lock_;  // guards everything below
  std::condition_variable ended_;
  Pendings pending_;
  std::map<std::byte*, std::byte*> taken_;  // the beginnings and ends of the places of pending messages
  std::byte* behind_;                       // the end of the place that was taken last
  std::uint64_t newest_ = 0;
  int failed_ = MPI_SUCCESS;
};

}  // namespace librma::mpi
