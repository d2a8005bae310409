#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "mpi.h"
#include "util/system/descriptor.hpp"

namespace librma::mpi {

/// How much of a transfer is done. `bytes` are those from the beginning on that were written or read; fewer
/// than asked for with MPI_SUCCESS mean the end of the file.
struct Outcome {
  int code = MPI_SUCCESS;
  std::size_t bytes = 0;
};

/// A file of the operating system, as this process has opened it. Thread-safe.
class Storage {
 public:
  Storage(Descriptor descriptor, std::string path, bool can_read, bool can_write)
      : descriptor_(std::move(descriptor)),
        path_(std::move(path)),
        can_read_(can_read),
        can_write_(can_write),
        in_memory_(is_in_memory_file(descriptor_.get())) {}

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Return what the system lets this process do, which may be more than the program has asked for.
  [[nodiscard]] bool can_read() const { return can_read_; }
  [[nodiscard]] bool can_write() const { return can_write_; }
  /// Returns whether the file is one of tmpfs.
  [[nodiscard]] bool is_in_memory() const { return in_memory_; }

  /// Write and read all bytes at an offset, unless a call fails or the file ends.
  [[nodiscard]] Outcome write(MPI_Offset offset, const std::byte* data, std::size_t bytes) const;
  [[nodiscard]] Outcome read(MPI_Offset offset, std::byte* data, std::size_t bytes) const;
  /// Do the same with memory in several parts. They change `parts`.
  [[nodiscard]] Outcome write_parts(MPI_Offset offset, std::span<iovec> parts) const;
  [[nodiscard]] Outcome read_parts(MPI_Offset offset, std::span<iovec> parts) const;

  /// Stores the size. Returns MPI_SUCCESS or an error code.
  [[nodiscard]] int size(MPI_Offset& bytes) const;
  /// Returns the error code of the system call that has just failed, with the call's name in the text.
  [[nodiscard]] int failed(const char* call) const;

  /// Closes the file. MPI_SUCCESS or an error code: a network file system may tell now what it has not
  /// written.
  [[nodiscard]] int close();

 private:
  friend class RangeLock;

  [[nodiscard]] static bool is_in_memory_file(int descriptor);

  Descriptor descriptor_;
  std::string path_;
  bool can_read_;
  bool can_write_;
  bool in_memory_;
  /// Held with every RangeLock: the system's locks belong to the descriptor, so they do not keep this
  /// process's threads apart.
  mutable std::mutex locking_;
};

/// A lock of a range of a file, which keeps other processes, of any host that shares the file, from locking
/// it. Every process that changes only a part of a range by reading and writing all of it holds the lock
/// exclusively meanwhile, and the others hold it when they write there.
class RangeLock {
 public:
  enum class Mode : std::uint8_t { kShared, kExclusive };

  /// Waits for the lock. code() says whether there is one.
  RangeLock(const Storage& storage, Mode mode, MPI_Offset begin, MPI_Offset end);
  ~RangeLock();
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;

  /// Returns MPI_SUCCESS, or the error code of a file system that has no locks.
  [[nodiscard]] int code() const { return code_; }

 private:
  [[nodiscard]] int set(short type) const;

  const std::lock_guard<std::mutex> guard_;
  const Storage& storage_;
  const MPI_Offset begin_;
  const MPI_Offset end_;
  int code_ = MPI_SUCCESS;
};

}  // namespace librma::mpi
