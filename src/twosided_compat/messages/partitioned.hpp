#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "mpi.h"
#include "twosided_compat/messages/requests.hpp"

namespace librma::mpi {

/// A partitioned operation (MPI 4.1, chapter 4): a persistent message that carries all partitions. The sender
/// starts it when the last partition is ready. So a partition arrives with all others, which the standard
/// allows.
class Partitioned {
 public:
  /// `transfer` is the persistent request of the message, and this object's from now on. `tag` is the
  /// program's.
  Partitioned(MPI_Request transfer, bool sends, int partitions, int tag);

  [[nodiscard]] bool is_send() const { return sends_; }
  [[nodiscard]] int partitions() const { return partitions_; }

  /// MPI_Start: a receive begins, and all partitions of a send become not ready.
  [[nodiscard]] int start();
  /// Marks a partition as ready, and sends the message if it was the last one. Thread-safe. MPI_ERR_ARG if it
  /// is ready already.
  [[nodiscard]] int make_ready(int partition);
  /// MPI_Cancel of an operation that was started and has not ended. Thread-safe.
  [[nodiscard]] int cancel();
  /// Returns whether the operation has ended, and then describes it in `request`. Thread-safe.
  [[nodiscard]] bool has_ended(Request& request);

 private:
  [[nodiscard]] int start_transfer();

  // The message is not under way when this object ends: either the operation has ended, or it never began.
  const std::unique_ptr<Request> transfer_;
  const bool sends_;
  const int partitions_;
  const int tag_;
  // A partition is ready since the last start. Relaxed: `missing_` orders the data of the partitions.
  std::unique_ptr<std::atomic<bool>[]> ready_;
  std::atomic<int> missing_ = 0;  // partitions that are not ready
  std::mutex lock_;               // guards the rest, and the request of the message
  bool under_way_ = false;
  bool ended_ = false;
  bool cancelled_ = false;  // before its message was under way, which now never is
};

/// The arguments of MPI_Psend_init or MPI_Precv_init.
struct PartitionedArguments {
  void* address;
  int partitions;
  MPI_Count count;
  MPI_Datatype type;
  int peer;
  int tag;
  MPI_Comm comm;
  MPI_Info info;
  /// One element of `type` is all partitions together. So array sections of Fortran are described.
  bool is_whole = false;
};
/// Makes the request of a partitioned operation.
[[nodiscard]] int init_partitioned(bool sends, const PartitionedArguments& wanted, MPI_Request* made);

}  // namespace librma::mpi
