#include "twosided_compat/files/file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "twosided_compat/calls.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// The files that the program has opened and not closed.
struct OpenFiles {
  std::mutex lock;  // guards the list
  std::vector<File*> all;
};
OpenFiles& open_files() {
  static auto* const kFiles = new OpenFiles;  // never destroyed: MPI_Finalize may be called by a destructor
  return *kFiles;
}

// A failure as a word: the largest one is that of the first rank that fails.
constexpr unsigned kCodeBits = 32;

std::int64_t word_of(const Communicator& comm, int code) {
  const std::int64_t before_others = comm.size() - comm.rank();
  return code != MPI_SUCCESS ? (before_others << kCodeBits) + code : 0;
}

/// Returns the code of the largest word of all members, and fails with it.
int failure_in(const Communicator& comm, std::int64_t word) {
  if (word == 0) return MPI_SUCCESS;
  return failure_of_rank(comm, comm.size() - static_cast<int>(word >> kCodeBits),
                         static_cast<int>(word & ((std::int64_t{1} << kCodeBits) - 1)));
}

}  // namespace

File::File(Communicator& comm, int amode, Descriptor descriptor, std::string path, bool can_read,
           bool can_write)
    : ErrorHandlerOwner(Kind::kFile, find<ErrorHandlerOwner>(MPI_FILE_NULL)->errors),
      comm_(comm),
      amode_(amode),
      storage_(std::move(descriptor), std::move(path), can_read, can_write),
      view_(std::make_shared<const FileView>()) {}

File::~File() { comm_.remove_reference(); }

int File::check_access(FileDirection direction) const {
  if (direction == FileDirection::kWrite && (amode_ & MPI_MODE_RDONLY) != 0)
    return failure(MPI_ERR_READ_ONLY, "the file was opened with MPI_MODE_RDONLY");
  if (direction == FileDirection::kRead && (amode_ & MPI_MODE_WRONLY) != 0)
    return failure(MPI_ERR_ACCESS, "the file was opened with MPI_MODE_WRONLY");
  return MPI_SUCCESS;
}

std::shared_ptr<const FileView> File::view() const {
  const std::lock_guard guard(lock_);
  return view_;
}

void File::set_view(std::shared_ptr<const FileView> view) {
  const std::lock_guard guard(lock_);
  view_ = std::move(view);
  pointer_ = 0;
}

std::vector<int> File::aggregators() const {
  // The ranks, those first that are the first of their host, then the second ones, and so on.
  const int size = comm_.size();
  std::vector<int> before(static_cast<std::size_t>(size));  // by rank: the ranks before it on its host
  std::vector<int> count(static_cast<std::size_t>(size));   // by the first rank of a host: its ranks so far
  for (int rank = 0; rank < size; ++rank) {
    const auto host = static_cast<std::size_t>(hosts[static_cast<std::size_t>(rank)]);
    before[static_cast<std::size_t>(rank)] = count[host]++;
  }
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return before[static_cast<std::size_t>(rank)]; });
  ranks.resize(static_cast<std::size_t>(aggregator_count()));
  return ranks;
}

int File::aggregator_count() const {
  int host_count = 0;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    if (hosts[static_cast<std::size_t>(rank)] == rank) ++host_count;
  }
  return std::min(hints.cb_nodes != 0 ? hints.cb_nodes : host_count, comm_.size());
}

PiecePolicy File::policy(FileDirection direction) const {
  if (direction == FileDirection::kRead)
    return {.sieve = hints.romio_ds_read,
            .most_with_gap = storage_.is_in_memory() ? kMostReadInMemoryWithGap : kMostReadWithGap,
            .buffer_bytes = hints.ind_rd_buffer_size};
  return {.sieve = hints.romio_ds_write,
          .buffer_bytes = hints.ind_wr_buffer_size,
          .locks = sharing.writes_lock.load(std::memory_order_relaxed)};
}

MPI_Offset File::advance_pointer(MPI_Count bytes) {
  const std::lock_guard guard(lock_);
  return std::exchange(pointer_, pointer_ + bytes);
}

void File::set_pointer(MPI_Offset position) {
  const std::lock_guard guard(lock_);
  pointer_ = position;
}

MPI_Offset File::pointer() const {
  const std::lock_guard guard(lock_);
  return pointer_;
}

void note_open(File& file) {
  const std::lock_guard guard(open_files().lock);
  open_files().all.push_back(&file);
}

void note_closed(File& file) {
  const std::lock_guard guard(open_files().lock);
  std::erase(open_files().all, &file);
}

void close_left_files() {
  const std::lock_guard guard(open_files().lock);
  for (File* const file : open_files().all) {
    file->finish_operations();
    static_cast<void>(file->storage().close());
    if ((file->amode() & MPI_MODE_DELETE_ON_CLOSE) != 0 && file->comm().rank() == 0)
      static_cast<void>(::unlink(file->storage().path().c_str()));
    file->remove_reference();
  }
  open_files().all.clear();
}

int agree(Communicator& comm, int code) {
  // It allocates nothing, so a member that has no memory can say so.
  const std::int64_t mine = word_of(comm, code);
  std::int64_t first = 0;
  RMA_TRY(allreduce(&mine, &first, 1, MPI_INT64_T, MPI_MAX, comm.handle<MPI_Comm>()));
  return failure_in(comm, first);
}

int failure_of_rank(const Communicator& comm, int rank, int code) {
  // The failing member has the better text.
  if (rank == comm.rank()) return code;
  return failure(code, fmt::format("the call fails on rank {} of the file's communicator", rank));
}

int check_same(Communicator& comm, int code, const char* names, std::array<MPI_Offset, 2> arguments) {
  // All have the same number if the largest one is the least one, too. The complements are in the opposite
  // order.
  const std::array<std::int64_t, 5> mine = {word_of(comm, code), arguments[0], ~arguments[0], arguments[1],
                                            ~arguments[1]};
  std::array<std::int64_t, 5> most = {};
  RMA_TRY(allreduce(mine.data(), most.data(), mine.size(), MPI_INT64_T, MPI_MAX, comm.handle<MPI_Comm>()));
  RMA_TRY(failure_in(comm, most[0]));
  if (most[1] == ~most[2] && most[3] == ~most[4]) return MPI_SUCCESS;
  return failure(MPI_ERR_NOT_SAME, fmt::format("the ranks have different values of {}", names));
}

int share_from_first(const File& file, void* data, std::size_t bytes) {
  return bcast(data, static_cast<MPI_Count>(bytes), MPI_BYTE, 0, file.comm_handle());
}

}  // namespace librma::mpi
