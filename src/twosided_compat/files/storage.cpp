// The system calls on open files.

#include "twosided_compat/files/storage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "twosided_compat/objects/system_errors.hpp"
#include "util/system/interruptions.hpp"

namespace librma::mpi {
namespace {

/// Calls transfer(iovec*, number of them, offset), which moves some bytes and returns how many, until all are
/// moved, it returns 0, or it fails.
template <class Transfer>
Outcome move_all(const Storage& storage, const char* name, std::span<iovec> parts, MPI_Offset offset,
                 const Transfer& transfer) {
  Outcome outcome;
  while (!parts.empty()) {
    if (parts.front().iov_len == 0) {
      parts = parts.subspan(1);
      continue;
    }
    const auto count = static_cast<int>(std::min<std::size_t>(parts.size(), IOV_MAX));
    const ssize_t moved = uninterrupted(
        [&] { return transfer(parts.data(), count, offset + static_cast<MPI_Offset>(outcome.bytes)); });
    if (moved < 0) outcome.code = storage.failed(name);
    if (moved <= 0) break;
    auto left = static_cast<std::size_t>(moved);
    outcome.bytes += left;
    while (left > 0) {
      iovec& part = parts.front();
      const std::size_t here = std::min(left, part.iov_len);
      part.iov_base = static_cast<std::byte*>(part.iov_base) + here;
      part.iov_len -= here;
      left -= here;
      if (part.iov_len == 0) parts = parts.subspan(1);
    }
  }
  return outcome;
}

}  // namespace

bool Storage::is_in_memory_file(int descriptor) {
  struct statfs status = {};
  return ::fstatfs(descriptor, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

int Storage::failed(const char* call) const {
  return system_failure(errno, fmt::format("{} of {}", call, path_));
}

// The system copies a list of parts first, which takes it 20 to 60 ns: one part goes by the plain call.
Outcome Storage::write_parts(MPI_Offset offset, std::span<iovec> parts) const {
  return move_all(*this, "pwrite", parts, offset, [this](const iovec* some, int count, MPI_Offset at) {
    return count == 1 ? ::pwrite(descriptor(), some->iov_base, some->iov_len, at)
                      : ::pwritev(descriptor(), some, count, at);
  });
}

Outcome Storage::read_parts(MPI_Offset offset, std::span<iovec> parts) const {
  return move_all(*this, "pread", parts, offset, [this](const iovec* some, int count, MPI_Offset at) {
    return count == 1 ? ::pread(descriptor(), some->iov_base, some->iov_len, at)
                      : ::preadv(descriptor(), some, count, at);
  });
}

Outcome Storage::write(MPI_Offset offset, const std::byte* data, std::size_t bytes) const {
  iovec part = {const_cast<std::byte*>(data), bytes};
  return write_parts(offset, {&part, 1});
}

Outcome Storage::read(MPI_Offset offset, std::byte* data, std::size_t bytes) const {
  iovec part = {data, bytes};
  return read_parts(offset, {&part, 1});
}

int Storage::size(MPI_Offset& bytes) const {
  struct stat status = {};
  if (::fstat(descriptor(), &status) != 0) return failed("fstat");
  bytes = status.st_size;
  return MPI_SUCCESS;
}

int Storage::close() {
  return ::close(descriptor_.release()) == 0 || errno == EINTR ? MPI_SUCCESS : failed("close");
}

RangeLock::RangeLock(const Storage& storage, Mode mode, MPI_Offset begin, MPI_Offset end)
    : guard_(storage.locking_), storage_(storage), begin_(begin), end_(end) {
  // A shared lock needs a descriptor that can read, an exclusive one a descriptor that can write.
  const bool shared = storage.can_read() && (mode == Mode::kShared || !storage.can_write());
  if (set(shared ? F_RDLCK : F_WRLCK) != 0) code_ = storage.failed("fcntl(F_OFD_SETLKW)");
}

RangeLock::~RangeLock() {
  if (code_ == MPI_SUCCESS) static_cast<void>(set(F_UNLCK));
}

int RangeLock::set(short type) const {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin_;
  lock.l_len = end_ - begin_;
  return uninterrupted([&] { return ::fcntl(storage_.descriptor(), F_OFD_SETLKW, &lock); });
}

}  // namespace librma::mpi
