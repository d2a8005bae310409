// The calls on the sizes, modes, hints and consistency of files.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/file.hpp"
#include "twosided_compat/files/sharing.hpp"
#include "twosided_compat/objects/system_errors.hpp"
#include "util/system/interruptions.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Executes what one member does with a size that all have given. All return its code, when it has ended.
template <class Act>
int by_first(File& file, MPI_Offset size, const Act& act) {
  // These checks fail on all members or on none. The size is the member's own.
  RMA_TRY(file.check_access(FileDirection::kWrite));
  if (file.is_sequential())
    return failure(MPI_ERR_UNSUPPORTED_OPERATION, "the file was opened with MPI_MODE_SEQUENTIAL");
  file.finish_collective_operations();
  const int code = size >= 0 ? MPI_SUCCESS : failure(MPI_ERR_ARG, fmt::format("the size is {}", size));
  RMA_TRY(check_same(file.comm(), code, "size", {size, 0}));
  return agree(file.comm(), file.comm().rank() == 0 ? act() : MPI_SUCCESS);
}

}  // namespace

int file_set_size(MPI_File handle, MPI_Offset size) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  return by_first(*file, size, [&] {
    const int result = uninterrupted([&] { return ::ftruncate(file->storage().descriptor(), size); });
    return result == 0 ? MPI_SUCCESS : file->storage().failed("ftruncate");
  });
}

int file_preallocate(MPI_File handle, MPI_Offset size) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  return by_first(*file, size, [&] {
    if (size == 0) return MPI_SUCCESS;
    int error = EINTR;  // the call returns its error number
    while (error == EINTR) error = ::posix_fallocate(file->storage().descriptor(), 0, size);
    return error == 0 ? MPI_SUCCESS
                      : system_failure(error, fmt::format("posix_fallocate of {}", file->storage().path()));
  });
}

int file_get_size(MPI_File handle, MPI_Offset* size) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  if (size == nullptr) return failure(MPI_ERR_ARG, "size is null");
  return file->storage().size(*size);
}

int file_get_group(MPI_File handle, MPI_Group* made) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  *made = (new Group(file->comm().members(), file->comm().session()))->handle<MPI_Group>();
  return MPI_SUCCESS;
}

int file_get_amode(MPI_File handle, int* amode) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  *amode = file->amode();
  return MPI_SUCCESS;
}

int file_set_info(MPI_File handle, MPI_Info info) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  // Those under way lock by the hints that they began with.
  file->finish_operations();
  RMA_TRY(agree(file->comm(), check_hints(info)));
  file->hints.take(info);
  return agree_on_sharing(*file, *file->view());
}

int file_get_info(MPI_File handle, MPI_Info* used) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  auto* const info = new Info;
  file->hints.store(*info);
  info->set("cb_nodes", std::to_string(file->aggregators().size()));
  *used = info->handle<MPI_Info>();
  return MPI_SUCCESS;
}

int file_set_atomicity(MPI_File handle, int flag) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  file->finish_operations();
  // Each member's accesses before the call are over before those of another one behind it.
  RMA_TRY(check_same(file->comm(), MPI_SUCCESS, "flag", {flag != 0 ? 1 : 0, 0}));
  file->atomic.store(flag != 0, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

int file_get_atomicity(MPI_File handle, int* flag) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  *flag = file->atomic.load(std::memory_order_relaxed) ? 1 : 0;
  return MPI_SUCCESS;
}

int file_sync(MPI_File handle) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  file->finish_operations();
  const int result = uninterrupted([&] { return ::fsync(file->storage().descriptor()); });
  // A pipe or a device need not be able to.
  const bool done = result == 0 || errno == EINVAL;
  RMA_TRY(agree(file->comm(), done ? MPI_SUCCESS : file->storage().failed("fsync")));
  if (file->is_on_one_host()) return MPI_SUCCESS;
  // A lock makes the client of a network file system ask for what other hosts have written. Where there are
  // no locks, the system decides when it does.
  constexpr MPI_Offset kFirstByte = 1;
  const RangeLock lock(file->storage(), RangeLock::Mode::kShared, 0, kFirstByte);
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
