// Files whose writes fail in the middle: at a limit of the file's size, and on a full device. Collective
// calls that fail on one rank alone. And writes of small pieces with gaps, into which other ranks write at
// the same time; and a file that the program leaves open.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "file_forms.hpp"

namespace {

using namespace mpi_test;

constexpr int kReadWrite = MPI_MODE_CREATE | MPI_MODE_RDWR;
constexpr rlim_t kLimit = 100000;

void limit_size(rlim_t bytes) {
  rlimit limit = {};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

std::vector<unsigned char> bytes_of(int count, int salt) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    bytes[static_cast<std::size_t>(i)] = static_cast<unsigned char>(i * 7 + salt);
  return bytes;
}

/// A write that reaches over the limit fails, tells how much it has written, and what is left can be
/// written later.
void test_limit(const TestFile& path) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  constexpr int kBytes = 60000;
  const OpenFile file(path, kReadWrite);
  const MPI_Offset begin = MPI_Offset{kBytes} * rank;
  const MPI_Offset room = std::clamp<MPI_Offset>(static_cast<MPI_Offset>(kLimit) - begin, 0, kBytes);
  for (int form = 0; form < kFileForms; ++form) {
    SUCCEEDS(MPI_File_set_size(file.get(), 0));
    std::vector<unsigned char> data = bytes_of(kBytes, rank + form);
    MPI_Status status;
    limit_size(kLimit);
    const FileData whole = {begin, data.data(), kBytes, MPI_BYTE};
    const int code = at_offset(file.get(), true, static_cast<FileForm>(form), false, whole, &status);
    limit_size(RLIM_INFINITY);
    CHECK(class_of(code) == (room == kBytes ? MPI_SUCCESS : MPI_ERR_NO_SPACE));
    CHECK(count_of(status, MPI_BYTE) == room);
    const auto rest = static_cast<int>(kBytes - room);
    SUCCEEDS(
        MPI_File_write_at(file.get(), begin + room, data.data() + room, rest, MPI_BYTE, MPI_STATUS_IGNORE));
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    const int next = (rank + 1) % size;
    std::vector<unsigned char> got(kBytes);
    SUCCEEDS(MPI_File_read_at(file.get(), MPI_Offset{kBytes} * next, got.data(), kBytes, MPI_BYTE, &status));
    CHECK(got == bytes_of(kBytes, next + form));
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  }
}

/// After a failure, the individual pointer is behind what was written.
void test_pointer(const TestFile& path) {
  const OpenFile file(path, kReadWrite, MPI_INFO_NULL, MPI_COMM_SELF);
  std::vector<unsigned char> data = bytes_of(70000, 3);
  SUCCEEDS(MPI_File_set_size(file.get(), 0));
  SUCCEEDS(MPI_File_write(file.get(), data.data(), 70000, MPI_BYTE, MPI_STATUS_IGNORE));
  limit_size(kLimit);
  CHECK(class_of(MPI_File_write(file.get(), data.data(), 70000, MPI_BYTE, MPI_STATUS_IGNORE)) ==
        MPI_ERR_NO_SPACE);
  limit_size(RLIM_INFINITY);
  MPI_Offset position = 0;
  SUCCEEDS(MPI_File_get_position(file.get(), &position));
  CHECK(position == static_cast<MPI_Offset>(kLimit));
}

/// If a process that writes for others fails, the call fails on all of them.
void test_together(const TestFile& path) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Info info = MPI_INFO_NULL;
  SUCCEEDS(MPI_Info_create(&info));
  SUCCEEDS(MPI_Info_set(info, "romio_cb_write", "enable"));
  const OpenFile file(path, kReadWrite, info);
  SUCCEEDS(MPI_Info_free(&info));
  SUCCEEDS(MPI_File_set_size(file.get(), 0));
  MPI_Datatype column = MPI_DATATYPE_NULL;
  constexpr int kInts = 50000;
  SUCCEEDS(MPI_Type_vector(kInts, 1, size, MPI_INT, &column));
  SUCCEEDS(MPI_Type_commit(&column));
  SUCCEEDS(MPI_File_set_view(file.get(), rank * 4, MPI_INT, column, "native", MPI_INFO_NULL));
  std::vector<int> data(kInts, rank);
  limit_size(kLimit);
  const int code = MPI_File_write_at_all(file.get(), 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE);
  limit_size(RLIM_INFINITY);
  CHECK(class_of(code) == MPI_ERR_NO_SPACE);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_File_write_at_all(file.get(), 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
  std::ranges::fill(data, -1);
  SUCCEEDS(MPI_File_read_at_all(file.get(), 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(std::ranges::all_of(data, [&](int one) { return one == rank; }));
  SUCCEEDS(MPI_Type_free(&column));
}

constexpr int kLongs = 40;

/// What a rank gives that is wrong, and the class of its error.
struct Mistake {
  const char* representation;
  int error_class;
  FileData data;  // with the memory of the rank
  long value;
};
using PointerCall = int (*)(MPI_File, bool, FileForm, bool, const FileData&, MPI_Status*);

/// A file in which each rank has every size-th long, or in which the ranks write in their order.
class FileOfLongs {
 public:
  FileOfLongs(const TestFile& path, const char* representation, bool ordered, bool together)
      : file_(path, kReadWrite) {
    MPI_Info info = MPI_INFO_NULL;
    SUCCEEDS(MPI_Info_create(&info));
    for (const char* const key : {"romio_cb_write", "romio_cb_read"})
      SUCCEEDS(MPI_Info_set(info, key, together ? "enable" : "automatic"));
    MPI_Datatype column = MPI_DATATYPE_NULL;
    SUCCEEDS(MPI_Type_vector(kLongs, 1, size_of(MPI_COMM_WORLD), MPI_LONG, &column));
    SUCCEEDS(MPI_Type_commit(&column));
    const int bytes = std::string(representation) == "external32" ? 4 : 8;
    SUCCEEDS(MPI_File_set_view(file_.get(), ordered ? 0 : bytes * rank_in(MPI_COMM_WORLD), MPI_LONG,
                               ordered ? MPI_LONG : column, representation, info));
    SUCCEEDS(MPI_Type_free(&column));
    SUCCEEDS(MPI_Info_free(&info));
  }
  [[nodiscard]] MPI_File get() const { return file_.get(); }

 private:
  const OpenFile file_;
};

/// A mistake of one rank is its failure alone. The others, which need it for their exchange, move their data.
void make_mistake(const TestFile& path, const Mistake& mistake, PointerCall call, FileForm form, bool writes,
                  int victim) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const bool ordered = call == at_shared_pointer;
  const FileOfLongs file(path, mistake.representation, ordered, victim == 0);
  // In the order of ranks, the one that fails takes no place.
  const MPI_Offset place = ordered ? kLongs * (rank - (rank > victim ? 1 : 0)) : 0;
  std::vector<long> data(kLongs, writes ? -1 : rank);
  if (rank != victim)
    SUCCEEDS(MPI_File_write_at(file.get(), place, data.data(), kLongs, MPI_LONG, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  std::ranges::fill(data, writes ? rank : -1);
  MPI_Status status;
  if (rank == victim) {
    data.back() = mistake.value;
    FileData wrong = mistake.data;
    wrong.memory = data.data();
    CHECK(class_of(call(file.get(), writes, form, false, wrong, &status)) == mistake.error_class);
  } else {
    SUCCEEDS(call(file.get(), writes, form, false, {0, data.data(), kLongs, MPI_LONG}, &status));
    CHECK(count_of(status, MPI_LONG) == kLongs);
    if (writes) {
      std::ranges::fill(data, -1);
      SUCCEEDS(MPI_File_read_at(file.get(), place, data.data(), kLongs, MPI_LONG, MPI_STATUS_IGNORE));
    }
    CHECK(std::ranges::all_of(data, [&](long one) { return one == rank; }));
  }
  // The next call is as any other. It writes where no rank has read.
  const MPI_Offset behind = MPI_Offset{kLongs} * (size_of(MPI_COMM_WORLD) + rank);
  SUCCEEDS(MPI_File_write_at_all(file.get(), behind, data.data(), 1, MPI_LONG, MPI_STATUS_IGNORE));
}

void test_mistakes(const TestFile& path) {
  const std::array mistakes = {
      Mistake{"external32", MPI_ERR_CONVERSION, {0, nullptr, kLongs, MPI_LONG}, 1L << 40},
      Mistake{"external32", MPI_ERR_TYPE, {0, nullptr, 0, MPI_DATATYPE_NULL}, 0},
      Mistake{"native", MPI_ERR_TYPE, {0, nullptr, 0, MPI_DATATYPE_NULL}, 0},
      Mistake{"native", MPI_ERR_COUNT, {0, nullptr, -1, MPI_LONG}, 0},
      Mistake{"native", MPI_ERR_IO, {0, nullptr, 3, MPI_BYTE}, 0},
      Mistake{"native", MPI_ERR_ARG, {-1, nullptr, kLongs, MPI_LONG}, 0},
  };
  for (const Mistake& mistake : mistakes) {
    for (const PointerCall call : {at_offset, at_pointer, at_shared_pointer}) {
      if (mistake.error_class == MPI_ERR_ARG && call != at_offset) continue;
      for (const FileForm form :
           {FileForm::kCollective, FileForm::kNonblockingCollective, FileForm::kSplit}) {
        make_mistake(path, mistake, call, form, true, 0);
        make_mistake(path, mistake, call, form, true, size_of(MPI_COMM_WORLD) - 1);
        if (mistake.error_class != MPI_ERR_CONVERSION) make_mistake(path, mistake, call, form, false, 0);
      }
    }
  }
}

/// In the order of ranks, only the last one's place may be beyond the greatest offset.
void test_ordered_range(const TestFile& path) {
  const bool is_last = rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  const FileOfLongs file(path, "native", true, true);
  constexpr MPI_Offset kMost = std::numeric_limits<MPI_Offset>::max() / 8;
  SUCCEEDS(MPI_File_seek_shared(file.get(), kMost - 8, MPI_SEEK_SET));
  long value = -1;
  std::vector<long> many(100);
  MPI_Status status;
  const int code =
      MPI_File_read_ordered(file.get(), is_last ? many.data() : &value, is_last ? 100 : 0, MPI_LONG, &status);
  CHECK(class_of(code) == (is_last ? MPI_ERR_ARG : MPI_SUCCESS));
}

void test_full_device() {
  MPI_File file = MPI_FILE_NULL;
  SUCCEEDS(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  const int value = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(class_of(code) == MPI_ERR_NO_SPACE);
  std::vector<char> text(MPI_MAX_ERROR_STRING);
  int length = 0;
  SUCCEEDS(MPI_Error_string(code, text.data(), &length));
  CHECK(std::string(text.data()).ends_with("No space left on device"));
  SUCCEEDS(MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &request));
  CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_NO_SPACE);
  SUCCEEDS(MPI_File_close(&file));
}

/// Even ranks write every second int of the file again and again, together with the gaps between them. Odd
/// ranks write into the gaps meanwhile. Nothing is lost.
void test_gaps(const TestFile& path) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  constexpr int kInts = 20000;
  constexpr int kTimes = 30;    // of even ranks, which need so long that the others write meanwhile
  constexpr int kSingle = 600;  // ints of odd ranks
  const OpenFile file(path, kReadWrite);
  SUCCEEDS(MPI_File_set_size(file.get(), 0));
  MPI_Datatype part = MPI_DATATYPE_NULL;
  MPI_Datatype tile = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_contiguous(1, MPI_INT, &part));
  SUCCEEDS(MPI_Type_create_resized(part, 0, 4 * (size + 1), &tile));
  SUCCEEDS(MPI_Type_commit(&tile));
  const bool sparse = rank % 2 == 0;
  SUCCEEDS(MPI_File_set_view(file.get(), sparse ? 4 * rank : 0, MPI_INT, sparse ? tile : MPI_INT, "native",
                             MPI_INFO_NULL));
  std::vector<int> data(kInts);
  for (int i = 0; sparse && i < kTimes; ++i) {
    std::ranges::fill(data, rank * kTimes + i);
    SUCCEEDS(MPI_File_write_at(file.get(), 0, data.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
  }
  for (int i = 0; !sparse && i < kSingle; ++i) {
    const MPI_Offset at = MPI_Offset{i} * (size + 1) + rank;
    SUCCEEDS(MPI_File_write_at(file.get(), at, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_File_set_view(file.get(), 4 * rank, MPI_INT, tile, "native", MPI_INFO_NULL));
  const int count = sparse ? kInts : kSingle;
  SUCCEEDS(MPI_File_read_at(file.get(), 0, data.data(), count, MPI_INT, MPI_STATUS_IGNORE));
  bool all_there = true;
  for (int i = 0; i < count; ++i)
    all_there = all_there && data[static_cast<std::size_t>(i)] == (sparse ? rank * kTimes + kTimes - 1 : i);
  CHECK(all_there);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  SUCCEEDS(MPI_Type_free(&part));
  SUCCEEDS(MPI_Type_free(&tile));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::signal(SIGXFSZ, SIG_IGN);  // as a program does that wants the error
  std::string left_open;
  const int rank = rank_in(MPI_COMM_WORLD);
  {
    const TestFile path("file-failures");
    test_limit(path);
    if (rank == 0) test_pointer(path);
    MPI_Barrier(MPI_COMM_WORLD);
    test_together(path);
    test_mistakes(path);
    test_ordered_range(path);
    test_full_device();
    test_gaps(path);
    left_open = path.name() + ".left-open";
  }
  int code = result();
  // MPI_Finalize completes the operation, closes the file, and deletes it.
  MPI_File file = MPI_FILE_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_open(MPI_COMM_WORLD, left_open.c_str(), kReadWrite | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_iwrite_at(file, 0, &rank, 1, MPI_INT, &request);
  MPI_Request_free(&request);
  if (access(left_open.c_str(), F_OK) != 0) code = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && access(left_open.c_str(), F_OK) == 0) code = 1;
  return code;
}
