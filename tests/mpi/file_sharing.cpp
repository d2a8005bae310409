// The members of a file agree whether writes take locks, and whether a collective call waits for others. Each
// check has a definite end: the call waits or returns, and the test sees which.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "file_case.hpp"

namespace {

using namespace mpi_test;

constexpr int kLongPiece = 4096;   // the shortest that needs no lock on one host
constexpr int kShortPiece = 4095;  // the longest that is moved together with a gap

bool is_on_one_host() {
  MPI_Comm near = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
  int all = size_of(near) == size_of(MPI_COMM_WORLD) ? 1 : 0;
  SUCCEEDS(MPI_Comm_free(&near));
  SUCCEEDS(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  return all != 0;
}

class Hint {
 public:
  Hint(const char* key, const char* value) {
    SUCCEEDS(MPI_Info_create(&info_));
    SUCCEEDS(MPI_Info_set(info_, key, value));
  }
  ~Hint() { SUCCEEDS(MPI_Info_free(&info_)); }
  Hint(const Hint&) = delete;
  Hint& operator=(const Hint&) = delete;
  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Sets a view in which the ranks have pieces in turn, each in a slot of its own.
void set_pieces(MPI_File file, int piece, int slot) {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Datatype one = MPI_DATATYPE_NULL;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_contiguous(piece, MPI_BYTE, &one));
  SUCCEEDS(MPI_Type_create_resized(one, 0, MPI_Aint{slot} * size_of(MPI_COMM_WORLD), &column));
  SUCCEEDS(MPI_Type_commit(&column));
  SUCCEEDS(MPI_File_set_view(file, MPI_Offset{slot} * rank, MPI_BYTE, column, "native", MPI_INFO_NULL));
  SUCCEEDS(MPI_Type_free(&column));
  SUCCEEDS(MPI_Type_free(&one));
}

/// A lock of the whole file, as another program would hold it.
class ForeignLock {
 public:
  explicit ForeignLock(const TestFile& path) : descriptor_(open(path.name().c_str(), O_RDWR)) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    CHECK(fcntl(descriptor_, F_OFD_SETLK, &lock) == 0);
  }
  ~ForeignLock() { close(descriptor_); }
  ForeignLock(const ForeignLock&) = delete;
  ForeignLock& operator=(const ForeignLock&) = delete;

  /// Returns whether some process waits for the lock.
  [[nodiscard]] bool has_waiter() const {
    struct stat status = {};
    CHECK(fstat(descriptor_, &status) == 0);
    const std::string inode = ":" + std::to_string(status.st_ino) + " ";
    std::ifstream locks("/proc/locks");
    if (!locks.is_open()) {
      std::fprintf(stderr, "this test cannot read /proc/locks\n");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (std::string line; std::getline(locks, line);) {
      if (line.find("->") != std::string::npos && line.find(inode) != std::string::npos) return true;
    }
    return false;
  }

 private:
  int descriptor_;
};

/// Returns whether a write of the last rank takes a lock, on all ranks.
bool write_locks(const TestFile& path, MPI_File file) {
  int locks = 0;
  const int last = size_of(MPI_COMM_WORLD) - 1;
  if (rank_in(MPI_COMM_WORLD) == last) {
    const std::vector<char> data(2 * kLongPiece, 'x');
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    {
      const ForeignLock lock(path);
      SUCCEEDS(MPI_File_iwrite_at(file, 0, data.data(), static_cast<int>(data.size()), MPI_BYTE, &request));
      while (done == 0 && locks == 0) {
        SUCCEEDS(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        locks = lock.has_waiter() ? 1 : 0;
      }
    }
    if (done == 0) SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  SUCCEEDS(MPI_Bcast(&locks, 1, MPI_INT, last, MPI_COMM_WORLD));
  return locks != 0;
}

void test_locks(const TestFile& path) {
  const OpenFile file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int rank = rank_in(MPI_COMM_WORLD);
  const bool apart = !is_on_one_host();
  CHECK(!write_locks(path, file.get()));
  // A slot is longer than the piece, so that one rank alone has gaps, too.
  set_pieces(file.get(), kLongPiece, 2 * kLongPiece);
  CHECK(write_locks(path, file.get()) == apart);
  set_pieces(file.get(), kShortPiece, 2 * kLongPiece);
  CHECK(write_locks(path, file.get()));
  // One member with short pieces makes all lock.
  if (size_of(MPI_COMM_WORLD) > 1) {
    set_pieces(file.get(), rank == 0 ? kShortPiece : kLongPiece, 2 * kLongPiece);
    CHECK(write_locks(path, file.get()));
  }
  // Hints make members write gaps between long pieces, or none at all.
  set_pieces(file.get(), kLongPiece, 2 * kLongPiece);
  const Hint enable("romio_ds_write", "enable");
  const Hint disable("romio_ds_write", "disable");
  SUCCEEDS(MPI_File_set_info(file.get(), rank == 0 ? enable.get() : MPI_INFO_NULL));
  CHECK(write_locks(path, file.get()));
  SUCCEEDS(MPI_File_set_info(file.get(), disable.get()));
  set_pieces(file.get(), kShortPiece, 2 * kLongPiece);
  CHECK(write_locks(path, file.get()) == apart);
}

/// Moves the data of all ranks by collective calls. With `in_turn` a rank calls after the rank before it has
/// returned.
void move_pieces(MPI_File file, bool in_turn) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const bool is_last = rank == size_of(MPI_COMM_WORLD) - 1;
  for (const bool writes : {true, false}) {
    std::vector<char> data(5 * kLongPiece + 7, writes ? static_cast<char>('a' + rank) : ' ');
    const auto count = static_cast<int>(data.size());
    if (in_turn && rank > 0)
      SUCCEEDS(MPI_Recv(nullptr, 0, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Status status;
    SUCCEEDS(writes ? MPI_File_write_at_all(file, 3, data.data(), count, MPI_BYTE, &status)
                    : MPI_File_read_at_all(file, 3, data.data(), count, MPI_BYTE, &status));
    if (in_turn && !is_last) SUCCEEDS(MPI_Send(nullptr, 0, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD));
    CHECK(count_of(status, MPI_BYTE) == count);
    CHECK(std::ranges::all_of(data, [&](char byte) { return byte == static_cast<char>('a' + rank); }));
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  }
}

/// The bytes of the file are those of the ranks' pieces.
void check_pieces(const TestFile& path, int piece, int slot) {
  if (rank_in(MPI_COMM_WORLD) == 0) {
    std::ifstream stream(path.name(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const int size = size_of(MPI_COMM_WORLD);
    bool good = !bytes.empty();
    for (int rank = 0; rank < size; ++rank) {
      for (int position = 3; position < 3 + 5 * kLongPiece + 7; ++position) {
        const auto at = static_cast<std::size_t>((position / piece * size + rank) * slot + position % piece);
        good = good && at < bytes.size() && bytes[at] == static_cast<char>('a' + rank);
      }
    }
    CHECK(good);
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
}

void test_collective_calls(const TestFile& path) {
  const bool on_one_host = is_on_one_host();
  const int rank = rank_in(MPI_COMM_WORLD);
  for (const int slot : {kLongPiece, kLongPiece + 1}) {
    const OpenFile file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    set_pieces(file.get(), kLongPiece, slot);
    move_pieces(file.get(), on_one_host);
    check_pieces(path, kLongPiece, slot);
    // With small pieces the members wait for each other, whatever their own ones are.
    const int piece = rank == 0 ? 8 : kLongPiece;
    set_pieces(file.get(), piece, slot);
    move_pieces(file.get(), false);
    set_pieces(file.get(), 8, 8);
    move_pieces(file.get(), false);
    check_pieces(path, 8, 8);
  }
  // The hint of one member alone: no member uses aggregators, and all find that out together.
  for (const char* const key : {"romio_cb_write", "romio_cb_read"}) {
    const Hint enable(key, "enable");
    const OpenFile file(path, MPI_MODE_CREATE | MPI_MODE_RDWR, rank == 0 ? enable.get() : MPI_INFO_NULL);
    set_pieces(file.get(), kLongPiece, kLongPiece);
    move_pieces(file.get(), false);
    check_pieces(path, kLongPiece, kLongPiece);
    // All of them: the aggregators move the data.
    SUCCEEDS(MPI_File_set_info(file.get(), enable.get()));
    move_pieces(file.get(), false);
    check_pieces(path, kLongPiece, kLongPiece);
  }
}

/// Reads pieces whose gaps are read with them, from files that end in a piece and in a gap.
void test_reads_at_the_end(const TestFile& path) {
  constexpr int kPieces = 40;
  const int size = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  for (const int piece : {8, 100, kLongPiece}) {
    const OpenFile file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    set_pieces(file.get(), piece, 2 * piece);
    const int count = kPieces * piece;
    const std::vector<char> data(static_cast<std::size_t>(count), static_cast<char>('a' + rank));
    const MPI_Offset last_tile = MPI_Offset{2} * piece * size * (kPieces - 1);
    for (const int behind : {2 * piece * (size - 1) + piece / 2, piece + 1}) {
      SUCCEEDS(MPI_File_write_at_all(file.get(), 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE));
      SUCCEEDS(MPI_File_set_size(file.get(), last_tile + behind));
      const int there = (kPieces - 1) * piece + std::clamp(behind - 2 * piece * rank, 0, piece);
      for (const bool is_collective : {true, false}) {
        std::vector<char> got(data.size(), ' ');
        MPI_Status status;
        SUCCEEDS(is_collective ? MPI_File_read_at_all(file.get(), 0, got.data(), count, MPI_BYTE, &status)
                               : MPI_File_read_at(file.get(), 0, got.data(), count, MPI_BYTE, &status));
        CHECK(count_of(status, MPI_BYTE) == there);
        CHECK(std::ranges::count(got, data[0]) == there);
        CHECK(std::all_of(got.begin() + there, got.end(), [](char byte) { return byte == ' '; }));
        SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const TestFile path("file-sharing");
    test_locks(path);
    test_collective_calls(path);
    test_reads_at_the_end(path);
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
