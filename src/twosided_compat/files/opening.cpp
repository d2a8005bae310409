// Opening, closing and deleting files.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/file.hpp"
#include "twosided_compat/files/sharing.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/objects/system_errors.hpp"
#include "util/system/interruptions.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

constexpr int kAccessModes = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY;
constexpr int kAllModes = kAccessModes | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE |
                          MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;

int check_amode(int amode) {
  const int access = amode & kAccessModes;
  if ((amode & ~kAllModes) != 0)
    return failure(MPI_ERR_AMODE, fmt::format("amode {} has unknown bits", amode));
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_RDWR && access != MPI_MODE_WRONLY) {
    return failure(MPI_ERR_AMODE,
                   "amode needs exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY");
  }
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return failure(MPI_ERR_AMODE, "MPI_MODE_RDONLY excludes MPI_MODE_CREATE and MPI_MODE_EXCL");
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return failure(MPI_ERR_AMODE, "MPI_MODE_RDWR excludes MPI_MODE_SEQUENTIAL");
  return MPI_SUCCESS;
}

/// Finds the path in a file name. ROMIO's prefixes, which name a kind of file system, have no effect.
int find_path(const char* name, std::string& path) {
  if (name == nullptr) return failure(MPI_ERR_ARG, "filename is null");
  std::string_view found = name;
  for (const std::string_view prefix : {"ufs:", "nfs:", "lustre:", "xfs:", "pfs:", "gpfs:", "panfs:"}) {
    if (found.starts_with(prefix)) {
      found.remove_prefix(prefix.size());
      break;
    }
  }
  if (found.empty()) return failure(MPI_ERR_BAD_FILE, "filename is empty");
  path = found;
  return MPI_SUCCESS;
}

/// Opens a file with the flags that a mode means. Only the first member creates it exclusively.
int open_path(const std::string& path, int amode, bool is_first, Descriptor& descriptor, bool& both_ways) {
  int flags = O_CLOEXEC;
  if ((amode & MPI_MODE_CREATE) != 0) flags |= O_CREAT;
  if ((amode & MPI_MODE_EXCL) != 0 && is_first) flags |= O_EXCL;
  constexpr mode_t kPermissions = 0666;  // which the umask narrows
  const auto open_with = [&](int access) {
    return uninterrupted([&] { return ::open(path.c_str(), flags | access, kPermissions); });
  };
  both_ways = (amode & MPI_MODE_RDONLY) == 0;
  // Writing small pieces together with the gaps between them needs a file that can be read.
  int fd = open_with(both_ways ? O_RDWR : O_RDONLY);
  if (fd < 0 && errno == EACCES && (amode & MPI_MODE_WRONLY) != 0) {
    both_ways = false;
    fd = open_with(O_WRONLY);
  }
  if (fd < 0) return system_failure(errno, fmt::format("open of {}", path));
  descriptor = Descriptor(fd);
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return system_failure(errno, fmt::format("fstat of {}", path));
  if (S_ISDIR(status.st_mode)) return system_failure(EISDIR, fmt::format("open of {}", path));
  return MPI_SUCCESS;
}

/// Checks the arguments of MPI_File_open. Finds the path.
int check_arguments(const char* filename, int amode, MPI_Info info, std::string& path) {
  RMA_TRY(check_hints(info));
  RMA_TRY(find_path(filename, path));
  return check_amode(amode);
}

/// Opens the file on all members: the first one creates it, and then the others find it.
int open_on_all(Communicator& comm, const std::string& path, int amode, Descriptor& descriptor,
                bool& both_ways) {
  const bool is_first = comm.rank() == 0;
  int code = MPI_SUCCESS;
  if (is_first) code = open_path(path, amode, true, descriptor, both_ways);
  int first = code;
  RMA_TRY(bcast(&first, 1, MPI_INT, 0, comm.handle<MPI_Comm>()));
  if (first != MPI_SUCCESS)
    return is_first ? code : failure(first, "rank 0 of the communicator cannot open the file");
  if (!is_first) code = open_path(path, amode, false, descriptor, both_ways);
  return agree(comm, code);
}

/// Makes the shared pointer, and finds out which members share a host.
int make_shared_state(File& file) {
  Communicator& comm = file.comm();
  rma_team_t team = nullptr;
  RMA_TRY(comm.find_team(team));
  const auto size = static_cast<std::size_t>(comm.size());
  std::vector<void*> addresses(size);
  const bool is_first = comm.rank() == 0;
  RMA_TRY(checked(rma_malloc(team, is_first ? sizeof(std::uint64_t) : 0, alignof(std::uint64_t),
                             addresses.data(), &file.shared_memory)));
  file.shared_pointer = static_cast<std::uint64_t*>(addresses.front());
  int host = 0;  // the lowest rank on this one's
  while (rma_same_host(comm.world_rank(host)) == 0) ++host;
  file.hosts.resize(size);
  file.extents.resize(size);
  RMA_TRY(allgather(&host, 1, MPI_INT, file.hosts.data(), 1, MPI_INT, file.comm_handle()));
  MPI_Offset end = 0;
  int code = MPI_SUCCESS;
  if ((file.amode() & MPI_MODE_APPEND) != 0 && is_first) code = file.storage().size(end);
  RMA_TRY(agree(comm, code));
  RMA_TRY(share_from_first(file, &end, sizeof end));
  file.set_pointer(end);
  if (is_first) __atomic_store_n(file.shared_pointer, static_cast<std::uint64_t>(end), __ATOMIC_RELEASE);
  RMA_TRY(agree_on_sharing(file, *file.view()));
  return barrier(file.comm_handle());
}

}  // namespace

int file_open(MPI_Comm handle, const char* filename, int amode, MPI_Info info, MPI_File* made) {
  RMA_TRY_ASSIGN(parent, find_intracommunicator(handle));
  std::string path;
  const int checked_here = code_of([&] { return check_arguments(filename, amode, info, path); });
  RMA_TRY(check_same(*parent, checked_here, "amode", {amode, 0}));
  std::vector<int> ranks(static_cast<std::size_t>(parent->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Comm own = MPI_COMM_NULL;
  RMA_TRY(make_communicator(*parent, ranks, &own));
  auto& comm = *find<Communicator>(own);
  Descriptor descriptor;
  bool both_ways = false;
  if (const int code = open_on_all(comm, path, amode, descriptor, both_ways); code != MPI_SUCCESS) {
    comm.remove_reference();
    return code;
  }
  const bool can_read = both_ways || (amode & MPI_MODE_RDONLY) != 0;
  auto* const file =
      new File(comm, amode, std::move(descriptor), std::move(path), can_read, (amode & MPI_MODE_RDONLY) == 0);
  file->hints.take(info);
  file->hints.take_from_environment();
  if (const int code = make_shared_state(*file); code != MPI_SUCCESS) {
    file->remove_reference();
    return code;
  }
  note_open(*file);
  *made = file->handle<MPI_File>();
  return MPI_SUCCESS;
}

int file_close(MPI_File* handle) {
  RMA_TRY_ASSIGN(file, find_file(*handle));
  if (file->split != nullptr)
    return failure(MPI_ERR_IO, "a split collective operation of the file has begun and not ended");
  file->finish_operations();
  note_closed(*file);
  int code = file->storage().close();
  // All members have closed the file before it is deleted.
  const int agreed = agree(file->comm(), code);
  if (code == MPI_SUCCESS) code = agreed;
  if ((file->amode() & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    int deleted = MPI_SUCCESS;
    if (file->comm().rank() == 0 && ::unlink(file->storage().path().c_str()) != 0)
      deleted = file->storage().failed("unlink");
    const int shared = share_from_first(*file, &deleted, sizeof deleted);
    if (code == MPI_SUCCESS) code = shared != MPI_SUCCESS ? shared : deleted;
  }
  if (const int freed = checked(rma_free(file->comm().made_team(), file->shared_memory)); code == MPI_SUCCESS)
    code = freed;
  *handle = MPI_FILE_NULL;
  if (code != MPI_SUCCESS) static_cast<void>(failure_of(*file, code));
  file->remove_reference();
  return code;
}

int file_delete(const char* filename, MPI_Info info) {
  RMA_TRY(check_hints(info));
  std::string path;
  RMA_TRY(find_path(filename, path));
  if (::unlink(path.c_str()) == 0) return MPI_SUCCESS;
  return system_failure(errno, fmt::format("unlink of {}", path));
}

}  // namespace librma::mpi
