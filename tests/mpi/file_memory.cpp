// Lets memory run out in collective accesses of files, at each allocation of one member after the other. The
// operator new of this program, which the library uses too, fails on demand. All members must fail alike, and
// the next access must be right.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../multi/failing_new.hpp"
#include "check.hpp"
#include "file_case.hpp"

namespace {

using namespace mpi_test;

constexpr int kInts = 3000;  // of a member, for several rounds

/// An access of all members: each has every size-th int of the file.
struct Access {
  const char* representation;
  bool writes;
  bool ordered;
  bool strided;  ///< the program's memory has gaps, too
  bool later;    ///< nonblocking, or split if it is ordered
};

class Case {
 public:
  Case(const TestFile& path, const Access& access)
      : access_(access), file_(path, MPI_MODE_CREATE | MPI_MODE_RDWR, Hints().get()), data_(2 * kInts) {
    SUCCEEDS(MPI_Type_vector(kInts, 1, 2, MPI_INT, &strided_));
    SUCCEEDS(MPI_Type_commit(&strided_));
    SUCCEEDS(MPI_Type_vector(kInts, 1, size_, MPI_INT, &column_));
    SUCCEEDS(MPI_Type_commit(&column_));
    set_view(access.representation);
  }
  ~Case() {
    SUCCEEDS(MPI_Type_free(&strided_));
    SUCCEEDS(MPI_Type_free(&column_));
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  /// Lets allocation `n` of a member fail. Returns whether it had so many.
  bool fail_at(int victim, std::int64_t n) {
    prepare();
    if (rank_ == victim) let_fail(n, false);
    const int code = class_of(run());
    int failed = rank_ == victim && end_failing() ? 1 : 0;
    SUCCEEDS(MPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD));
    int its_code = code;
    SUCCEEDS(MPI_Bcast(&its_code, 1, MPI_INT, victim, MPI_COMM_WORLD));
    CHECK(code == its_code);
    CHECK(code == MPI_SUCCESS || (failed != 0 && code == MPI_ERR_NO_MEM));
    prepare();
    SUCCEEDS(run());
    check_data();
    return failed != 0;
  }

 private:
  /// Aggregators on all members, and small buffers for several rounds.
  class Hints {
   public:
    Hints() {
      SUCCEEDS(MPI_Info_create(&info_));
      SUCCEEDS(MPI_Info_set(info_, "romio_cb_write", "enable"));
      SUCCEEDS(MPI_Info_set(info_, "romio_cb_read", "enable"));
      SUCCEEDS(MPI_Info_set(info_, "cb_nodes", std::to_string(size_of(MPI_COMM_WORLD)).c_str()));
      SUCCEEDS(MPI_Info_set(info_, "cb_buffer_size", "4096"));
    }
    ~Hints() { SUCCEEDS(MPI_Info_free(&info_)); }
    Hints(const Hints&) = delete;
    Hints& operator=(const Hints&) = delete;
    [[nodiscard]] MPI_Info get() const { return info_; }

   private:
    MPI_Info info_ = MPI_INFO_NULL;
  };

  void set_view(const char* representation) {
    SUCCEEDS(MPI_File_set_view(file_.get(), MPI_Offset{4} * rank_, MPI_INT,
                               access_.ordered ? MPI_INT : column_, representation, MPI_INFO_NULL));
  }
  [[nodiscard]] int& at(int i) { return data_[static_cast<std::size_t>(access_.strided ? 2 * i : i)]; }
  [[nodiscard]] int value(int i) const { return 10000 * rank_ + i; }
  /// Fills the memory of a write. Fills the file of a read.
  void prepare() {
    for (int i = 0; i < kInts; ++i) at(i) = value(i);
    rewind();
    if (access_.writes) return;
    SUCCEEDS(transfer(true));
    rewind();
    std::ranges::fill(data_, -1);
  }
  void rewind() const {
    if (access_.ordered) SUCCEEDS(MPI_File_seek_shared(file_.get(), 0, MPI_SEEK_SET));
  }
  void check_data() {
    if (access_.writes) {
      std::ranges::fill(data_, -1);
      rewind();
      SUCCEEDS(transfer(false));
    }
    bool good = true;
    for (int i = 0; i < kInts; ++i) good = good && at(i) == value(i);
    CHECK(good);
  }
  int run() { return transfer(access_.writes); }
  int transfer(bool writes) {
    const int count = access_.strided ? 1 : kInts;
    MPI_Datatype const type = access_.strided ? strided_ : MPI_INT;
    if (access_.later) return access_.ordered ? transfer_split(writes) : transfer_later(writes, count, type);
    if (!access_.ordered) {
      return writes ? MPI_File_write_at_all(file_.get(), 0, data_.data(), count, type, MPI_STATUS_IGNORE)
                    : MPI_File_read_at_all(file_.get(), 0, data_.data(), count, type, MPI_STATUS_IGNORE);
    }
    return writes ? MPI_File_write_ordered(file_.get(), data_.data(), count, type, MPI_STATUS_IGNORE)
                  : MPI_File_read_ordered(file_.get(), data_.data(), count, type, MPI_STATUS_IGNORE);
  }

  int transfer_later(bool writes, int count, MPI_Datatype type) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = writes ? MPI_File_iwrite_at_all(file_.get(), 0, data_.data(), count, type, &request)
                            : MPI_File_iread_at_all(file_.get(), 0, data_.data(), count, type, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
  int transfer_split(bool writes) {
    const int code = writes ? MPI_File_write_ordered_begin(file_.get(), data_.data(), kInts, MPI_INT)
                            : MPI_File_read_ordered_begin(file_.get(), data_.data(), kInts, MPI_INT);
    if (code != MPI_SUCCESS) return code;
    return writes ? MPI_File_write_ordered_end(file_.get(), data_.data(), MPI_STATUS_IGNORE)
                  : MPI_File_read_ordered_end(file_.get(), data_.data(), MPI_STATUS_IGNORE);
  }

  const Access access_;
  const int rank_ = rank_in(MPI_COMM_WORLD);
  const int size_ = size_of(MPI_COMM_WORLD);
  const OpenFile file_;
  std::vector<int> data_;
  MPI_Datatype strided_ = MPI_DATATYPE_NULL;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  constexpr std::array kAccesses = {
      Access{"native", true, false, false, false},     Access{"native", false, false, false, false},
      Access{"native", true, false, true, false},      Access{"native", false, false, true, false},
      Access{"external32", true, false, false, false}, Access{"external32", false, false, true, false},
      Access{"native", true, true, false, false},      Access{"native", true, false, true, true},
      Access{"native", false, false, false, true},     Access{"native", true, true, false, true},
  };
  {
    const TestFile path("file-memory");
    for (const Access& access : kAccesses) {
      Case one(path, access);
      for (const int victim : {0, size_of(MPI_COMM_WORLD) - 1}) {
        std::int64_t n = 0;
        while (one.fail_at(victim, n)) ++n;
        // A member allocates for itself, and each aggregator for the others.
        CHECK(n > 0 || access.ordered);
      }
    }
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
