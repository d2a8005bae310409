/**
 * @file mpi.cpp
 * The measurements on MPI one-sided communication: a window of MPI_Win_allocate, one passive epoch for all
 * (MPI_Win_lock_all), completion by MPI_Win_flush. Compiled by compare.sh with each MPI's wrapper.
 */
#include <mpi.h>

#include <atomic>
#include <vector>

#include "suites/all.hpp"

// The name of this MPI in the results: -DRMA_BENCH_MPI=... on the command line.
#ifndef RMA_BENCH_MPI
#define RMA_BENCH_MPI "mpi"
#endif

namespace rma::bench {
namespace {

/** An MPI datatype, which the destructor frees. */
class Datatype {
 public:
  explicit Datatype(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  Datatype(Datatype&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  Datatype& operator=(Datatype&&) = delete;
  ~Datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

/** Errors end the job: MPI_ERRORS_ARE_FATAL is the default of both communicators and windows. */
class MpiBackend {
 public:
  /** A strided or vector transfer. Both are the same once they are described. */
  struct Noncontiguous {
    Datatype type;
    std::vector<std::size_t> offsets;
    std::size_t segment_bytes;
    char* local;
    std::size_t offset;
  };
  using Strided = Noncontiguous;
  using Vector = Noncontiguous;
  enum Form : std::size_t { kDatatype, kLoop };

  static const char* name() { return RMA_BENCH_MPI; }
  static std::vector<const char*> strided_forms(const StridedShape&) { return vector_forms(); }
  static std::vector<const char*> vector_forms() { return {"datatype", "loop"}; }

  MpiBackend(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  [[nodiscard]] int leave(int exit_code) {
    if (window_ != MPI_WIN_NULL) {
      MPI_Win_unlock_all(window_);
      MPI_Win_free(&window_);
    }
    MPI_Finalize();
    return exit_code;
  }

  void allocate(std::size_t bytes) {
    // The hints that a program would give for speed.
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    MPI_Info_set(info, "same_disp_unit", "true");
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, info, MPI_COMM_WORLD, static_cast<void*>(&mine_),
                     &window_);
    MPI_Info_free(&info);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] char* local() const { return mine_; }

  void sync() {
    MPI_Win_flush_all(window_);
    MPI_Win_sync(window_);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window_);
  }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

  void put(std::size_t dst, const void* src, std::size_t bytes, int rank) {
    put_nbi(dst, src, bytes, rank);
    flush(rank);
  }
  void put_nbi(std::size_t dst, const void* src, std::size_t bytes, int rank) {
    const int count = static_cast<int>(bytes);
    MPI_Put(src, count, MPI_BYTE, rank, displacement(dst), count, MPI_BYTE, window_);
  }
  void flush(int rank) { MPI_Win_flush(rank, window_); }
  void get(void* dst, std::size_t src, std::size_t bytes, int rank) {
    get_nbi(dst, src, bytes, rank);
    flush(rank);
  }

  std::uint64_t fetch_add(std::size_t offset, std::uint64_t operand, int rank) {
    std::uint64_t old = 0;
    MPI_Fetch_and_op(&operand, &old, MPI_UINT64_T, rank, displacement(offset), MPI_SUM, window_);
    flush(rank);
    return old;
  }

  Strided plan_strided(const StridedShape& shape, char* local, std::size_t offset) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(static_cast<int>(shape.segments), static_cast<int>(shape.segment_bytes),
                            static_cast<MPI_Aint>(shape.stride), MPI_BYTE, &type);
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i < shape.segments; ++i) offsets.push_back(i * shape.stride);
    return {Datatype(type), std::move(offsets), shape.segment_bytes, local, offset};
  }
  Vector plan_vector(const VectorShape& shape, char* local, std::size_t offset) {
    const std::vector<MPI_Aint> displacements(shape.offsets.begin(), shape.offsets.end());
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(static_cast<int>(displacements.size()),
                                   static_cast<int>(shape.segment_bytes), displacements.data(), MPI_BYTE,
                                   &type);
    return {Datatype(type), shape.offsets, shape.segment_bytes, local, offset};
  }
  void put_strided(const Noncontiguous& plan, std::size_t form, int rank) {
    if (form == kDatatype) {
      MPI_Put(plan.local, 1, plan.type.get(), rank, displacement(plan.offset), 1, plan.type.get(), window_);
    } else {
      for (const std::size_t i : plan.offsets)
        put_nbi(plan.offset + i, plan.local + i, plan.segment_bytes, rank);
    }
    flush(rank);
  }
  void get_strided(const Noncontiguous& plan, std::size_t form, int rank) {
    if (form == kDatatype) {
      MPI_Get(plan.local, 1, plan.type.get(), rank, displacement(plan.offset), 1, plan.type.get(), window_);
    } else {
      for (const std::size_t i : plan.offsets)
        get_nbi(plan.local + i, plan.offset + i, plan.segment_bytes, rank);
    }
    flush(rank);
  }
  void put_vector(const Noncontiguous& plan, std::size_t form, int rank) { put_strided(plan, form, rank); }
  void get_vector(const Noncontiguous& plan, std::size_t form, int rank) { get_strided(plan, form, rank); }

  void accumulate(std::size_t dst, const double* src, std::size_t count, int rank) {
    const int n = static_cast<int>(count);
    MPI_Accumulate(src, n, MPI_DOUBLE, rank, displacement(dst), n, MPI_DOUBLE, MPI_SUM, window_);
    flush(rank);
  }
  void allreduce(std::size_t dst, std::size_t src, std::size_t count) {
    MPI_Allreduce(mine_ + src, mine_ + dst, static_cast<int>(count), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }

  /** Notifies by a plain put of the flag. This is faster than the standard guarantees to work, and so
   * favours this peer. */
  void notify(std::size_t dst, const void* src, std::size_t bytes, std::size_t flag, std::uint64_t value,
              int rank) {
    put(dst, src, bytes, rank);
    put(flag, &value, sizeof value, rank);
  }
  void wait_notify(std::size_t flag, std::uint64_t value) {
    std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(mine_ + flag));
    // Acquire pairs with the flush between the two puts of notify. Calls the library from time to time,
    // for its progress.
    for (unsigned spins = 1; word.load(std::memory_order_acquire) != value; ++spins) {
      if (spins % 1024 != 0) continue;
      int pending = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pending, MPI_STATUS_IGNORE);
    }
  }

 private:
  static MPI_Aint displacement(std::size_t offset) { return static_cast<MPI_Aint>(offset); }
  void get_nbi(void* dst, std::size_t src, std::size_t bytes, int rank) {
    const int count = static_cast<int>(bytes);
    MPI_Get(dst, count, MPI_BYTE, rank, displacement(src), count, MPI_BYTE, window_);
  }

  int rank_ = 0;
  int size_ = 0;
  char* mine_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::bench_main<rma::bench::MpiBackend>(argc, argv); }
