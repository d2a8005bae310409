#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mpi.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/files/access.hpp"
#include "twosided_compat/files/file_view.hpp"
#include "twosided_compat/files/hints.hpp"
#include "twosided_compat/files/pieces.hpp"
#include "twosided_compat/files/storage.hpp"
#include "twosided_compat/files/worker.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/found.hpp"

// Files (MPI 4.1, chapter 14) over the system calls of POSIX. Every member opens the file itself.

namespace librma::mpi {

/// Decisions that are the same on all members of a file. agree_on_sharing() makes them, and its comment gives
/// the reasons. Relaxed, as File::atomic.
struct Sharing {
  std::atomic<bool> writes_lock = false;  ///< writes take locks, and may write gaps
  /// In collective calls each member moves its own data, and needs no other member.
  std::atomic<bool> reads_alone = false;
  std::atomic<bool> writes_alone = false;
};

/// An open file. The program's handle and every pending request count as references.
class File final : public ErrorHandlerOwner {
 public:
  /// Takes over the reference to `comm`, a communicator of the file's own. Each member's error handler is
  /// that of MPI_FILE_NULL.
  File(Communicator& comm, int amode, Descriptor descriptor, std::string path, bool can_read, bool can_write);

  [[nodiscard]] Communicator& comm() const { return comm_; }
  [[nodiscard]] MPI_Comm comm_handle() const { return comm_.handle<MPI_Comm>(); }
  [[nodiscard]] int amode() const { return amode_; }
  [[nodiscard]] Storage& storage() { return storage_; }
  [[nodiscard]] bool is_sequential() const { return (amode_ & MPI_MODE_SEQUENTIAL) != 0; }
  /// Returns MPI_SUCCESS, MPI_ERR_READ_ONLY or MPI_ERR_ACCESS.
  [[nodiscard]] int check_access(FileDirection direction) const;

  [[nodiscard]] std::shared_ptr<const FileView> view() const;
  /// Sets the view, and the individual pointer to its beginning.
  void set_view(std::shared_ptr<const FileView> view);
  /// Returns the ranks that access the file for all in collective calls: some of each host.
  [[nodiscard]] std::vector<int> aggregators() const;
  [[nodiscard]] int aggregator_count() const;
  [[nodiscard]] bool is_on_one_host() const {
    return std::ranges::all_of(hosts, [](int first) { return first == 0; });
  }
  [[nodiscard]] PiecePolicy policy(FileDirection direction) const;
  /// Returns whether a member needs no other one in collective calls.
  [[nodiscard]] bool moves_alone(FileDirection direction) const {
    const bool reads = direction == FileDirection::kRead;
    return (reads ? sharing.reads_alone : sharing.writes_alone).load(std::memory_order_relaxed);
  }

  /// Returns the individual pointer, a position in the view, and adds `bytes` to it.
  [[nodiscard]] MPI_Offset advance_pointer(MPI_Count bytes);
  void set_pointer(MPI_Offset position);
  [[nodiscard]] MPI_Offset pointer() const;

  /// Waits until the member's nonblocking operations have ended: those that are collective, or all.
  void finish_collective_operations() { collective_worker.drain(); }
  void finish_operations() {
    collective_worker.drain();
    worker.drain();
  }

  void add_reference() override { references_.fetch_add(1, std::memory_order_relaxed); }
  void remove_reference() override {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  FileHints hints;
  /// The lowest rank on the same host, by rank.
  std::vector<int> hosts;
  /// The part of the file that each rank accesses in the collective access that is under way.
  std::vector<AccessExtent> extents;
  std::uint64_t* shared_pointer = nullptr;  ///< in the memory of rank 0: a position in the view
  void* shared_memory = nullptr;            ///< what this member has of rma_malloc for it
  /// Relaxed: collective calls set them, and a program orders its own calls.
  std::atomic<bool> atomic = false;  ///< MPI_File_set_atomicity
  Sharing sharing;
  std::shared_ptr<FileOperation> split;  ///< the split collective operation that has begun
  Worker worker;                         ///< of operations that need no other member
  Worker collective_worker;

 private:
  ~File() override;

  Communicator& comm_;
  const int amode_;
  Storage storage_;
  mutable std::mutex lock_;  // guards the view and the pointer
  std::shared_ptr<const FileView> view_;
  MPI_Offset pointer_ = 0;
  std::atomic<int> references_ = 1;
};

/// Finds the file of a handle. MPI_ERR_FILE.
[[nodiscard]] inline Found<File> find_file(MPI_File handle) {
  // MPI_FILE_NULL is an object that has an error handler, and nothing else.
  if (is_predefined(handle)) [[unlikely]]
    return failure(MPI_ERR_FILE, "the file is null");
  return find_or_fail<File>(handle, MPI_ERR_FILE, "the file was closed, or is no file");
}

/// Keeps a file in the list of the open ones, until it is closed.
void note_open(File& file);
void note_closed(File& file);
/// Closes the files that the program has left open: waits for their operations, closes them, and deletes
/// those of MPI_MODE_DELETE_ON_CLOSE. Called by MPI_Finalize when all processes are there.
void close_left_files();

/// Agrees with the other members: a member that fails makes the call fail on all, with the code of the first
/// one that does. Collective. Returns that code.
[[nodiscard]] int agree(Communicator& comm, int code);
/// Fails with the code of a rank that has failed. Returns the code.
[[nodiscard]] int failure_of_rank(const Communicator& comm, int rank, int code);
/// Agrees as agree() does, and checks that all members have given the same arguments to a collective call.
/// MPI_ERR_NOT_SAME, on all members.
[[nodiscard]] int check_same(Communicator& comm, int code, const char* names,
                             std::array<MPI_Offset, 2> arguments);
/// Gives all members what rank 0 has. Collective.
[[nodiscard]] int share_from_first(const File& file, void* data, std::size_t bytes);

}  // namespace librma::mpi
